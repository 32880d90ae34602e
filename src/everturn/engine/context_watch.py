"""What stands before a conversation: frozen when a session's first query begins; what changes later is told, once.

That is when a query begins or goes on, and after a tool round in which the permission mode was switched.
"""

from collections.abc import Callable, Mapping
from typing import Any

from everturn.core.contexts import Contexts, list_changes
from everturn.core.events import Attached, Level, Noticed
from everturn.core.messages import Kind, Message, repair_surrogates, text_block
from everturn.core.records import ContextsKept
from everturn.engine import wording
from everturn.engine.deps import Deps, Prompting
from everturn.engine.recorder import Recorder
from everturn.ports.store import Replay


class ContextWatch:
    def __init__(
        self,
        deps: Deps,
        recorder: Recorder,
        prompting: Prompting,
        replay: Replay | None,
        model: Callable[[], str],
    ) -> None:
        """`model`: the one that works at the moment."""
        self._deps = deps
        self._prompting, self._model, self._mode = prompting, model, ""
        self._recorder = recorder
        self._source = prompting.user_context
        self._first = replay.contexts if replay else None
        self._told = replay.told_contexts if replay else None
        self._seen: Contexts | None = None
        """What the present query began with, until it is told."""
        self._hides = self._told_hiding = False
        """Whether a credential was hidden in it, and whether that was told."""
        self._problem = self._said = ""
        """What is wrong with the function's last answer, and what of it was told."""

    @property
    def first(self) -> Contexts:
        """What stands before the messages: of a session that has not begun, what would."""
        return self._look() if self._first is None else self._first

    def begin(self, *, goes_on: bool = False) -> Contexts:
        """A query begins, or `goes_on`; with the first one, all that it finds is kept for the whole session."""
        self._seen = now = self._look(with_prompt=not goes_on)
        self._tell_problem()
        if self._hides and not self._told_hiding:
            self._told_hiding = True
            self._recorder.note_hidden("what stands before the conversation (memory files, contexts)")
        if self._first is None:
            self._first = self._told = now
            if now != Contexts():
                self._recorder.record(ContextsKept(contexts=now))
        return self._first

    def attach_switch(self) -> list[Message]:
        """Where the permission mode is another than at the last look: all that changed since. The caller carries it on."""
        if self._find_mode() == self._mode:
            return []
        self._seen = self._look(with_prompt=False)
        return self.attach_changes()

    def attach_changes(self) -> list[Message]:
        """What the model does not know yet of what was seen last. It is in the transcript then."""
        first, told, now = self._first, self._told, self._seen
        if first is None or told is None or now is None:
            return []
        changed = list_changes(first, told, now)
        if changed:
            blocks = tuple(text_block(wording.changed_context(entry)) for entry in changed)
            message = Message(id=self._deps.ids.new(), role="user", kind=Kind.ATTACHMENT, blocks=blocks)
            self._told = now
            self._recorder.record(ContextsKept(contexts=now, message=message.id))
            message = self._recorder.add(message)
            names = [entry.name for entry in changed]
            self._recorder.emit(Attached(kind="changed_context", detail={"entries": names}))
            return [message]
        return []

    def _look(self, *, with_prompt: bool = True) -> Contexts:
        hiding = self._recorder.make_hiding()
        self._mode = self._find_mode()
        found = Contexts(
            user=self._load_user(),
            system=self._find_system(with_prompt=with_prompt),
            permissions=self._prompting.permissions(self._mode),
        )
        found = found.convert(lambda text: hiding.hide(repair_surrogates(text)))
        self._hides = hiding.count > 0
        return found

    def _find_mode(self) -> str:
        return str(self._deps.modes.mode) if self._deps.modes else ""

    def _find_system(self, *, with_prompt: bool) -> dict[str, str]:
        found = dict(self._prompting.system_context(self._model(), self._mode))
        if self._told is not None:
            kept = self._prompting.told_once | (frozenset() if with_prompt else self._prompting.told_with_prompt)
            for name in kept:
                found.pop(name, None)
            found |= {name: text for name, text in self._told.system.items() if name in kept}
        return found

    def _load_user(self) -> dict[str, str]:
        if not callable(self._source):
            return dict(self._source)
        try:
            found: Any = self._source()
        except Exception as error:  # noqa: BLE001 (a function of the caller's may raise anything)
            self._problem = f"{type(error).__name__}: {error}"
        else:
            self._problem = judge_texts(found)
        if not self._problem:
            return dict(found)
        return self._told.user if self._told else {}

    def _tell_problem(self) -> None:
        """Once, until it is another one."""
        if self._problem and self._problem != self._said:
            told = f"user_context cannot be used, so what the model was told before stays: {self._problem}"
            self._recorder.emit(Noticed(text=self._recorder.make_hiding().hide(told), level=Level.WARNING))
        self._said = self._problem


def judge_texts(found: object) -> str:
    """What is wrong with it; empty where it maps texts to texts."""
    if not isinstance(found, Mapping):
        return f"must map texts to texts, not be {found!r:.60}"
    wrong = next((name for name, text in found.items() if not (isinstance(name, str) and isinstance(text, str))), None)
    return "" if wrong is None else f"must map texts to texts; the entry {wrong!r:.60} does not"

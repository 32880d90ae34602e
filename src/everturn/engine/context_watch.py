"""The contexts before a conversation are frozen when the first query of a session begins; later changes are told once, in a message.

That happens when a query begins or goes on, and after a tool round in which the permission mode was switched.
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
        """`model` returns the id of the model in use."""
        self._deps = deps
        self._prompting, self._model, self._mode = prompting, model, ""
        self._recorder = recorder
        self._source = prompting.user_context
        self._first = replay.contexts if replay else None
        self._told = replay.told_contexts if replay else None
        self._seen: Contexts | None = None
        """Contexts as found at the beginning of this query; None once their changes were told."""
        self._hides = self._told_hiding = False
        """Whether a credential was replaced in the contexts, and whether the model was told so."""
        self._problem = self._said = ""
        """What is wrong with the last value of `user_context`, and the part of it that was told."""

    @property
    def first(self) -> Contexts:
        """The contexts before the messages; before the first query, those that it would send."""
        return self._look() if self._first is None else self._first

    def begin(self, *, goes_on: bool = False) -> Contexts:
        """Looks at the contexts when a query begins or goes on. Those of the first query are kept for the whole session."""
        self._seen = now = self._look(with_prompt=not goes_on)
        self._tell_problem()
        if self._hides and not self._told_hiding:
            self._told_hiding = True
            self._recorder.note_hidden("the memory files and contexts")
        if self._first is None:
            self._first = self._told = now
            if now != Contexts():
                self._recorder.record(ContextsKept(contexts=now))
        return self._first

    def attach_switch(self) -> list[Message]:
        """Messages about everything that changed, if the permission mode was switched since the last look. The caller adds them to the view."""
        if self._find_mode() == self._mode:
            return []
        self._seen = self._look(with_prompt=False)
        return self.attach_changes()

    def attach_changes(self) -> list[Message]:
        """Messages about changed contexts that the model does not know yet. They are in the transcript when this returns."""
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
        """Tells the person what is wrong with `user_context`, once for each problem."""
        if self._problem and self._problem != self._said:
            told = f"user_context cannot be used, so what the model was told before stays: {self._problem}"
            self._recorder.emit(Noticed(text=self._recorder.make_hiding().hide(told), level=Level.WARNING))
        self._said = self._problem


def judge_texts(found: object) -> str:
    """What is wrong with the value of `user_context`; empty where it maps texts to texts."""
    if not isinstance(found, Mapping):
        return f"must map texts to texts, not be {found!r:.60}"
    wrong = next((name for name, text in found.items() if not (isinstance(name, str) and isinstance(text, str))), None)
    return "" if wrong is None else f"must map texts to texts; the entry {wrong!r:.60} does not"

"""User and system context: frozen when a session's first query begins; what changes later is told, once, when a query begins or goes on."""

from collections.abc import Mapping
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
    def __init__(self, deps: Deps, recorder: Recorder, prompting: Prompting, replay: Replay | None) -> None:
        self._deps = deps
        self._recorder = recorder
        self._source, self._system = prompting.user_context, dict(prompting.system_context)
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

    def begin(self) -> Contexts:
        """A query begins; with the first one, all that it finds is kept for the whole session."""
        self._seen = now = self._look()
        self._tell_problem()
        if self._hides and not self._told_hiding:
            self._told_hiding = True
            self._recorder.note_hidden("what stands before the conversation (memory files, contexts)")
        if self._first is None:
            self._first = self._told = now
            if now != Contexts():
                self._recorder.record(ContextsKept(contexts=now))
        return self._first

    def attach_changes(self) -> None:
        """What the model does not know yet of what the query began with."""
        first, told, now = self._first, self._told, self._seen
        if first is None or told is None or now is None:
            return
        changed = list_changes(first, told, now)
        if changed:
            blocks = tuple(text_block(wording.changed_context(entry)) for entry in changed)
            message = Message(id=self._deps.ids.new(), role="user", kind=Kind.ATTACHMENT, blocks=blocks)
            self._told = now
            self._recorder.record(ContextsKept(contexts=now, message=message.id))
            self._recorder.add(message)
            names = [entry.name for entry in changed]
            self._recorder.emit(Attached(kind="changed_context", detail={"entries": names}))

    def _look(self) -> Contexts:
        hiding = self._recorder.make_hiding()
        found = Contexts(user=self._load_user(), system=self._system)
        found = found.convert(lambda text: hiding.hide(repair_surrogates(text)))
        self._hides = hiding.count > 0
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

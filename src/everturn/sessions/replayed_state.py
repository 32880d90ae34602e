"""The state beside the messages at one point of a session: folded from records, and folded again when a session is rewound."""

from everturn.core.contexts import Contexts
from everturn.core.denials import Denial
from everturn.core.notes import Notes
from everturn.core.record_codec import restore_denial
from everturn.core.records import (
    CallRefused,
    CollapseNoted,
    ContextsKept,
    FactsKept,
    FilesKnown,
    MessagesMended,
    ModeChanged,
    ModelChanged,
    NotesKept,
    QueryBegan,
    Record,
    ResultsCleared,
    ResultSpilled,
    SeenFile,
)


class ReplayedState:
    def __init__(self) -> None:
        self.model: str | None = None
        self.asked_model: str | None = None
        self.mode: str | None = None
        self.contexts: Contexts | None = None
        self.told_contexts: Contexts | None = None
        self.untold_contexts: dict[str, Contexts] = {}
        """By the id of the message that is to tell them."""
        self.notes = Notes()
        self.collapses: dict[str, CollapseNoted] = {}
        self.cleared: dict[str, str] = {}
        self.spilled: dict[str, None] = {}
        self.facts: FactsKept | None = None
        self.denials: list[Denial] = []
        self.mended: list[MessagesMended] = []
        self.files: dict[str, SeenFile] = {}
        self.changed_files: dict[str, str] = {}
        """Each with the id of what told of it first."""
        self._untold: list[FilesKnown] = []

    def take(self, record: Record) -> bool:
        """Whether it has to do with what holds."""
        match record:
            case QueryBegan(model=model, mode=mode, plain=plain):
                self.asked_model, self.mode = model, mode or self.mode
                if self.model != model:
                    self.model = None
                if plain:
                    self._begin_with(Contexts())
            case ContextsKept(contexts=contexts, message=""):
                self._begin_with(contexts)
            case ContextsKept(contexts=contexts, message=id_):
                self.untold_contexts[id_] = contexts
            case ModelChanged(model=model):
                self.model = model
            case ModeChanged(mode=mode):
                self.mode = mode
            case NotesKept(notes=notes):
                self.notes = notes
            case CollapseNoted(id=id_):
                self.collapses[id_] = record
            case ResultsCleared(lines=lines):
                self.cleared |= lines
            case ResultSpilled(path=path) if path:
                self.spilled[path] = None
            case FactsKept():
                self.facts = record
            case CallRefused():
                self.denials.append(restore_denial(record))
            case MessagesMended():
                self.mended.append(record)
            case FilesKnown():
                self._know(record)
            case _:
                return False
        return True

    def add_message(self, id_: str = "") -> None:
        """It tells the model of the files and of the contexts that were noted for it."""
        if id_ in self.untold_contexts:
            self.told_contexts = self.untold_contexts.pop(id_)
        if self._untold:
            untold, self._untold = self._untold, []
            for known in untold:
                if known.message in {None, id_}:
                    self._learn(known)
                else:
                    self._untold.append(known)

    @property
    def awaited(self) -> set[str]:
        """Ids of messages that would tell something."""
        return self.untold_contexts.keys() | {known.message for known in self._untold if known.message}

    def _begin_with(self, contexts: Contexts) -> None:
        """Once, however often it stands in the file."""
        if self.contexts is None:
            self.contexts = self.told_contexts = contexts

    def _know(self, record: FilesKnown) -> None:
        for path, by in record.changed.items():
            self.changed_files.setdefault(path, by)
        if record.cleared:
            self.files.clear()
            self._untold.clear()
        if record.message == "":
            self._learn(record)
        else:
            self._untold.append(record)

    def _learn(self, known: FilesKnown) -> None:
        for file in known.seen:
            self.files.pop(file.path, None)
            self.files[file.path] = file
        for path in known.forgotten:
            self.files.pop(path, None)

"""What the interactive terminal needs of the program around it: models, sessions, files, other commands of the program."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from everturn.frontends.terminal.menu import MenuItem

if TYPE_CHECKING:
    from everturn.frontends.terminal.live_engine import LiveEngine


class StatusFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the person's own command for the status line is told of the session."""

    session_id: str
    file: str
    """Path of what is kept of it; empty where nothing is, or nothing yet."""
    folders: tuple[str, ...]
    model: str
    effort: str
    """Empty where none was chosen."""
    editing: str
    """Mode of vi; empty with the keys of emacs."""
    usd: float
    open_s: float
    """Since it was opened here."""
    api_s: float
    """That calls of models took since then."""
    lines_added: int
    lines_removed: int
    tokens_in: int
    """That were sent, whether the API kept them in its cache or not."""
    tokens_out: int
    percent: int
    """Of the window."""


class TerminalProgram(Protocol):
    def list_models(self) -> Sequence[MenuItem]: ...

    def choose_model(self, name: str) -> tuple[str, str]:
        """The id that a name or an alias stands for, and a remark on it. Raises `OptionError` where nobody knows it."""
        ...

    def list_efforts(self, model: str) -> Sequence[str]:
        """How hard the model can be told to think; empty where it cannot."""
        ...

    def list_sessions(self) -> Sequence[MenuItem]:
        """Of this folder, the newest first."""
        ...

    async def open_session(self, name: str, *, fork: bool = False, until: str = "") -> "LiveEngine":
        """Another engine on a session of the past; `until` is the id of the last message that is kept. Raises `EverturnError`."""
        ...

    async def leave_session(self, engine: "LiveEngine") -> None:
        """Closes an engine that another one has taken the place of."""
        ...

    async def run_words(self, *words: str) -> tuple[str, int]:
        """What a command of the program prints, and its exit code."""
        ...

    async def check_machine(self) -> tuple[str, bool]:
        """What the checks of the machine found, and whether nothing is missing that a run needs."""
        ...

    async def check_confinement(self) -> str:
        """What holds commands here."""
        ...

    async def run_shell(self, command: str, note: Callable[[str], None]) -> tuple[str, int]:
        """A command line that the person typed, in the working folder: what it prints, also piece by piece, and its exit code."""
        ...

    async def read_diff(self) -> str:
        """Uncommitted changes of the working folder. Raises `OptionError` where that may not be looked at."""
        ...

    def list_memory(self) -> Sequence[tuple[str, str]]:
        """Memory files that the model was given, and whose they are."""
        ...

    def list_folders(self, typed: str) -> Sequence[str]:
        """Paths of folders that begin so, written as the person has begun them; first what was typed, where it is one."""
        ...

    @property
    def folder(self) -> str:
        """Name of the working folder, for the title."""
        ...

    def read_branch(self) -> str: ...

    @property
    def has_status(self) -> bool:
        """There is a command of the person's own for the status line."""
        ...

    def choose_status(self, command: str) -> None:
        """Another command from here on; empty for none."""
        ...

    async def read_status(self, facts: StatusFacts) -> str:
        """What that command says; empty where it fails."""
        ...

    def edit_text(self, text: str) -> str:
        """In the person's own editor, which has the terminal meanwhile. Raises `OptionError`."""
        ...

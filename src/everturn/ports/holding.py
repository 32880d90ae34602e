"""How commands that nobody approved are confined, and whether that works on this machine."""

from typing import Protocol

import msgspec


class Holding(msgspec.Struct, frozen=True, kw_only=True):
    """How a call must be held that no rule, mode or person has allowed. It reads the working folders, and little else."""

    writes: bool = False
    """The command may also write in the working folders, except protected paths."""
    opened: tuple[str, ...] = ()
    """More places that it may read, since a rule says so. Real paths."""
    uses_git: bool = False
    """The command may also read the repository around the working folder."""
    scratch: bool = False
    """The command may also write in the session's scratch folder, its `TMPDIR`. Otherwise it may only read there."""
    tries: bool = False
    """The command may do more than read. Where it is stopped, a person is asked, and after a yes it runs again without confinement."""


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """A search of ours, which is held as a command that only reads: its program goes by names, and a command that runs meanwhile can swap these."""

    place: str
    """The file or folder that was judged. A real path."""
    programs: tuple[str, ...]
    """What it may start besides the system's programs. Real paths."""
    readable: tuple[str, ...] = ()
    """What it needs to know besides: ignore files further out, libraries of its own."""


_MIB = 1024**2
_GIB = 1024**3


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """What of the machine a held command may take. Bytes, where nothing else is said."""

    memory: int = 4 * _GIB
    """Bytes of memory of each process."""
    memory_together: int = 4 * _GIB
    """Bytes of memory of all processes together."""
    processor_s: int = 600
    """Seconds of a processor, for each process."""
    processes: int = 256
    threads: int = 2_048
    """Threads of all processes together."""
    open_files: int = 512
    """Files that each process may have open at the same time."""
    file: int = 256 * _MIB
    """One temporary file."""
    temporary: int = _GIB
    """All temporary files together."""
    temporary_files: int = 10_000
    """Their number."""
    view: int = 256 * _MIB
    """All temporary files together, where bubblewrap keeps them in memory."""
    shared: int = 64 * _MIB
    """Memory that processes share by name. Readers behind Landlock have none."""
    printed: int = 256 * _MIB


class Walls(Protocol):
    """What the machine can hold. Found by trying, when the first command needs to know."""

    @property
    def reads(self) -> bool:
        """Commands that only read."""
        ...

    @property
    def edits(self) -> bool:
        """Commands that write the working folders, and nothing protected in them."""
        ...

    @property
    def why(self) -> str:
        """What confines commands, or what is missing, in words for people."""
        ...

    def lacks(self, variable: str) -> bool:
        """Whether the variable is set for ordinary commands but not for confined ones."""
        ...

    def lists(self, path: str) -> bool:
        """A real path in one of the system's places, which every held command may read."""
        ...

    def find_foreign(self, name: str, *, held: bool = True, path: str | None = None) -> str:
        """Where a program of this name lies, if it is none of the system's: a held command may not start it. Else empty.

        For one that is not `held`, where the PATH as it is leads into a working folder; or a `path` that earlier commands
        have set in its place, which must lead to the same program as ours.
        """
        ...


class KnownWalls(msgspec.Struct, frozen=True, kw_only=True):
    """`Walls` that need not be found."""

    reads: bool = False
    edits: bool = False
    why: str = "nothing here holds commands"

    def lacks(self, variable: str) -> bool:  # noqa: ARG002 - there is no environment
        return False

    def lists(self, path: str) -> bool:  # noqa: ARG002 - there are no such places
        return False

    def find_foreign(self, name: str, *, held: bool = True, path: str | None = None) -> str:  # noqa: ARG002 - every program is the system's
        return ""


NO_WALLS = KnownWalls()

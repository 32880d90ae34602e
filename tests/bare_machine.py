"""Runs a command as on a machine that has nothing but a base system, git, make and Python: `python -m tests.bare_machine COMMAND …`.

The programs are hidden for real, not only from PATH: in a mount namespace of its own, each system folder of programs is covered by one
that holds only those of `base_programs.txt`. Nothing outside the namespace changes, and it goes with the command.
"""

import ctypes
import os
import shutil
import sys
import tempfile
from pathlib import Path

BASE = frozenset(Path(__file__).with_name("base_programs.txt").read_text("utf-8").split())
FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin")
ENTER = ("unshare", *(() if os.geteuid() == 0 else ("--user", "--map-current-user", "--keep-caps")), "--mount")
_INSIDE = "--inside"
_MS_BIND, _MNT_DETACH = 4096, 2
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_LIBC = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None) -> None:
    """The system call itself: the program of that name serves only root."""
    words = (word if word is None else word.encode() for word in (source, target, kind))
    if _LIBC.mount(*words, ctypes.c_ulong(flags), options if options is None else options.encode()):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)


def is_base(name: str) -> bool:
    return name in BASE or name.startswith("python3")


def cover(folder: str) -> None:
    """Leaves there only what belongs to the base."""
    kept = tempfile.mkdtemp(prefix="bare-")
    mount("tmpfs", kept, "tmpfs", 0, "mode=755")
    for entry in os.scandir(folder):
        # What a link leads to, whose own name may not belong to the base.
        if is_base(entry.name) and entry.is_file():
            shutil.copy2(entry.path, kept)
    mount(kept, folder, None, _MS_BIND, None)
    _LIBC.umount2(kept.encode(), _MNT_DETACH)
    Path(kept).rmdir()


def enter(command: list[str]) -> None:
    """From inside the namespace: covers the folders and becomes the command."""
    for folder in dict.fromkeys(str(Path(folder).resolve()) for folder in FOLDERS):
        cover(folder)
    # An ordinary user has no rights of root on a bare machine either.
    _LIBC.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    hidden = {name: value for name, value in os.environ.items() if not name.startswith(("EVERTURN_", "PYTEST"))}
    os.execvpe(command[0], command, {**hidden, "PATH": os.pathsep.join(FOLDERS)})  # noqa: S606 - no shell on purpose


def main(words: list[str]) -> None:
    if words[:1] == [_INSIDE]:
        enter(words[1:])
    os.execvp(ENTER[0], [*ENTER, sys.executable, "-m", "tests.bare_machine", _INSIDE, *words])  # noqa: S606


if __name__ == "__main__":
    main(sys.argv[1:])

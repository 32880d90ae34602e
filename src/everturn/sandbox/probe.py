"""Which sandbox works on this machine: found by trying, once in a process."""

import os
import subprocess
import sys
from contextlib import ExitStack
from functools import lru_cache
from typing import Literal

import msgspec

from everturn.sandbox import bubblewrap, landlock
from everturn.sandbox.calls import Machine, find_machine
from everturn.sandbox.filter import INTERNET, LOCAL, encode_filter
from everturn.workspace.programs import find_program, is_local

MAX_WAIT_S = 5.0
MISSING = "bubblewrap (bwrap) is not installed"
LOCAL_PROGRAM = "bubblewrap at {} is not used, since that is no absolute path outside of the working folders"
_REASON = 300


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """What holds commands here."""

    kind: Literal["bubblewrap", "landlock", "none"]
    why: str
    """In a few words: its version, or what is missing."""
    machine: Machine | None = None
    program: str = ""
    version: int = 0
    """Of Landlock."""
    has_sizes: bool = False
    """Bubblewrap bounds what a view keeps in memory: from 0.7 on, and not where it is installed for everybody (setuid)."""


def find_means(program: str | None = None, *, without: str = "", folders: tuple[str, ...] = (os.curdir,)) -> Means:
    """`program`: where bubblewrap is; else it is searched for. None of the `folders` that are worked in is used.

    `without` passes over one kind, for those who compare.
    """
    missing = ""
    if program and is_local(program, folders):
        program, missing = "", LOCAL_PROGRAM.format(program)
    elif not program and without != "bubblewrap":
        program = find_bubblewrap(os.environ.get("PATH", ""), folders)
    return _try_means(program or "", without, missing or MISSING)


@lru_cache(maxsize=8)
def _try_means(program: str, without: str, missing: str) -> Means:
    machine = find_machine()
    if sys.platform != "linux" or machine is None:
        return Means(kind="none", why=f"there is none for {sys.platform} on {os.uname().machine} yet")
    tried = "bubblewrap is passed over"
    if without != "bubblewrap":
        tried = try_bubblewrap(program, machine) if program else missing
        if program and not tried:
            return Means(kind="bubblewrap", why=f"bubblewrap at {program}", machine=machine, program=program)
    version = landlock.find_version(machine) if without != "landlock" else 0
    if version >= landlock.MIN_VERSION:
        return Means(kind="landlock", why=f"Landlock {version}; {tried}", machine=machine, version=version)
    lacking = f"Landlock is too old ({version})" if version else "the kernel has no Landlock"
    return Means(kind="none", why=f"{tried}, and {lacking}")


def find_bubblewrap(path: str, folders: tuple[str, ...]) -> str:
    """The system's own first, and none of the folders that are worked in: what holds commands must be nobody else's. Empty where there is none."""
    return find_program(bubblewrap.PROGRAM, folders, f"/usr/bin:/bin:{path}")


def try_bubblewrap(program: str, machine: Machine) -> str:
    """Empty where it works: with all that commands will have. Else the reason."""
    return try_view(bubblewrap.plan_view(program, as_root=os.geteuid() == 0), encode_filter(machine, LOCAL | INTERNET))


def try_view(view: list[str], filtered: bytes) -> str:
    """`view`: bubblewrap with its arguments. Empty where it works, else the reason."""
    with ExitStack() as opened:
        readable, writable = os.pipe()
        opened.callback(os.close, readable)
        with open(writable, "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(filtered)
        told = os.open(os.devnull, os.O_WRONLY)
        opened.callback(os.close, told)
        try:
            done = subprocess.run(
                [*view, "--seccomp", str(readable), "--info-fd", str(told), "--", "/bin/sh", "-c", ":"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=MAX_WAIT_S,
                pass_fds=[readable, told],
                env={},
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            return f"bubblewrap does not work here ({error})"
    if done.returncode == 0:
        return ""
    said = done.stderr.decode(errors="replace").strip().replace("\n", "; ")[:_REASON]
    return f"bubblewrap does not work here ({said or f'exit code {done.returncode}'})"

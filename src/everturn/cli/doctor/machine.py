"""Checks of the machine: versions, programs, home and terminal."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from everturn import __version__
from everturn.cli.doctor.finding import Finding, ok, warn
from everturn.workspace.programs import find_program

MAX_WAIT_S = 5.0
MIN_COLUMNS = 40


def check_versions() -> Finding:
    python = ".".join(str(part) for part in sys.version_info[:3])
    system = os.uname()
    return ok("versions", f"Everturn {__version__}, Python {python}, {system.sysname} {system.release}")


def check_git(folders: tuple[str, ...]) -> Finding:
    if (version := load_version(find_program("git", folders), "--version")) is None:
        return warn("git", "git was not found", "Install git: the model reads history and makes commits with it.")
    return ok("git", version)


def check_ripgrep(folders: tuple[str, ...]) -> Finding:
    from everturn.tools.grep.ripgrep import find_ripgrep

    if (version := load_version(find_ripgrep(folders), "--version")) is None:
        return warn(
            "ripgrep",
            "rg was not found; searches use the slower engine that is built in",
            "Install ripgrep (apt install ripgrep, brew install ripgrep).",
        )
    return ok("ripgrep", version)


def check_shell(folders: tuple[str, ...]) -> Finding:
    if not (path := find_program("bash", folders)):
        return warn("shell", "bash was not found; commands run in /bin/sh", "Install bash.")
    return ok("shell", path)


def check_sandbox(settings: Mapping[str, object], folders: tuple[str, ...]) -> Finding:
    """By trying. `settings`: those below `sandbox.`, by name."""
    from everturn.sandbox.probe import find_means

    program = settings.get("bwrapPath")
    means = find_means(program if isinstance(program, str) else None, folders=folders)
    if not settings.get("enabled"):
        could = means.why if means.kind != "none" else f"there would be none: {means.why}"
        return ok("sandbox", f"off ({could}); on with --sandbox or sandbox.enabled")
    if means.kind == "none":
        return warn(
            "sandbox", f"wanted, but there is none: {means.why}", "Install bubblewrap (apt install bubblewrap)."
        )
    if means.kind == "landlock":
        return warn(
            "sandbox",
            f"on, by {means.why}; commands reach no network, and protected files are put back afterwards",
            "Install bubblewrap, or allow user namespaces, for the stronger one.",
        )
    return ok("sandbox", f"on, by {means.why}")


def check_holding(settings: Mapping[str, object], folders: tuple[str, ...]) -> Finding:
    """What holds commands that run although nobody was asked. `settings`: those below `sandbox.`, by name."""
    from everturn.compose.lone_policy import find_machine_walls

    program = settings.get("bwrapPath")
    walls = find_machine_walls(
        folders,
        os.path.expanduser("~"),  # noqa: PTH111 - paths as text
        program if isinstance(program, str) else None,
    )
    if not walls.reads:
        return warn(
            "unasked",
            f"commands that only read cannot be confined ({walls.why}): all but a dozen plain ones are asked about",
            "A kernel with Landlock (Linux 5.13), or bubblewrap (apt install bubblewrap), ends most of these questions.",
        )
    if not walls.edits:
        return ok(
            "unasked",
            f"commands that only read are confined by {walls.why}; without bubblewrap acceptEdits asks about commands",
        )
    return ok("unasked", f"commands that only read are confined by {walls.why}, those of acceptEdits by bubblewrap")


def check_home(home: Path) -> Finding:
    there = next(path for path in (home, *home.parents) if path.exists())
    if takes_folders(there):
        return ok("home", f"{home} is writable" if there == home else f"{home} is made when it is needed")
    return warn(
        "home",
        f"{home} cannot be written; sessions are kept in memory only",
        "Make the folder writable, or name another one in EVERTURN_HOME.",
    )


def takes_folders(place: Path) -> bool:
    """By trying: what its rights say is not always true (a root user, a file system that is read-only)."""
    try:
        with TemporaryDirectory(dir=place, prefix=".everturn-doctor-"):
            return True
    except OSError:
        return False


def check_terminal(env: Mapping[str, str]) -> Finding:
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    if encoding != "utf8":
        return warn(
            "terminal", f"the output's encoding is {sys.stdout.encoding}", "Set LANG=C.UTF-8, or another UTF-8."
        )
    if not sys.stdout.isatty():
        return ok("terminal", "output goes to a file or a pipe: plain text")
    columns = shutil.get_terminal_size().columns
    if columns < MIN_COLUMNS:
        return warn("terminal", f"it has only {columns} columns", f"Widen it to {MIN_COLUMNS} or more.")
    plain = bool(env.get("NO_COLOR")) or env.get("TERM", "dumb") == "dumb"
    return ok("terminal", f"{env.get('TERM', 'dumb')}, {columns} columns, {'no colours' if plain else 'colours'}")


def load_version(path: str, flag: str) -> str | None:
    """The first line that a program prints; None where it cannot be run. `path`: empty where there is none."""
    if not path:
        return None
    try:
        done = subprocess.run(
            [path, flag], capture_output=True, timeout=MAX_WAIT_S, check=True, stdin=subprocess.DEVNULL, env={}
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return lines[0].strip() if lines else path

"""What some tests need beyond git, make and Python: whether this machine has it, and the Debian package that brings it.

A test says `@pytest.mark.needs("strace")`. Where strace is missing the test is skipped and the end of the run names it; with
EVERTURN_CI=1 it fails. `python -m tests.needs --install` installs the Debian packages that are missing, `--table` prints the table of CONTRIBUTING.md.
"""

import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
NOBODY = 65_534
MUST = os.environ.get("EVERTURN_CI") == "1"
"""CI installs everything: what is missing there is a mistake."""
LACKS = "this machine lacks "
NAMESPACES = (
    "unshare",
    *(() if os.geteuid() == 0 else ("--user", "--map-current-user")),
    "--pid",
    "--fork",
    "--mount-proc",
)
"""What follows runs as the first process of a container does."""
_PATIENCE_S = 60


class Need(NamedTuple):
    adds: str
    """Which tests it adds, for CONTRIBUTING.md."""
    programs: tuple[str, ...] = ()
    """All of them must be found in PATH."""
    packages: tuple[str, ...] = ()
    """Debian's, which bring the programs."""
    try_out: Callable[[], str] | None = None
    """Gives what is wrong although the programs are there; empty where nothing is."""


def try_bubblewrap() -> str:
    from everturn.sandbox.probe import find_means

    means = find_means()
    return "" if means.kind == "bubblewrap" else means.why


def try_bubblewrap_as_nobody() -> str:
    """Some machines keep namespaces from everybody but root."""
    if os.getuid() != 0:
        return "only root can become another user"
    return try_command("bwrap", "--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "true", user=NOBODY)


def try_strace_as_root() -> str:
    if os.getuid() != 0:
        return "a program that has held a command shows itself to root alone"
    return try_command("strace", "-o", os.devnull, "true")


def try_landlock() -> str:
    from everturn.sandbox.calls import find_machine
    from everturn.sandbox.landlock import MIN_VERSION, find_version

    machine = find_machine()
    version = find_version(machine) if machine is not None else 0
    return "" if version >= MIN_VERSION else f"the kernel has version {version}, and {MIN_VERSION} is needed"


def try_our_ripgrep() -> str:
    beside = Path(sys.executable).with_name("rg")
    return "" if beside.exists() else f"there is no {beside}"


def find_system_python() -> str:
    """Where every user may start it, and commands that nobody approved."""
    return shutil.which("python3", path="/usr/bin:/usr/local/bin") or "/usr/bin/python3"


def try_registry() -> str:
    asked = ("index", "versions", "--retries", "0", "--timeout", "20", "hatchling")
    return try_command(sys.executable, "-m", "pip", "--disable-pip-version-check", *asked)


def try_command(*command: str, user: int | None = None) -> str:
    """A container may have a program and forbid what it does."""
    try:
        done = subprocess.run(
            command,
            user=user,
            cwd=ROOT,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"{command[0]} cannot be run ({error})"
    said = done.stderr.strip().splitlines()
    return f"{command[0]} does not work here ({said[-1] if said else done.returncode})" if done.returncode else ""


NEEDS = {
    "bubblewrap": Need(
        "commands in a sandbox with a view of its own, and the hosts that they may reach",
        programs=("bwrap",),
        packages=("bubblewrap",),
        try_out=try_bubblewrap,
    ),
    "bubblewrap as nobody": Need(
        "the same for an ordinary user, where root runs the tests",
        programs=("bwrap",),
        packages=("bubblewrap",),
        try_out=try_bubblewrap_as_nobody,
    ),
    "Landlock": Need("the sandbox without bubblewrap (Linux 6.2 or newer)", try_out=try_landlock),
    "curl": Need(
        "hosts that a command in the sandbox reaches, options of curl", programs=("curl",), packages=("curl",)
    ),
    "strace": Need(
        "sessions killed at every kind of write; what a hostile repository could start, send and write",
        programs=("strace",),
        packages=("strace",),
        try_out=partial(try_command, "strace", "-o", os.devnull, "true"),
    ),
    "strace as root": Need(
        "what commands that nobody approved open, start, send and write, as root and as an ordinary user",
        programs=("strace",),
        packages=("strace",),
        try_out=try_strace_as_root,
    ),
    "system Python": Need(
        "attacks by system calls on commands that nobody approved",
        try_out=partial(try_command, find_system_python(), "-c", "import ctypes"),
    ),
    "ripgrep": Need(
        "Grep gives the same answers with the machine's ripgrep and without", programs=("rg",), packages=("ripgrep",)
    ),
    "our ripgrep": Need("the same with the ripgrep of our Python packages", try_out=try_our_ripgrep),
    "zsh": Need("completion in zsh", programs=("zsh",), packages=("zsh",)),
    "fish": Need("completion in fish", programs=("fish",), packages=("fish",)),
    "Node": Need(
        "ccusage reads our sessions; the vendor's JavaScript SDK talks to our model server; pyright sees our types; "
        "xterm.js judges what the terminal shows; MCP servers, and the official judge of MCP clients",
        programs=("node", "npm"),
        packages=("nodejs", "npm"),
    ),
    "patch": Need("files that `patch` changes are noticed", programs=("patch",), packages=("patch",)),
    "rsync": Need("what `rsync` brings to a protected place is asked about", programs=("rsync",), packages=("rsync",)),
    "mount namespaces": Need(
        "the tests that use these programs, once more with all of them hidden",
        programs=("unshare",),
        try_out=partial(try_command, sys.executable, "-m", "tests.bare_machine", "true"),
    ),
    "process namespaces": Need(
        "what commands leave running in containers",
        programs=("unshare", "nsenter"),
        try_out=partial(try_command, *NAMESPACES, "true"),
    ),
    "package registry": Need(
        "installation with pip, pipx and uv, and by the GitHub action; programs of others that read our sessions or types, talk to our "
        "model server, run our hooks for pre-commit or serve MCP",
        try_out=try_registry,
    ),
}


@cache
def find_trouble(name: str) -> str:
    """Empty where the need is met. Looked at once in a process, and only where a test asks for it."""
    need = NEEDS[name]
    if missing := [program for program in need.programs if shutil.which(program) is None]:
        return f"{' and '.join(missing)} cannot be found"
    return need.try_out() if need.try_out is not None else ""


def find_packages() -> list[str]:
    """Debian's packages for the programs that are missing here."""
    lacking = (need for need in NEEDS.values() if not all(map(shutil.which, need.programs)))
    return sorted({package for need in lacking for package in need.packages})


def install_packages() -> None:
    packages = find_packages()
    if not packages:
        return
    if shutil.which("apt-get") is None:
        sys.exit(f"There is no apt-get here. Install what Debian calls: {' '.join(packages)}")
    print(f"installing {' '.join(packages)}", flush=True)  # noqa: T201 - a program
    as_root = ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq")
    if os.getuid() != 0:
        as_root = ("sudo", *as_root)
    for words in (("update",), ("install", "-y", "--no-install-recommends", *packages)):
        try:
            subprocess.run((*as_root, *words), check=True, stdout=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"The packages could not be installed: {error}")


def leave_out(name: str, why: str) -> None:
    """For a test that learns only while it runs that something is missing."""
    said = f"{LACKS}{name}: {why}"
    if MUST:
        pytest.fail(said)
    pytest.skip(said)


def render_table() -> str:
    rows = (f"| {name} | {', '.join(need.packages) or 'none'} | {need.adds} |" for name, need in NEEDS.items())
    return "\n".join(("| what | Debian packages | tests that it adds |", "|---|---|---|", *rows, ""))


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "needs(*names): what the test needs beyond git, make and Python; names of tests/needs.py"
    )


def names_of(item):
    """In the table's order."""
    wanted = {name for mark in item.iter_markers("needs") for name in mark.args}
    if unknown := wanted - NEEDS.keys():
        raise pytest.UsageError(f"{item.nodeid} needs {', '.join(sorted(unknown))}, which tests/needs.py does not know")
    return [name for name in NEEDS if name in wanted]


def describe_lack(item):
    """Empty where the test can run."""
    troubles = {name: trouble for name in names_of(item) if (trouble := find_trouble(name))}
    return f"{LACKS}{', '.join(troubles)}: {'; '.join(troubles.values())}" if troubles else ""


def pytest_collection_modifyitems(items):
    for item in items:
        if not MUST and (lack := describe_lack(item)):
            item.add_marker(pytest.mark.skip(reason=lack))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if MUST and (lack := describe_lack(item)):
        pytest.fail(lack, pytrace=False)


def pytest_terminal_summary(terminalreporter):
    """Says at the end what was left out, for want of what, and how to run it all."""
    left_out = defaultdict(Counter)
    for report in terminalreporter.stats.get("skipped", []):
        _, found, reason = str(report.longrepr[2]).partition(LACKS)
        if found:
            left_out[reason][report.nodeid.partition("[")[0]] += 1
    for line in render_left_out(left_out):
        terminalreporter.write_line(line)


def render_left_out(left_out):
    """The names first, what they come to last: a reader looks at the end."""
    if not left_out:
        return
    for reason, tests in sorted(left_out.items()):
        yield f"Skipped, because {LACKS}{reason}"
        yield from (f"  {test}{f' ({count} cases)' if count > 1 else ''}" for test, count in sorted(tests.items()))
    counts = Counter()
    for reason, tests in left_out.items():
        for name in reason.partition(":")[0].split(", "):
            counts[name] += tests.total()
    total = sum(tests.total() for tests in left_out.values())
    wanting = ", ".join(f"{name} {count}" for name, count in counts.most_common())
    yield f"{total} tests were skipped for want of: {wanting} (some need several)."
    yield "`make test-all` installs the Debian packages that bring these programs, and runs all tests."


def main() -> None:
    match sys.argv[1:]:
        case ["--install"]:
            install_packages()
        case ["--table"]:
            print(render_table(), end="")  # noqa: T201 - a program
        case _:
            sys.exit("usage: python -m tests.needs --install | --table")


if __name__ == "__main__":
    main()

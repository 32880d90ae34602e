"""Programs of others that tests talk to: installed once from their registries, each into an environment of its own."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.needs import leave_out

SHELF = Path(__file__).parents[1] / ".venv" / "readers"
PATIENCE_S = 900


def run(*command, cwd, fails=False, **env):
    """What it printed. A program that fails where it should not, or does not where it should, fails the test, with all that it said."""
    ended = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=clean_environment() | {name: str(value) for name, value in env.items()},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (ended.returncode != 0) == fails, f"{command} exited with {ended.returncode}:\n{ended.stdout}{ended.stderr}"
    return ended.stdout


def clean_environment():
    return {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "EVERTURN_"))}


def find_python(name, *wanted):
    """The Python of an environment that holds what is wanted, in the words of `pip install`."""
    folder = SHELF / name

    def install():
        run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=SHELF)
        pip = (sys.executable, "-m", "pip", "--quiet", "--python", folder / "bin" / "python")
        run(*pip, "install", *wanted, cwd=SHELF)

    _install(folder, install)
    return folder / "bin" / "python"


def find_node_modules(name, *wanted):
    """A folder from which Node finds what is wanted, in the words of `npm install`."""
    folder = SHELF / name

    def install():
        (folder / "package.json").write_text('{"private":true}')
        run("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *wanted, cwd=folder)

    _install(folder, install)
    return folder


def _install(folder, install):
    """Once for all workers; an installation that broke off is done again."""
    SHELF.mkdir(parents=True, exist_ok=True)
    with (SHELF / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ready = folder / ".ready"
        if ready.exists():
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            install()
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            leave_out("package registry", f"it could not be installed: {error}")
        ready.touch()

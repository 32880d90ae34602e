"""Empty environments to install into, and programs run in them as if nothing else were on the machine."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import everturn

ROOT = Path(__file__).parents[2]
VERSION = everturn.__version__
_QUICK = {"PIP_NO_COMPILE": "1", "PIP_QUIET": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
_OURS = ("PYTHON", "VIRTUAL_ENV", "ANTHROPIC_", "EVERTURN_", "PYTEST", "COV_")


def run(*command, cwd, **env):
    """What it printed. A program that fails fails the test, with all that it said."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    ended = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=clean | _QUICK | {name: str(value) for name, value in env.items()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    assert ended.returncode == 0, f"{command} exited with {ended.returncode}:\n{ended.stdout}"
    return ended.stdout


def make_environment(folder):
    """Without pip of its own: that is the slow part, and ours can install into it."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=ROOT)
    return folder / "bin"


def pip_install(binaries, *what):
    pip = (sys.executable, "-m", "pip", "--python", binaries / "python")
    run(*pip, "install", *what, cwd=binaries)


def build(python, folder, *, source=ROOT):
    """The wheel and the sdist, built by the hatchling of `python`."""
    run(python, "-m", "hatchling", "build", "--directory", folder, cwd=source)
    [wheel] = folder.glob("*.whl")
    [sdist] = folder.glob("*.tar.gz")
    return wheel, sdist


def assert_runs(everturn, folder):
    """A home that is empty before the demo is empty after it."""
    home = folder / "home"
    home.mkdir()
    assert run(everturn, "--version", cwd=folder, HOME=home) == f"everturn {VERSION}\n"
    shown = run(everturn, "demo", "--fast", cwd=folder, HOME=home)
    assert "✓ all 4 pass" in shown, shown
    assert "went on by   4 next_turn, 1 max_output_tokens_escalate" in shown, shown
    assert list(home.iterdir()) == []


def find_program(name, folder):
    """The machine's own, or one that is installed for the test."""
    if found := which(name):
        return Path(found)
    binaries = make_environment(folder / f"{name}-itself")
    # With uv beside it, pipx does not have to set up a pip of its own first.
    pip_install(binaries, name, "uv")
    return binaries / name

"""The tutorial runs as it is written: its files are saved, its commands run in one shell, and print what it says."""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.docs.blocks import take

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(
    r"<!-- run(?:: (?P<what>\S+))? -->\n```\w+\n(?P<text>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)
BLOCKS = take(lambda block: block.page == "docs/tutorial.md")
PORT = "8765"
CUT = "=== end of a block ==="
OURS = ("PYTHON", "VIRTUAL_ENV", "ANTHROPIC_", "EVERTURN_", "PYTEST", "COV_")
CLONE = "clone"
"""Blocks that fetch and install Everturn."""


class Step(NamedTuple):
    file: str | None
    text: str
    shown: str | None
    """What the page says that it prints; `…` stands for anything."""


def read_steps() -> list[Step]:
    return [Step(found["what"], found["text"], found["shown"]) for found in BLOCK.finditer(PAGE.read_text("utf-8"))]


def render_script(steps: list[Step]) -> str:
    lines = ["set -eu", "trap 'kill $(jobs -p) 2>&- || true' EXIT"]
    for step in steps:
        if step.file in {None, CLONE}:
            lines += [step.text, f"echo '{CUT}'"]
        else:
            lines += [f"cat > {step.file} <<'END-OF-FILE'", f"{step.text}END-OF-FILE", f"echo '{CUT}'"]
    return "\n".join(lines)


def follow(steps: list[Step], folder: Path, path: str) -> list[str]:
    """What each step printed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    home, start = folder / "home", folder / "start"
    home.mkdir()
    start.mkdir()
    ended = subprocess.run(
        ["bash", "-c", render_script(steps).replace(PORT, str(find_port())).replace("ADDRESS", str(ROOT))],
        cwd=start,
        env=kept | {"HOME": str(home), "PATH": path, "PYTHONUTF8": "1", "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.split(f"{CUT}\n")[:-1]


def find_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def assert_shown(steps: list[Step], printed: list[str]) -> None:
    assert len(steps) == len(printed)
    for step, output in zip(steps, printed, strict=True):
        if step.shown is not None:
            pattern = ".*".join(map(re.escape, step.shown.strip().split("…")))
            assert re.fullmatch(pattern, output.strip(), re.DOTALL), f"{step.text}printed:\n{output}"


def test_every_step_prints_what_the_page_says(tmp_path):
    steps = [step for step in read_steps() if step.file != CLONE]
    beside = str(Path(sys.executable).parent)

    assert_shown(steps, follow(steps, tmp_path, f"{beside}:{os.environ['PATH']}"))


@pytest.mark.needs("package registry")
def test_the_whole_page_works_in_a_clone(tmp_path):
    steps = read_steps()

    printed = follow(steps, tmp_path, f"{Path(shutil.which('python3')).parent}:/usr/bin:/bin")

    assert "✓ all 4 pass" in printed[0]
    assert printed[1].startswith("everturn ")
    assert_shown(steps, printed)


def test_every_block_of_the_page_is_marked_to_run_or_shows_what_another_prints():
    left = BLOCK.sub("", PAGE.read_text("utf-8"))
    assert "```" not in left

"""How a newcomer runs the demo: as a program, with a temporary folder of its own, without a key."""

import os
import re
import subprocess
import sys

PROGRAM = [sys.executable, "-m", "everturn", "demo"]
_UNSTABLE = (
    (re.compile(r"/\S+/everturn-demo-\w+"), "FOLDER"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"\d+(?:\.\d+)? ?m?s\b"), "TIME"),
    # Calls that run side by side end in any order.
    (re.compile(r"(· Read .*\n)(· Grep .*\n(?:  │ .*\n)*)"), r"\2\1"),
    (re.compile(r"^(  index )\w+\.\.\w+", re.MULTILINE), r"\1OLD..NEW"),
    (
        re.compile(r"^(  (?:tokens|cache share|cost) .*)", re.MULTILINE),
        lambda row: re.sub(r"(?<![-\w])\d+(?:[,.]\d+)*", "N", row[0]),
    ),
)


def steady(output):
    """Without what differs from run to run."""
    for pattern, instead in _UNSTABLE:
        output = pattern.sub(instead, output)
    return output


class Newcomer:
    def __init__(self, folder):
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self.env = kept | {"TMPDIR": str(self.temporary), "PYTHONUTF8": "1", "TERM": "xterm-256color"}

    def runs(self, *arguments, **env):
        return subprocess.run(
            [*PROGRAM, *arguments], env=self.env | env, capture_output=True, text=True, timeout=300, check=False
        )

    @property
    def left_behind(self):
        return sorted(path.name for path in self.temporary.iterdir())

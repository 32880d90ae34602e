"""What real shells offer for an unfinished line: each is asked in its own way."""

import os
import pty
import select
import subprocess
import time
from pathlib import Path

import pytest

PATIENCE_S = 120.0
READY, END = b"\nREADY:", b":END"
TAB, ASK = b"\t", b"\x18"
ZSH_SETUP = """\
eval "$(cat {script})"; cd {folder}
compadd() {{
    local -a hits
    [[ " $* " == *" "-[a-zA-Z0-9]#[OAD]" "* ]] || {{ builtin compadd -A hits "$@"; print -rl -- $hits >> {offers} }}
    builtin compadd "$@"
}}
ready() {{ print; print -r -- "READY:$BUFFER:END"; }}; zle -N ready; bindkey '^X' ready; bindkey '^I' complete-word; setopt extendedglob
print RE''ADY::END
"""
"""Notes every offer. The word is broken in two, so that its echo is not taken for it."""


SHELLS = ["bash", *(pytest.param(name, marks=pytest.mark.needs(name)) for name in ("zsh", "fish"))]


def ask_bash(script: Path, *words: str) -> list[str]:
    asked = " ".join(f"'{word}'" for word in ("everturn", *words))
    line = f"source {script}; COMP_WORDS=({asked}); COMP_CWORD={len(words)}; _everturn; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return _run(["bash", "-c", line], script.parent).split()


def ask_fish(script: Path, *words: str) -> list[str]:
    """Without what it says about each."""
    line = " ".join(("everturn", *words))
    told = _run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"], script.parent)
    return [offer.split("\t")[0] for offer in told.splitlines()]


def ask_zsh(script: Path, *words: str) -> tuple[list[str], str]:
    """What it offers, and what a Tab makes of the line."""
    offers = script.with_name("offers")
    offers.write_text("", "utf-8")
    line = " ".join(("everturn", *words))
    terminal, follower = pty.openpty()
    env = {"PATH": os.environ["PATH"], "TERM": "xterm", "HOME": str(script.parent)}
    with subprocess.Popen(
        ["zsh", "-f", "-i"], stdin=follower, stdout=follower, stderr=follower, env=env, start_new_session=True
    ) as shell:
        os.close(follower)
        try:
            os.write(terminal, ZSH_SETUP.format(script=script, folder=script.parent, offers=offers).encode())
            _read_answer(terminal)
            os.write(terminal, line.encode() + TAB + ASK)
            made = _read_answer(terminal)
        finally:
            shell.kill()
            os.close(terminal)
    return offers.read_text("utf-8").split(), made


def _read_answer(terminal: int) -> str:
    """What stands between the two marks, once both have come."""
    seen = b""
    deadline = time.monotonic() + PATIENCE_S
    while END not in seen.partition(READY)[2]:
        left = deadline - time.monotonic()
        assert left > 0, seen
        if select.select([terminal], [], [], left)[0]:
            seen += os.read(terminal, 65_536)
    return seen.partition(READY)[2].partition(END)[0].decode()


def _run(command: list[str], folder: Path) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S, cwd=folder, env=env)
    assert done.stderr == ""
    return done.stdout

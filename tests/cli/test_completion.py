"""Completion scripts, in the shells themselves."""

import shutil
import subprocess
from pathlib import Path

import pytest

from everturn.cli.completion import render_bash, render_fish, render_zsh
from everturn.cli.flags import COMMANDS, FLAGS
from everturn.cli.main import main

SCRIPTS = {"bash": render_bash, "zsh": render_zsh, "fish": render_fish}


def complete(script: Path, *words: str) -> list[str]:
    """What bash offers for the last of these words."""
    asked = " ".join(f"'{word}'" for word in ("everturn", *words))
    line = f"source {script}; COMP_WORDS=({asked}); COMP_CWORD={len(words)}; _everturn; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run([bash, "-c", line], capture_output=True, text=True, check=True, timeout=30, cwd=script.parent)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.fixture
def script(tmp_path) -> Path:
    path = tmp_path / "everturn.bash"
    path.write_text(render_bash(), "utf-8")
    return path


def test_bash_completes_commands_flags_and_values(script):
    assert complete(script, "do") == ["doctor"]
    assert complete(script, "--out") == ["--output-format"]
    assert complete(script, "-p", "Go", "--max-t") == ["--max-turns"]
    assert complete(script, "-p", "--output-format", "") == ["text", "json", "stream-json"]
    assert complete(script, "-p", "--permission-mode", "a") == ["acceptEdits"]
    assert complete(script, "config", "") == ["get", "set", "unset", "list", "--help"]
    assert complete(script, "completion", "z") == ["zsh"]
    assert complete(script, "-p", "--model", "") == []


def test_bash_completes_files_where_a_file_is_wanted(script):
    assert complete(script, "-p", "--settings", "ever") == ["everturn.bash"]


def test_bash_offers_every_flag_and_every_command(script):
    offered = set(complete(script, ""))
    assert offered == {command.name for command in COMMANDS} | {name for flag in FLAGS for name in flag.spellings}


def test_each_script_is_understood_by_its_shell(tmp_path):
    """Bash is always there; the others are asked where they are installed."""
    checked = []
    for shell, render in SCRIPTS.items():
        path = tmp_path / shell
        path.write_text(render(), "utf-8")
        if program := shutil.which(shell):
            subprocess.run([program, "-n", str(path)], check=True, timeout=30)
            checked.append(shell)
    assert "bash" in checked


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_command_prints_the_script(shell, capsys):
    assert main(["completion", shell]) == 0
    assert capsys.readouterr().out == SCRIPTS[shell]()


@pytest.mark.parametrize("words", [[], ["tcsh"], ["bash", "zsh"]])
def test_other_shells_are_refused(words, capsys):
    assert main(["completion", *words]) == 2
    assert "everturn completion bash|zsh|fish" in capsys.readouterr().err

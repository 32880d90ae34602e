"""Completion scripts, in the shells themselves."""

import subprocess
from pathlib import Path

import pytest
from tests.cli.shells import SHELLS, ask_bash, ask_fish, ask_zsh

from everturn.cli.commands import COMMANDS, find_command
from everturn.cli.completion import render_bash, render_fish, render_zsh
from everturn.cli.flags import FLAGS
from everturn.cli.main import main

SCRIPTS = {"bash": render_bash, "zsh": render_zsh, "fish": render_fish}
ACTIONS = [action.name for action in find_command("config").actions]


@pytest.fixture
def script(tmp_path) -> Path:
    path = tmp_path / "everturn.bash"
    path.write_text(render_bash(), "utf-8")
    return path


def asker(folder, shell):
    """What the shell offers behind these words."""
    script = folder / f"everturn.{shell}"
    script.write_text(SCRIPTS[shell](), "utf-8")
    return {
        "bash": lambda *words: ask_bash(script, *words),
        "fish": lambda *words: ask_fish(script, *words),
        "zsh": lambda *words: ask_zsh(script, *words)[0],
    }[shell]


def test_bash_completes_commands_flags_and_values(script):
    assert ask_bash(script, "do") == ["doctor"]
    assert ask_bash(script, "--out") == ["--output-format"]
    assert ask_bash(script, "-p", "Go", "--max-t") == ["--max-turns"]
    assert ask_bash(script, "-p", "--output-format", "") == ["text", "json", "stream-json"]
    assert ask_bash(script, "-p", "--permission-mode", "a") == ["acceptEdits"]
    assert ask_bash(script, "config", "") == [*ACTIONS, "--help"]
    assert ask_bash(script, "completion", "z") == ["zsh"]
    assert ask_bash(script, "-p", "--max-turns", "") == []


def test_bash_completes_a_value_behind_an_equals_sign(script):
    """Which bash takes for a word of its own."""
    assert ask_bash(script, "-p", "--output-format", "=") == ["text", "json", "stream-json"]
    assert ask_bash(script, "-p", "--output-format", "=", "s") == ["stream-json"]


@pytest.mark.parametrize("shell", SHELLS)
def test_models_and_settings_are_completed_by_name(tmp_path, shell):
    ask = asker(tmp_path, shell)
    assert ask("-p", "--model", "hai") == ["haiku"]
    assert ask("config", "get", "permissions.de") == ["permissions.defaultMode", "permissions.deny"]
    assert ask("config", "set", "effort") == ["effortLevel"]
    assert ask("config", "list", "effort") == []


@pytest.mark.parametrize("shell", SHELLS)
def test_each_action_has_flags_and_values_of_its_own(tmp_path, shell):
    ask = asker(tmp_path, shell)
    assert ask("sessions", "prune", "--ke") == ["--keep-total"]
    assert ask("sessions", "search", "--cl") == []
    assert ask("sessions", "--id") == ["--ids"]
    assert ask("permissions", "test", "--mode", "acc") == ["acceptEdits"]
    assert ask("prompt", "--model", "hai") == ["haiku"]


def test_bash_completes_files_where_a_file_is_wanted(script):
    assert ask_bash(script, "-p", "--settings", "ever") == ["everturn.bash"]


def test_bash_offers_every_flag_and_every_command(script):
    offered = set(ask_bash(script, ""))
    assert offered == {command.name for command in COMMANDS} | {name for flag in FLAGS for name in flag.spellings}


@pytest.mark.needs("fish")
def test_fish_completes_commands_flags_values_and_files(tmp_path):
    script = tmp_path / "everturn.fish"
    script.write_text(render_fish(), "utf-8")
    assert ask_fish(script, "do") == ["doctor"]
    assert ask_fish(script, "--out") == ["--output-format"]
    assert ask_fish(script, "-p", "Go", "--max-t") == ["--max-turns"]
    assert ask_fish(script, "-p", "--output-format", "") == ["json", "stream-json", "text"]
    assert ask_fish(script, "config", "") == sorted(ACTIONS)
    assert ask_fish(script, "-p", "--settings", "ever") == ["everturn.fish"]
    assert ask_fish(script, "-p", "--max-turns", "") == []
    assert ask_fish(script, "") == sorted(command.name for command in COMMANDS)


@pytest.mark.needs("zsh")
@pytest.mark.parametrize(
    ("words", "offered", "line"),
    [
        (("do",), ["doctor"], "everturn doctor "),
        (("--out",), ["--output-format"], "everturn --output-format "),
        (("-p", "Go", "--max-t"), ["--max-turns"], "everturn -p Go --max-turns "),
        (("-p", "--output-format", ""), ["text", "json", "stream-json"], "everturn -p --output-format "),
        (("-p", "--settings", "ever"), ["everturn.zsh"], "everturn -p --settings everturn.zsh "),
        (("config", ""), [*ACTIONS, "--help"], "everturn config "),
        (("-p", "--max-turns", ""), [], "everturn -p --max-turns "),
    ],
)
def test_zsh_completes_commands_flags_values_and_files(tmp_path, words, offered, line):
    script = tmp_path / "everturn.zsh"
    script.write_text(render_zsh(), "utf-8")
    assert ask_zsh(script, *words) == (offered, line)


@pytest.mark.parametrize("shell", SHELLS)
def test_each_script_is_understood_by_its_shell(tmp_path, shell):
    path = tmp_path / shell
    path.write_text(SCRIPTS[shell](), "utf-8")
    subprocess.run([shell, "-n", str(path)], check=True, timeout=120)


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_command_prints_the_script(shell, capsys):
    assert main(["completion", shell]) == 0
    assert capsys.readouterr().out == SCRIPTS[shell]()


@pytest.mark.parametrize("words", [[], ["tcsh"], ["bash", "zsh"]])
def test_other_shells_are_refused(words, capsys):
    assert main(["completion", *words]) == 2
    assert "everturn completion bash|zsh|fish" in capsys.readouterr().err

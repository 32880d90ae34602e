"""The help: whole, as it is printed; and the page that explains it."""

from pathlib import Path

import pytest

from everturn.cli.flags import COMMANDS, FLAGS
from everturn.cli.help import render_help
from everturn.cli.main import main

SNAPSHOT = Path(__file__).parent / "help.txt"
PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_the_help_is_what_it_was():
    assert render_help() == SNAPSHOT.read_text("utf-8"), "if this is wanted: everturn --help > tests/cli/help.txt"


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["-p", "Go", "--help"]])
def test_help_is_printed(words, capsys):
    assert main(words) == 0
    assert capsys.readouterr().out == render_help()


@pytest.mark.parametrize("command", ["doctor", "config", "completion"])
def test_each_command_has_its_own(command, capsys):
    assert main([command, "--help"]) == 0
    assert f"everturn {command}" in capsys.readouterr().out


def test_the_page_names_every_flag_and_every_command():
    page = PAGE.read_text("utf-8")
    names = [name for flag in FLAGS for name in flag.spellings] + [f"everturn {command.name}" for command in COMMANDS]
    assert [name for name in names if f"`{name}" not in page] == []


def test_no_line_of_the_help_is_too_wide():
    assert [line for line in render_help().splitlines() if len(line) > 120] == []

"""The help: whole, as it is printed; and the page that explains it."""

from pathlib import Path

import pytest

from everturn.cli.commands import COMMANDS
from everturn.cli.flags import FLAGS
from everturn.cli.help import DETAILS, render_command_help, render_help
from everturn.cli.main import main

SNAPSHOT = Path(__file__).parent / "help.txt"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_the_help_is_what_it_was():
    assert render_help() == SNAPSHOT.read_text("utf-8"), "if this is wanted: everturn --help > tests/cli/help.txt"


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["-p", "Go", "--help"]])
def test_help_is_printed(words, capsys):
    assert main(words) == 0
    assert capsys.readouterr().out == render_help()


ALL = {command.name: command for command in COMMANDS} | {
    f"{command.name} {action.name}": action for command in COMMANDS for action in command.actions
}


@pytest.mark.parametrize("title", ALL)
def test_each_command_and_each_action_has_its_own(title, capsys):
    assert main([*title.split(), "--help"]) == 0
    told = capsys.readouterr().out
    assert told == render_command_help(ALL[title], title)
    assert f"  everturn {title}" in told
    assert all(flag.name in told for flag in ALL[title].flags)
    assert max(map(len, told.splitlines())) <= 125


def test_a_command_that_only_has_actions_shows_its_help(capsys):
    assert main(["config"]) == 2
    assert capsys.readouterr().out == render_command_help(ALL["config"], "config")


def test_every_explanation_belongs_to_a_command():
    assert set(DETAILS) <= set(ALL)


def test_every_command_runs_something_or_has_actions():
    assert all((command.run is None) == bool(command.actions) for command in ALL.values())
    assert all(command.find_action(command.default) for command in ALL.values() if command.default)


def test_the_page_names_every_flag_and_every_command():
    page = PAGE.read_text("utf-8")
    names = [name for flag in FLAGS for name in flag.spellings] + [f"everturn {command.name}" for command in COMMANDS]
    assert [name for name in names if f"`{name}" not in page] == []


def test_no_line_of_the_help_is_too_wide():
    assert [line for line in render_help().splitlines() if len(line) > 120] == []

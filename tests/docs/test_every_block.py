"""Every code block of the documents is run by a test, or says above its fence why not."""

import re
from importlib import import_module

from tests.docs.blocks import NOT_RUN, ROOT, list_blocks, list_pages

from everturn.cli.commands import COMMANDS
from everturn.cli.dispatch import ELSEWHERE
from everturn.cli.flags import BY_SPELLING

RUNNERS = (
    "tests.docs.test_code_blocks",
    "tests.docs.test_tutorial",
    "tests.docs.test_events_page",
    "tests.docs.test_classes_page",
    "tests.examples.test_tools_page",
    "tests.frontends.test_page",
    "tests.install.test_action",
    "tests.modelserver.test_docs",
    "tests.scenarios.test_hooks_of_the_manual",
)
REASONS = {"a drawing", "a formula"}
UNKNOWN = {"plugin list"}
"""Named on the pages because Everturn does not know it."""


def test_every_block_is_run_or_says_why_not():
    run = {block.id for runner in RUNNERS for block in import_module(runner).BLOCKS}
    excused = {block.id for block in list_blocks() if block.note.startswith(NOT_RUN)}

    assert not run & excused
    assert {block.id for block in list_blocks()} - run - excused == set()


def test_only_drawings_and_formulas_are_not_run():
    said = {block.note.removeprefix(NOT_RUN) for block in list_blocks() if block.note.startswith(NOT_RUN)}
    assert said == REASONS


def test_no_fence_is_overlooked():
    for page in list_pages():
        fences = re.findall(r"^[ \t>]*(?:```|~~~)", page.read_text("utf-8"), re.MULTILINE)
        name = page.relative_to(ROOT).as_posix()
        assert len(fences) == 2 * sum(block.page == name for block in list_blocks()), page


def test_every_example_is_run():
    tests = (ROOT / "tests" / "examples" / "test_examples.py").read_text("utf-8")
    for example in (ROOT / "examples").iterdir():
        if example.is_file():
            assert f'"{example.stem}"' in tests or f'"{example.name}"' in tests, example


def test_every_command_in_a_sentence_exists_and_has_these_flags():
    commands = {command.name: command for command in COMMANDS}
    found = [
        (page, words)
        for page in list_pages()
        if page.name != "CHANGELOG.md"
        for words in re.findall(r"`everturn ([^`]+)`", page.read_text("utf-8"))
    ]
    assert len(found) > 50
    for page, words in found:
        if words in UNKNOWN:
            continue
        name, _, rest = words.partition(" ")
        if name.startswith("-"):
            known, rest = set(BY_SPELLING), words
        elif name.isupper() or name in ELSEWHERE:
            continue
        else:
            assert name in commands, (page, words)
            command = commands[name]
            actions = {action.name: action for action in command.actions}
            asked = actions.get(rest.partition(" ")[0], command)
            known = {spelling for flag in asked.flags for spelling in flag.spellings} | {"--help"}
        given = re.findall(r"(?<![\w'-])--?[a-z][a-zA-Z-]*", re.sub(r"'[^']*'|\"[^\"]*\"", "", rest))
        assert set(given) <= known, (page, words)

"""The prompt as a session really begins with it: in each mode, trusted and not, with and without a person."""

import difflib
import os
from pathlib import Path

import pytest

from everturn import Engine, Options
from everturn.compose.cli import watch_memory
from everturn.compose.prompt import list_prompt_parts
from everturn.prompt.parts import ENVIRONMENT, TOOLS, count_tokens
from everturn.settings.memory import Memory
from everturn.settings.places import SettingsRoots
from everturn.settings.setup import check_options
from everturn.testing.clock import FakeClock
from everturn.workspace.platform import describe_platform

MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")
CASES = [(trusted, person) for trusted in (True, False) for person in (True, False)]
SNAPSHOTS = Path(__file__).parent / "snapshots"
MAX_TOKENS = 5_000
NOON = 1_893_499_200.0
"""1 January 2030."""


class Person:
    async def approve(self, call, reason):
        raise AssertionError


async def list_prompt(place, mode, *, trusted, person, **options):
    folder, home = place / "project", place / "home"
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    home.mkdir(exist_ok=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "AGENTS.md").write_text("Every change gets a line in CHANGELOG.md.\n")
    (home / "AGENTS.md").write_text("Write in plain English.\n")
    grounds = SettingsRoots(home=str(home), folder=str(folder), root=str(folder))
    made = Options(
        cwd=folder,
        home=home,
        model="claude-fable-5-1",
        permission_mode=mode,
        trusted=trusted,
        approver=Person() if person else None,
        user_context=watch_memory(Memory(grounds, trusted=trusted)),
        session_id="a-session",
        persist=False,
        **options,
    )
    env = {"ANTHROPIC_API_KEY": "sk-made-up", "TMPDIR": str(place), "PATH": os.environ["PATH"]}
    async with Engine(made, env=env, clock=FakeClock(now=NOON)) as engine:
        return list_prompt_parts(engine, check_options(made, env))


def render(parts, place):
    """Without the tools, and with words for what differs from machine to machine."""
    lines = []
    for part in parts:
        if part.place == ENVIRONMENT:
            lines.append(f"{part.name}: {part.text}\n")
        elif part.place != TOOLS:
            lines.append(f"# {part.name}\n{part.text}\n")
    page = "\n".join(lines).replace(describe_platform(), "PLATFORM").replace(os.path.realpath(place), "PLACE")
    return page.replace(str(place), "PLACE")


def render_variants(pages):
    """The first whole, of the others what differs from it."""
    (_, first), *others = pages.items()
    told = [first]
    for name, page in others:
        changed = difflib.unified_diff(first.splitlines(), page.splitlines(), lineterm="", n=0)
        lines = [line for line in changed if not line.startswith(("---", "+++", "@@"))]
        told.append("\n".join((f"===== {name}", *lines, "")))
    return "\n".join(told)


@pytest.mark.parametrize("mode", MODES)
async def test_the_prompt_of_each_mode_is_that_of_the_snapshot(tmp_path, mode):
    pages = {}
    for trusted, person in CASES:
        parts = await list_prompt(tmp_path, mode, trusted=trusted, person=person)
        name = f"{'trusted' if trusted else 'not trusted'}, {'with' if person else 'without'} a person"
        pages[name] = render(parts, tmp_path)
    page, file = render_variants(pages), SNAPSHOTS / f"{mode}.txt"
    if "EVERTURN_SNAPSHOTS" in os.environ:
        file.write_text(page, encoding="utf-8")
    wanted = "if this is wanted: EVERTURN_SNAPSHOTS=1 pytest tests/prompt"
    assert page == file.read_text(encoding="utf-8"), wanted


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("trusted", "person"), CASES)
async def test_a_newcomer_knows_the_place_the_permissions_whom_to_ask_and_what_git_must_not_do(
    tmp_path, mode, trusted, person
):
    page = render(await list_prompt(tmp_path, mode, trusted=trusted, person=person), tmp_path)

    for line in (
        "working folder: PLACE/project",
        f"trusted by the user: {'yes' if trusted else 'no'}",
        "git: branch main",
        "temporary folder: PLACE/everturn-scratch-a-session ($TMPDIR; private, goes with the session)",
        "today: 2030-01-01, Tuesday",
        "model: claude-fable-5-1, knowledge until 2026-06",
    ):
        assert f"\n{line}\n" in page
    assert f"The permission mode is {mode}." in page
    assert ("ask with AskUserQuestion" in page) == person
    assert ("Nobody can answer questions." in page) == (not person)
    assert "Commit, branch or push only when asked." in page
    assert ("# Project rules" in page, "The rules of this project. Follow them" in page) == (True, trusted)
    assert ("a folder that the user has not trusted. It is guidance" in page) == (not trusted)


@pytest.mark.parametrize(("trusted", "person"), CASES)
@pytest.mark.parametrize("mode", MODES)
async def test_prompt_and_built_in_tools_take_fewer_than_5000_tokens(tmp_path, mode, trusted, person):
    options = {"web_search": "brave", "web_search_key": "made-up"}
    parts = await list_prompt(tmp_path, mode, trusted=trusted, person=person, **options)

    assert count_tokens(parts) < MAX_TOKENS
    assert {part.name for part in parts if part.place == TOOLS} >= {"Bash", "WebSearch", "TodoWrite"}


async def test_only_what_is_offered_is_named(tmp_path):
    parts = await list_prompt(tmp_path, "plan", trusted=True, person=True, builtin_tools=["Read"])

    page = render(parts, tmp_path)
    assert all(name not in page for name in ("AskUserQuestion", "ExitPlanMode", "TodoWrite"))
    assert "The plan is your final message" in page


async def test_a_prompt_of_ones_own_is_told_the_mode_with_the_environment(tmp_path):
    parts = await list_prompt(tmp_path, "plan", trusted=False, person=False, system_prompt="You are a gardener.")

    system = [part.text for part in parts if part.place == "system prompt"]
    [mode] = [part.text for part in parts if part.name == "permission mode"]
    assert system == ["You are a gardener."]
    assert mode == "plan (nothing may be changed; your result is a plan; nobody can approve)"

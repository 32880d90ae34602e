"""A settings file that changes while a query runs: the next call is judged by what it says now."""

import json
from contextlib import aclosing

from tests.sandbox.kinds import LANDLOCK

from everturn import Engine
from everturn.compose.cli import Asked, build_live, plan_launch
from everturn.core.events import CallDenied, CallEnded, Noticed
from everturn.modelserver import ModelServer, calls, script


async def run_changing(
    tmp_path, texts: list[str], commands: list[str] | None = None, **options: object
) -> tuple[list[str], list[str], list[str]]:
    """What was denied, what was told, and what was made, where after each call the user's file gets the next text."""
    home, folder = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    folder.mkdir(exist_ok=True)
    settings = home / "settings.json"
    settings.write_text(texts[0], "utf-8")
    denied, told = [], []
    async with ModelServer() as server:
        commands = commands or [f"touch made-{number}" for number in range(len(texts))]
        turns = [calls(("Bash", {"command": command})) for command in commands]
        server.play(script(*turns, "Done."))
        env = {"HOME": str(tmp_path), "EVERTURN_HOME": str(home), "ANTHROPIC_API_KEY": "k", "PATH": "/usr/bin:/bin"}
        launch = plan_launch({"cwd": str(folder), "base_url": server.url, **options}, env, Asked(managed=()))
        left = texts[1:]
        async with (
            Engine(launch.options, env=launch.env, live=build_live(launch)) as engine,
            aclosing(engine.submit("Go.")) as events,
        ):
            async for event in events:
                if isinstance(event, CallDenied):
                    denied.append(event.reason)
                if isinstance(event, Noticed):
                    told.append(event.text)
                if isinstance(event, CallEnded) and left:
                    settings.write_text(left.pop(0), "utf-8")
    return denied, told, sorted(path.name for path in folder.iterdir())


def allowing(*, deny: list[str]) -> str:
    return json.dumps({"permissions": {"allow": ["Bash(touch *)"], "deny": deny}})


async def test_a_rule_that_is_added_counts_from_the_next_call_on(tmp_path):
    denied, _, made = await run_changing(tmp_path, [allowing(deny=[]), allowing(deny=["Bash(touch *)"])])
    assert made == ["made-0"]
    assert len(denied) == 1


async def test_a_file_that_became_malformed_leaves_the_last_good_rules_in_force_and_is_told_once(tmp_path):
    texts = [allowing(deny=["Bash(touch made-1)"]), "{", "{", allowing(deny=["Bash(touch *)"])]
    denied, told, made = await run_changing(tmp_path, texts)
    assert made == ["made-0", "made-2"]
    assert len(denied) == 2
    assert len([text for text in told if "stay in force" in text]) == 1


async def test_a_deny_that_cannot_work_leaves_the_last_good_rules_in_force(tmp_path):
    denied, told, made = await run_changing(tmp_path, [allowing(deny=["Bash(rm *)"]), allowing(deny=["Bash(touch"])])
    assert made == ["made-0", "made-1"]
    assert denied == []
    assert "stay in force" in told[-1]


async def test_a_deny_that_is_added_holds_in_the_sandbox_from_the_next_command_on(tmp_path, sandbox):
    """Also for a command that does not name the file in words that anybody could read."""
    (tmp_path / "project/locked").mkdir(parents=True)
    sly = [f"d=lock; echo {number} >> $d'ed'/a; cat $d'ed'/a; echo {number} > made-{number}" for number in range(3)]
    texts = [allowing(deny=[]), allowing(deny=[f"Edit(//{str(tmp_path)[1:]}/project/locked/**)"])]
    texts.append(allowing(deny=[]))

    denied, _, made = await run_changing(tmp_path, texts, sly, sandbox=sandbox)

    assert denied == []
    # Landlock cannot take a folder out of a writable one: around it, too, nothing new is made.
    assert made == ["locked", "made-0", *(["made-1"] if sandbox is not LANDLOCK else []), "made-2"]
    assert (tmp_path / "project/locked/a").read_text() == "0\n2\n"


async def test_a_folder_that_is_added_is_written_in_the_sandbox_from_the_next_command_on(tmp_path, sandbox):
    more = tmp_path / "more"
    more.mkdir()
    texts = ["{}", json.dumps({"permissions": {"additionalDirectories": [str(more)]}}), "{}"]

    await run_changing(tmp_path, texts, [f"m={more}; touch $m/{number}" for number in range(3)], sandbox=sandbox)

    assert [path.name for path in more.iterdir()] == ["1"]

"""The examples of docs/how-to/own-tools.md, run against the scripted server as they stand there."""

import json
import re
from pathlib import Path

import msgspec
import pytest
from tests.docs.blocks import take

from everturn.core.notes import Notes
from everturn.modelserver import call, calls, text

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-tools.md"
BLOCKS = take(lambda block: block.page == "docs/how-to/own-tools.md" and block.language == "python")


@pytest.fixture(scope="module")
def page():
    """What the page defines, read from top to bottom."""
    names = {"__name__": "tools_page"}
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)):
        exec(compile(block, f"{PAGE.name}, example {number + 1}", "exec"), names)  # noqa: S102 - our own page
    return names


async def run_page(bench, options):
    given = {name: getattr(options, name) for name in ("tools", "allowed_tools", "approver", "permission_mode")}
    engine = bench.engine(**given)
    return engine, await bench.go_on(engine)


def results_of(bench, number):
    return [block["content"] for block in bench.sent[number][-1]["content"] if block["type"] == "tool_result"]


async def test_a_function_is_a_tool(bench, page):
    bench.model(
        calls(("forecast", {"city": "Oslo", "days": 2}), ("order", {"item": "tea"}), ("forecast", {"city": "Rome"})),
        text("Done."),
    )

    _, run = await run_page(bench, page["kitchen"])

    weather, ordered, failed = results_of(bench, 1)
    assert (weather, ordered) == ("Oslo, 2 day(s): 4 °C", "1 × tea ordered")  # noqa: RUF001 - as on the page
    assert "no station in Rome" in failed
    assert [event.text for event in run.of("tool_progress")] == ["asking the kitchen"]
    offered = next(tool for tool in bench.bodies[0]["tools"] if tool["name"] == "forecast")
    assert offered["description"] == "Tells the weather of the coming days."
    assert offered["input_schema"]["properties"]["city"] == {"type": "string", "description": "Its name in English."}


async def test_nested_records_and_enums_reach_the_function(bench, page):
    ticket = {"title": "Broken link", "reporter": {"name": "Ann"}, "priority": "high"}
    bench.model(call("file_ticket", ticket), text("Done."))

    await run_page(bench, page["kitchen"])

    assert results_of(bench, 1) == ["Broken link, HIGH, from Ann"]
    assert json.dumps(ticket) in PAGE.read_text()


async def test_a_deferred_tool_is_found(bench, page):
    bench.model(call("ToolSearch", {"query": "issue"}), call("create_issue", {"title": "It leaks"}), text("Done."))

    await run_page(bench, page["tracker"])

    assert results_of(bench, 2) == ["#1 It leaks"]


async def test_the_person_answers_and_approves(bench, page, capsys):
    options = [{"label": "SQLite", "description": "One file"}, {"label": "Postgres", "description": "A server"}]
    question = {"question": "Which database?", "header": "Database", "options": options}
    bench.model(
        call("AskUserQuestion", {"questions": [question]}), call("ExitPlanMode", {"plan": "Use SQLite."}), text("Done.")
    )

    engine, run = await run_page(bench, page["asking"])

    assert results_of(bench, 1) == ["The person answered:\nWhich database? SQLite"]
    assert capsys.readouterr().out == "Use SQLite.\n"
    assert (engine.permission_mode, engine.notes) == ("acceptEdits", Notes(plan="Use SQLite."))
    assert msgspec.to_builtins(run.of("tool_end")[1].shown) == {"plan": "Use SQLite.", "isAgent": False}

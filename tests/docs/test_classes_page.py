"""The page of classes is the code's own, has what the library serves, and its example runs."""

import re
from pathlib import Path

from development.classes_page import PARTS, list_errors, render_page
from tests.docs.blocks import take

import everturn
from everturn import EverturnError
from everturn.modelserver import calls, text

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "classes.md"
BLOCKS = take(lambda block: block.page == "docs/reference/classes.md")
ELSEWHERE = {"Engine", "Event", "ModelUsage", "Denial", "Options", "World", "Reason", "AbortCause"}
"""Described on the pages of events, options and the library."""


def test_the_page_is_not_stale():
    assert PAGE.read_text("utf-8") == render_page(), "run: make pages"


def test_the_page_has_every_class_that_the_library_serves_and_no_other_page_has():
    served = {name for name in everturn.__all__ if isinstance(getattr(everturn, name), type)}
    events = {name for name in served if issubclass(getattr(everturn, name), everturn.Event)}
    errors = {name for name in served if issubclass(getattr(everturn, name), EverturnError)}
    described = {each.__name__ for _, classes in PARTS for each in classes}

    assert {name for name, _ in list_errors()} == errors
    assert served - events - errors - ELSEWHERE == described - {"AbortSignal"}


async def test_its_example_publishes_a_page(bench):
    [source] = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    names = {}
    exec(compile(source, str(PAGE), "exec"), names)  # noqa: S102  the page is ours
    bench.model(calls(("publish", {"page": "index"})), text("It is out."))

    engine = bench.engine(tools=[names["publish"]], approver=names["approve"], hooks={"post_tool": names["look"]})
    run = await bench.go_on(engine, "Publish it.")

    assert run.result.text == "It is out."
    [result] = bench.sent[1][-1]["content"]
    assert "published" in str(result["content"])
    assert "Check the links, too." in str(result["content"])
    assert [event.text for event in run.of("tool_progress")] == [f"publishing index from {bench.folder}"]

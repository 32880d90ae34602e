"""How a call ended, in one line for people: own tools too, failures too."""

import pytest

from everturn import tool
from everturn.modelserver import calls, text
from everturn.ports.tool import ToolResult


@tool
def plain(words: str) -> str:
    """Says the words."""
    return words


@tool(done=lambda result: f"{result.shown['count']} things")
def counted() -> ToolResult:
    """Counts."""
    return ToolResult(content="counted", shown={"count": 3})


@tool(done=lambda result: result.shown["count"])
def broken() -> str:
    """Has nothing to show."""
    return "all is well"


@tool
def failing() -> str:
    """Fails."""
    raise ValueError("no station in Oslo\nask elsewhere")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("one\ntwo", "one"),
        ("\n\n  one\n", "one"),
        ("", ""),
        ("a\x1b[31mb\u202ec", "a [31mb c"),
        ("x" * 200, "x" * 119 + "…"),
        ([{"type": "image"}, {"type": "text", "text": "a picture\nof it"}], "a picture"),
        ([{"type": "image"}], ""),
    ],
)
def test_a_result_without_a_half_for_people_is_told_by_its_first_words(content, line):
    assert plain.done(ToolResult(content=content)) == line


async def test_the_end_of_each_call_carries_its_line(bench):
    bench.model(
        calls(("plain", {"words": "one\ntwo"}), ("counted", {}), ("broken", {}), ("failing", {}), ("missing", {})),
        text("Done."),
    )

    run = await bench.run(tools=[plain, counted, broken, failing], permission_mode="bypassPermissions")

    assert [(event.name, event.is_error, event.line) for event in run.of("tool_end")][:4] == [
        ("plain", False, "one"),
        ("counted", False, "3 things"),
        ("broken", False, ""),
        ("failing", True, "ValueError: no station in Oslo"),
    ]
    [missing] = [event for event in run.of("tool_end") if event.name == "missing"]
    assert (missing.is_error, missing.line.partition(".")[0]) == (True, "There is no tool named missing")

"""Whatever a tool does, its call has one result and the loop goes on."""

import asyncio
from pathlib import Path

import pytest

from everturn import tool
from everturn.core.errors import ToolFault
from everturn.core.state import Reason
from everturn.modelserver import call, say, text
from everturn.modelserver.answers import Call
from everturn.ports.tool import ToolResult


def result_of(bench):
    [result] = bench.sent[1][-1]["content"]
    return result


@pytest.mark.parametrize("error", [ValueError("no such luck"), ToolFault("no such luck"), KeyError("no such luck")])
async def test_a_tool_that_raises_returns_an_error_result_in_its_tag(bench, error):
    @tool
    async def fail() -> str:
        """Fails."""
        raise error

    bench.model(call("fail"), text("I see."))

    run = await bench.run(tools=[fail], allowed_tools=["fail"])

    assert run.reason is Reason.COMPLETED
    assert run.transitions == ["next_turn"]
    result = result_of(bench)
    assert result["is_error"]
    assert result["content"].startswith("<tool_use_error>")
    assert result["content"].endswith("</tool_use_error>")
    assert "no such luck" in result["content"]
    assert [ended.is_error for ended in run.of("tool_end")] == [True]


async def test_an_unknown_tool_is_named_and_the_known_ones_are_listed(bench):
    bench.model(call("Teleport", {"to": "Mars"}), text("Then not."))

    run = await bench.run()

    assert run.reason is Reason.COMPLETED
    result = result_of(bench)
    assert result["is_error"]
    assert "Teleport" in result["content"]
    assert "Read" in result["content"]
    assert run.of("tool_start") == []
    [ended] = run.of("tool_end")
    assert (ended.began, ended.call_line) == (False, "")


async def test_an_input_that_does_not_fit_names_the_field(bench):
    bench.model(call("Read", {"path": "a.txt"}), text("I see."))

    await bench.run()

    assert result_of(bench)["is_error"]
    assert "file_path" in result_of(bench)["content"]


async def test_broken_input_is_an_error_and_never_guessed(bench):
    path = bench.folder / "a.txt"
    broken = Call(name="Write", input={"file_path": str(path), "content": "x"}, partial=20)
    bench.model(say(broken, stop_reason="tool_use", verbatim=True), text("I see."))

    run = await bench.run(permission_mode="acceptEdits")

    assert run.reason is Reason.COMPLETED
    assert result_of(bench)["is_error"]
    assert not path.exists()


async def test_an_id_that_was_used_before_is_replaced(bench):
    twice = call("Glob", {"pattern": "*"}, call_id="toolu_same")
    bench.model(twice, twice, text("Done."))
    engine = bench.engine()

    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    ids = [use.id for message in engine.transcript for use in message.uses]
    assert ids[0] == "toolu_same"
    assert len(set(ids)) == 2
    bench.assert_settled(engine)


async def test_one_failing_call_does_not_touch_the_others(bench):
    (bench.folder / "a.txt").write_text("alpha\n")
    bench.model(
        say(
            call("Read", {"file_path": str(bench.folder / "gone.txt")}),
            call("Read", {"file_path": str(bench.folder / "a.txt")}),
        ),
        text("Done."),
    )

    await bench.run()

    assert [block.get("is_error", False) for block in bench.sent[1][-1]["content"]] == [True, False]


async def test_a_tool_that_cancels_itself_ends_neither_the_loop_nor_its_neighbours(bench):
    @tool
    async def give_up() -> str:
        """Gives up."""
        raise asyncio.CancelledError

    bench.model(say(call("give_up"), call("Glob", {"pattern": "*"})), text("I see."))
    engine = bench.engine(tools=[give_up], allowed_tools=["give_up"])

    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    assert [block.get("is_error", False) for block in bench.sent[1][-1]["content"]] == [True, False]
    bench.assert_settled(engine)


def whole_of(note):
    return Path(note.partition("The whole result is in ")[2].partition(";")[0]).read_text()


async def test_a_result_beyond_the_limit_of_its_tool_shows_its_ends_and_names_the_file_that_has_it_all(bench):
    @tool(reads_only=True, result_limit=100)
    async def chatter() -> str:
        """Talks."""
        return "a" * 500 + "z" * 500

    bench.model(call("chatter"), text("I see."))

    await bench.run(tools=[chatter], allowed_tools=["chatter"])

    head, note, tail = result_of(bench)["content"].split("\n")
    assert (head, tail) == ("a" * 60, "z" * 40)
    assert whole_of(note) == "a" * 500 + "z" * 500


@pytest.mark.parametrize("content", [object(), 7, ["no block"], [{"type": "text", "text": object()}]])
async def test_a_result_that_cannot_be_sent_is_an_error_that_says_so(bench, content):
    @tool
    async def odd() -> ToolResult:
        """Answers with something else."""
        return ToolResult(content=content)

    bench.model(call("odd"), text("I see."))

    run = await bench.run(tools=[odd], allowed_tools=["odd"])

    assert run.reason is Reason.COMPLETED
    assert result_of(bench)["is_error"]
    assert "interrupted" not in result_of(bench)["content"]


async def test_a_tool_that_cannot_describe_its_call_returns_an_error_and_does_not_run(bench):
    ran = []

    def describe(call):
        raise KeyError("no words")

    @tool(line=describe)
    async def act() -> str:
        """Acts."""
        ran.append(1)
        return "done"

    bench.model(call("act"), text("I see."))

    run = await bench.run(tools=[act], allowed_tools=["act"])

    assert run.reason is Reason.COMPLETED
    assert "no words" in result_of(bench)["content"]
    assert ran == []

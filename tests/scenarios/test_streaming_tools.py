"""Tools start while the model still streams; readers run together, writers alone, results stand in order."""

import asyncio

import pytest

from everturn import tool
from everturn.core.state import Reason
from everturn.modelserver import call, calls, hold, say, text
from everturn.ports.tool import ToolContext

FIRST_BLOCK = 6


async def test_the_effect_of_a_call_is_there_before_the_stream_ends(bench):
    path = bench.folder / "a.txt"
    answer = say(call("Write", {"file_path": str(path), "content": "early"}), "And there it is.")
    bench.model(hold(answer, after=FIRST_BLOCK), text("Done."), chunk=1_000)
    seen = []

    def watch(event):
        if event.__struct_config__.tag == "tool_end":
            seen.append(path.read_text())
            bench.server.release()

    engine = bench.engine(permission_mode="acceptEdits")
    run = await bench.go_on(engine, on_event=watch)

    assert seen == ["early"]
    assert run.kinds.index("tool_end") < run.kinds.index("assistant")
    assert run.reason is Reason.COMPLETED


async def test_in_batch_mode_calls_start_after_the_answer(bench):
    path = bench.folder / "a.txt"
    bench.model(say(call("Write", {"file_path": str(path), "content": "late"}), "Soon."), text("Done."))

    run = await bench.run(permission_mode="acceptEdits", streaming_tools=False)

    assert run.kinds.index("assistant") < run.kinds.index("tool_start")
    assert path.read_text() == "late"


@pytest.mark.parametrize("streaming", [True, False])
async def test_readers_run_together_and_their_results_stand_in_the_order_of_the_calls(bench, streaming):
    arrived = asyncio.Barrier(3)
    ended = []

    @tool(reads_only=True)
    async def look(place: int) -> str:
        """Looks."""
        async with asyncio.timeout(60):
            await arrived.wait()
        for _ in range(3 - place):
            await asyncio.sleep(0)
        ended.append(place)
        return f"saw {place}"

    bench.model(calls(*(("look", {"place": n}) for n in range(3))), text("Done."))

    await bench.run(tools=[look], allowed_tools=["look"], streaming_tools=streaming)

    assert ended == [2, 1, 0]
    assert [block["content"] for block in bench.sent[1][-1]["content"]] == ["saw 0", "saw 1", "saw 2"]


async def test_writers_run_alone_and_between_what_stands_around_them(bench):
    at_work, log = set(), []

    async def work(name):
        at_work.add(name)
        log.append(("start", name, len(at_work)))
        for _ in range(3):
            await asyncio.sleep(0)
        at_work.discard(name)
        log.append(("end", name, len(at_work)))
        return name

    @tool(reads_only=True)
    async def look(name: str) -> str:
        """Looks."""
        return await work(name)

    @tool
    async def change(name: str) -> str:
        """Changes."""
        return await work(name)

    order = [("look", "a"), ("look", "b"), ("change", "c"), ("change", "d"), ("look", "e")]
    bench.model(calls(*((kind, {"name": name}) for kind, name in order)), text("Done."))

    await bench.run(tools=[look, change], allowed_tools=["look", "change"])

    starts = [name for what, name, _ in log if what == "start"]
    assert starts == ["a", "b", "c", "d", "e"]
    assert [count for what, name, count in log if what == "start" and name in "cd"] == [1, 1]
    assert log.index(("start", "e", 1)) > log.index(("end", "d", 0))


async def test_no_more_run_at_once_than_the_limit_says(bench):
    at_work, most = set(), []

    @tool(reads_only=True)
    async def look(place: int) -> str:
        """Looks."""
        at_work.add(place)
        most.append(len(at_work))
        for _ in range(5):
            await asyncio.sleep(0)
        at_work.discard(place)
        return "seen"

    bench.model(calls(*(("look", {"place": n}) for n in range(6))), text("Done."))

    await bench.run(tools=[look], allowed_tools=["look"], limits={"tool_concurrency": 2})

    assert max(most) == 2


async def test_progress_is_shown_between_start_and_end(bench):
    @tool
    async def build(context: ToolContext) -> str:
        """Builds."""
        context.progress("half")
        context.progress("all")
        return "built"

    bench.model(call("build"), text("Done."))

    run = await bench.run(tools=[build], allowed_tools=["build"])

    shown = [kind for kind in run.kinds if kind.startswith("tool_")]
    assert shown == ["tool_start", "tool_progress", "tool_progress", "tool_end"]
    assert [progress.text for progress in run.of("tool_progress")] == ["half", "all"]


async def test_the_output_of_bash_is_shown_as_it_comes(bench):
    bench.model(call("Bash", {"command": "echo one; echo two"}), text("Done."))

    run = await bench.run(permission_mode="bypassPermissions")

    assert "".join(progress.text for progress in run.of("tool_progress")) == "one\ntwo\n"
    [result] = bench.sent[1][-1]["content"]
    assert result["content"] == "one\ntwo"

"""The process dies while a call with side effects runs: the resumed session says that its outcome is unknown."""

import asyncio
import sys

import pytest

from everturn.core.messages import Kind
from everturn.core.state import Reason
from everturn.modelserver import call, hold, say, text

PROGRAM = """
import asyncio, sys
from everturn import Engine, Options

async def main(url, folder, home):
    options = Options.of(
        base_url=url, cwd=folder, home=home, session_id="s", permission_mode="bypassPermissions", **%s
    )
    async with Engine(options, env={"ANTHROPIC_API_KEY": "made-up"}) as engine:
        async for event in engine.submit("Go."):
            print(event.__struct_config__.tag, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


async def kill_after(bench, *kinds, **options):
    """Runs a session in a process of its own and kills it once events of all these kinds have come."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PROGRAM % (options,),
        bench.server.url,
        bench.folder,
        bench.home,
        stdout=asyncio.subprocess.PIPE,
    )
    missing = set(kinds)
    async with asyncio.timeout(120):
        while missing:
            line = await process.stdout.readline()
            assert line, "the program ended too soon"
            missing.discard(line.decode().strip())
        process.kill()
        await process.communicate()


@pytest.fixture
def brief(bench):
    """A command that says that it runs, and ends soon after its session died."""
    return f"echo started; touch began; until [ -e {bench.folder}/end ]; do sleep 0.01; done"


async def test_its_result_is_an_error_that_says_so(bench, brief):
    bench.model(say("Running.", call("Bash", {"command": brief})), text("never"))
    await kill_after(bench, "assistant", "tool_progress")
    (bench.folder / "end").touch()

    engine = bench.engine(resume="s")
    bench.model(text("I will check."))
    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    result, _mode, prompt = bench.sent[-1][-1]["content"]
    assert result["type"] == "tool_result"
    assert result["is_error"]
    assert "unknown" in result["content"]
    assert brief in result["content"]
    assert prompt["text"] == "Go on."
    bench.assert_settled(engine)


async def test_a_call_whose_answer_was_still_streaming_is_told_of(bench, brief):
    bench.model(hold(say(call("Bash", {"command": brief}), "More."), after=6), chunk=1_000)
    await kill_after(bench, "tool_progress")
    (bench.folder / "end").touch()

    engine = bench.engine(resume="s")
    bench.model(text("I will check."))
    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    assert [message.kind for message in engine.transcript[:2]] == [Kind.PROMPT, Kind.HIDDEN]
    assert brief in str(bench.sent[-1])


async def test_a_call_that_had_ended_before_its_answer_was_whole_is_told_of_too(bench):
    path = bench.folder / "a.txt"
    write = call("Write", {"file_path": str(path), "content": "x"})
    bench.model(hold(say(write, "More."), after=6), chunk=1_000)
    await kill_after(bench, "tool_end")

    engine = bench.engine(resume="s")
    bench.model(text("I will check."))
    await bench.go_on(engine)

    assert path.exists()
    assert str(path) in str(bench.sent[-1])


@pytest.mark.parametrize("held", [True, False])
async def test_it_is_said_once(bench, brief, held):
    answer = say(call("Bash", {"command": brief}), "More.")
    bench.model(hold(answer, after=6) if held else answer, chunk=1_000)
    await kill_after(bench, "tool_progress" if held else "assistant", "tool_progress")
    (bench.folder / "end").touch()
    first = bench.engine(resume="s")
    bench.model(text("I will check."))
    await bench.go_on(first)
    await first.aclose()

    second = bench.engine(resume="s")

    assert second.transcript == first.transcript
    bench.assert_settled(second)


async def test_a_call_whose_turn_had_not_come_is_said_not_to_have_run(bench, brief):
    """Its intent was on the disk already, with that of the call before it."""
    path = bench.folder / "a.txt"
    write = call("Write", {"file_path": str(path), "content": "x"})
    bench.model(say(call("Bash", {"command": brief}), write), text("never"))
    await kill_after(bench, "assistant", "tool_progress", streaming_tools=False)
    (bench.folder / "end").touch()

    engine = bench.engine(resume="s")
    bench.model(text("I will check."))
    await bench.go_on(engine)

    first, second, *_ = bench.sent[-1][-1]["content"]
    assert "unknown" in first["content"]
    assert "did not run" in second["content"]
    assert not path.exists()
    bench.assert_settled(engine)

"""Stream-json tells each thing when it has happened: blocks of an answer, results of calls, and what was taken back."""

import asyncio
import io
import json

from tests.frontends.golden import lines_of
from tests.frontends.readers import run_piped

from everturn import tool
from everturn.core.messages import derive_id
from everturn.frontends.headless.run import run_headless
from everturn.modelserver import call, calls, cut, hold, say, text, thinking, truncated


class Output(io.BytesIO):
    """Calls back for each line; what waits for a line that never comes is ended after a minute."""

    def __init__(self, on_line):
        super().__init__()
        self._on_line = on_line

    def write(self, data):
        for line in data.splitlines():
            self._on_line(json.loads(line))
        return super().write(data)


async def stream(engine, on_line=print, **options):
    out = Output(on_line)
    async with asyncio.timeout(60):
        code = await run_headless(engine, "Do it.", out=out, err=None, output_format="stream-json", **options)
    return code, lines_of(out.getvalue().decode())


def blocks_of(lines):
    return [line["message"]["content"][0] for line in lines if line["type"] == "assistant"]


async def test_a_result_is_told_when_its_call_ends_and_not_with_the_last_of_the_round(bench):
    first_was_told = asyncio.Event()

    @tool(name="Quick", reads_only=True)
    def quick() -> str:
        """Ends at once."""
        return "quick"

    @tool(name="Slow", reads_only=True)
    async def slow() -> str:
        """Ends when the other result was read."""
        await first_was_told.wait()
        return "slow"

    bench.model(calls(("Slow", {}), ("Quick", {})), text("Done."))

    def read(line):
        if line["type"] == "user" and "quick" in json.dumps(line):
            first_was_told.set()

    engine = bench.engine(tools=[quick, slow], allowed_tools=["Quick", "Slow"])
    code, lines = await stream(engine, read)

    results = [line for line in lines if line["type"] == "user"]
    assert code == 0
    assert [result["message"]["content"][0]["content"] for result in results] == ["quick", "slow"]
    [carrier] = [message.id for message in engine.transcript if message.results]
    assert [result["uuid"] for result in results] == [derive_id(carrier, 1), carrier]


async def test_each_block_is_told_when_it_is_finished(bench):
    """The second block begins only when the first was read."""
    bench.model(hold(say("First.", "Second."), after=5))

    def read(line):
        if line["type"] == "assistant":
            bench.server.release()

    code, lines = await stream(bench.engine(), read)

    first, second = [line for line in lines if line["type"] == "assistant"]
    assert code == 0
    assert blocks_of(lines) == [{"type": "text", "text": "First."}, {"type": "text", "text": "Second."}]
    assert first["message"]["id"] == second["message"]["id"]
    assert [line["message"]["stop_reason"] for line in (first, second)] == [None, "end_turn"]


async def test_blocks_calls_and_results_come_in_their_order(bench):
    (bench.folder / "a.txt").write_text("hello\n")
    look = say(thinking("I look."), "Reading.", call("Read", {"file_path": "a.txt"}), call("Glob", {"pattern": "*"}))
    bench.model(look, text("Done."))

    _, lines = await stream(bench.engine())

    told = [line["message"]["content"][0] for line in lines if line["type"] in {"assistant", "user"}]
    kinds = [block["type"] for block in told]
    assert kinds[:3] == ["thinking", "text", "tool_use"]
    assert (kinds.count("tool_use"), kinds.count("tool_result"), kinds[-1]) == (2, 2, "text")
    for use in (block for block in told if block["type"] == "tool_use"):
        [result] = [block for block in told if block.get("tool_use_id") == use["id"]]
        assert told.index(use) < told.index(result)


async def test_the_message_is_the_apis_and_the_uuid_is_ours(bench):
    bench.model(say(thinking("Well."), "Hello."))
    engine = bench.engine()

    _, lines = await stream(engine)

    answers = [line for line in lines if line["type"] == "assistant"]
    [ours] = [message for message in engine.transcript if message.role == "assistant"]
    assert {line["message"]["id"] for line in answers} == {ours.answer.api_id}
    assert ours.answer.api_id.startswith("msg_")
    assert [line["uuid"] for line in answers] == [ours.id, derive_id(ours.id, 1)]


async def test_a_session_is_gone_on_with_at_any_line_of_an_answer(bench):
    bench.model(say(thinking("Well."), "Hello."), text("Later."))
    engine = bench.engine()
    _, lines = await stream(engine)
    await stream(engine)
    last = [line["uuid"] for line in lines if line["type"] == "assistant"][-1]
    await engine.aclose()

    resumed = bench.engine(resume=engine.session_id, resume_at=last)

    assert [message.text for message in resumed.transcript] == ["Do it.", "Hello."]


async def test_what_was_told_of_an_answer_that_broke_off_is_taken_back_by_its_uuids(bench):
    (bench.folder / "a.txt").write_text("hello\n")
    look = say("I look.", call("Read", {"file_path": "a.txt"}), "And then")
    bench.model(cut(hold(look, after=10), after=12), text("Done."))

    def read(line):
        if line["type"] == "user":
            bench.server.release()

    _, lines = await stream(bench.engine(), read)

    [tombstone] = [line for line in lines if line.get("subtype") == "tombstone"]
    before = lines[: lines.index(tombstone)]
    told = [line for line in before if line["type"] in {"assistant", "user"}]
    assert [line["uuid"] for line in told] == tombstone["uuids"]
    assert {line["message"]["id"] for line in told if line["type"] == "assistant"} == {tombstone["message_id"]}
    assert [line["type"] for line in told] == ["assistant", "assistant", "user"]
    assert blocks_of(lines[len(before) :]) == [{"type": "text", "text": "Done."}]


async def test_an_answer_that_the_cap_cut_off_and_that_is_made_again_is_told_once(bench):
    bench.model(truncated("Half of"), text("Half of it, and the rest."))

    _, lines = await stream(bench.engine())

    assert blocks_of(lines) == [{"type": "text", "text": "Half of it, and the rest."}]
    assert [line["uuids"] for line in lines if line.get("subtype") == "tombstone"] == [[]]


async def test_a_block_that_was_kept_in_another_form_is_told_again(bench):
    """What the resumed answer repeats is removed from it; its first block was told before that was known."""
    words = "These are words that stand at the end of what came before the cut. " * 3
    bench.model(
        truncated(words),
        say(f"{words}And this is new.", call("Glob", {"pattern": "*"})),
        text("Done."),
    )

    _, lines = await stream(bench.engine(escalate=False))

    gone = {uuid for line in lines if line.get("subtype") == "tombstone" for uuid in line["uuids"]}
    kept = [line["message"]["content"][0] for line in lines if line["type"] == "assistant" and line["uuid"] not in gone]
    engine_kept = [
        json.loads(block.raw) for message in bench.engines[0].transcript if message.answer for block in message.blocks
    ]
    assert kept == engine_kept
    assert len({line["uuid"] for line in lines}) == len(lines)


async def test_the_start_of_each_request_is_told(bench):
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))

    _, lines = await stream(bench.engine())

    told = [(line["turn"], line["model"]) for line in lines if line.get("subtype") == "request_start"]
    assert told == [(1, "claude-sonnet-5"), (2, "claude-sonnet-5")]


async def test_a_break_of_the_cache_is_told_with_its_cause_and_its_price(bench):
    long = "Some words that fill the conversation. " * 200
    bench.model(bench.summary(), text(long), text(long), text("On."))
    engine = bench.engine()
    await stream(engine)
    await stream(engine)
    async for _ in engine.compact():
        pass

    _, written, _ = await run_piped(engine, output_format="stream-json")

    [told] = [line for line in lines_of(written) if line.get("subtype") == "cache_break"]
    [kept] = [record for record in bench.records(engine.session_id) if record["type"] == "cache_break"]
    names = ("segment", "cause", "kept_messages", "tokens", "cost_usd", "turn")
    assert [told[name] for name in names] == [
        kept.get(name, 0) for name in ("segment", "cause", "kept", "tokens", "usd", "turn")
    ]

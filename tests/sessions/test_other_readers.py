"""Other people's programs read our sessions and come to our own numbers; what only we understand does not disturb them."""

import pytest
from tests.sessions.readers import (
    ask_ccusage,
    ask_claude_code_log,
    find_agent_sdk,
    find_ccusage,
    find_claude_code_log,
    list_with_agent_sdk,
    render_markdown,
)

from everturn import Engine
from everturn.core.budget import Usage
from everturn.core.messages import Kind
from everturn.core.records import UsageCharged
from everturn.modelserver import call, cut, error, overloaded, say, text, thinking, too_long, truncated
from everturn.sessions.places import list_session_files
from everturn.sessions.session_files import load_session, stream_told

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL + "A" * 8_000}}
SKIPPED = "unrecognized message type 'everturn' - skipping"


async def work(bench):
    """Tools, and nothing that goes wrong: every call ends in an answer that is kept."""
    write = call("Write", {"file_path": str(bench.folder / "b.txt"), "content": "é\nline"})
    bench.model(
        say(thinking("I should write."), "Writing.", write), say("Done.", call("Bash", {"command": "true"})), "So."
    )
    engine = bench.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine, "Write a file.")
    return engine


async def struggle(bench):
    """Attempts that were thrown away, a summary, another model, media, words of ours to the model."""
    engine = bench.engine(permission_mode="bypassPermissions", fallback_models=["claude-opus-5"])
    bench.model(cut("Hel"), call("Glob", {"pattern": "*"}), truncated("Half "), text("of it. " * 60))
    engine.enqueue("Use tabs.")
    await bench.go_on(engine, "First prompt.")
    bench.model(text("A picture."))
    await bench.go_on(engine, [IMAGE, {"type": "text", "text": "What is it?"}])
    bench.model(too_long(), text("After it."), bench.summary())
    await bench.go_on(engine, "Compact, please.")
    bench.model(overloaded(), overloaded(), overloaded(), call("Glob", {"pattern": "*"}), text("Another model."))
    await bench.go_on(engine, "Switch.")
    bench.model(error(400))
    await bench.go_on(engine, "Fail.")
    await engine.aclose()
    resumed = bench.engine(resume=engine.session_id)
    bench.model(text("Resumed."))
    await bench.go_on(resumed, "Last prompt.")
    return resumed


async def delegate(bench):
    """An engine that works for another: the charge stands in both journals."""
    engine = bench.engine()
    bench.model(text("Alone."))
    await bench.go_on(engine, "First.")
    helper = Engine(bench.options(), env=bench.env, ledger=engine.ledger.child("helper"))
    bench.model(call("Glob", {"pattern": "*"}), text("Helped."))
    async for _ in helper.submit("Help."):
        pass
    await helper.aclose()
    return engine


def tokens(usage):
    return [usage.input, usage.output, usage.cache_write, usage.cache_read]


@pytest.mark.needs("Node")
async def test_ccusage_counts_a_call_once_that_stands_in_two_journals(bench):
    program = find_ccusage()
    engine = await delegate(bench)
    told = ask_ccusage(program, bench.home)
    assert len(list(list_session_files(bench.home))) == 2
    assert told["totals"]["totalCost"] == pytest.approx(engine.total_usd)


@pytest.mark.needs("Node")
@pytest.mark.parametrize("story", [work, struggle])
async def test_ccusage_counts_every_call_once_and_at_our_price(bench, story):
    program = find_ccusage()
    engine = await story(bench)
    replay, _ = load_session(bench.session_file(engine.session_id))

    told = ask_ccusage(program, bench.home)

    [session] = told["sessions"]
    counters = ("inputTokens", "outputTokens", "cacheCreationTokens", "cacheReadTokens")
    assert session["sessionId"] == engine.session_id
    assert [told["totals"][name] for name in counters] == tokens(replay.usage)
    assert told["totals"]["totalCost"] == pytest.approx(engine.total_usd)
    assert {row["modelName"]: [row[name] for name in counters] for row in session["modelBreakdowns"]} == {
        model: tokens(account.usage) for model, account in replay.models.items()
    }


async def test_claude_code_log_sees_every_message_and_every_token(bench):
    python = find_claude_code_log()
    engine = await work(bench)
    path = bench.session_file(engine.session_id)
    replay, _ = load_session(path)

    said, figures = ask_claude_code_log(python, path)

    assert [line.rpartition(": ")[2] for line in said] == [SKIPPED]
    assert figures == {
        "messages": len(engine.transcript),
        "preview": "Write a file.",
        "tokens": tokens(replay.usage),
    }


async def test_claude_code_log_takes_a_session_in_which_everything_happened(bench):
    """It counts what was kept: attempts that were thrown away and summaries cost, too, but are no messages."""
    python = find_claude_code_log()
    engine = await struggle(bench)
    path = bench.session_file(engine.session_id)
    answers = [message.answer.usage for message in engine.transcript if message.answer is not None]

    said, figures = ask_claude_code_log(python, path)

    assert [line.rpartition(": ")[2] for line in said] == [SKIPPED]
    assert figures == {
        "messages": len(engine.transcript),
        "preview": "First prompt.",
        "tokens": [sum(column) for column in zip(*map(tokens, answers), strict=True)],
    }
    kept = {message.id for message in engine.transcript if message.answer is not None}
    charges = [told.record for told, _ in stream_told(path) if isinstance(told.record, UsageCharged)]
    others = [charge.usage for charge in charges if charge.request_id not in kept]
    replay, _ = load_session(path)
    # What it does not see is exactly what no answer in the file stands for.
    assert {charge.purpose for charge in charges if charge.request_id not in kept} == {"main", "summary"}
    assert [
        seen + unseen for seen, unseen in zip(figures["tokens"], tokens(sum(others, Usage())), strict=True)
    ] == tokens(replay.usage)


async def test_what_claude_code_log_shows_as_the_users_words_are_the_users_words(bench, tmp_path):
    python = find_claude_code_log()
    engine = await struggle(bench)

    page = render_markdown(python, bench.session_file(engine.session_id), tmp_path / "page.md")

    shown = [line.partition("User: *")[2].rstrip("*") for line in page.splitlines() if "User: *" in line]
    prompts = [message.text for message in engine.transcript if message.kind is Kind.PROMPT]
    assert shown == prompts


@pytest.mark.parametrize(("story", "prompt"), [(work, "Write a file."), (struggle, "First prompt.")])
async def test_the_agent_sdk_lists_our_sessions_and_reads_them(bench, story, prompt):
    python = find_agent_sdk()
    engine = await story(bench)

    [[session, folder, first, messages]] = list_with_agent_sdk(python, bench.home)

    assert (session, folder, first) == (engine.session_id, str(bench.folder), prompt)
    assert messages
    assert set(messages) <= {message.id for message in engine.transcript}

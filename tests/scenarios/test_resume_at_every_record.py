"""A session that was killed right after any of its records is taken up again, and the API takes what it sends."""

from contextlib import aclosing

import pytest

from everturn.core.records import Record
from everturn.core.state import Reason
from everturn.modelserver import call, cut, error, overloaded, say, text, thinking, too_long

UNSIGNED = error(400, message="messages.1.content.0: Invalid `signature` in `thinking` block")
OPTIONS = {
    "permission_mode": "bypassPermissions",
    "disallowed_tools": ["Bash(true)"],
    "fallback_models": ["claude-opus-5"],
    "work_budget": 1,
    "session_id": "rich",
    "limits": {
        "message_results": 3_000,
        "result_preview": 2_500,
        "clear_share": 0,
        "clear_gain": 0,
        "clear_keeps": 1,
        "clear_small": 0,
    },
}
KINDS = {str(kind.__struct_config__.tag) for kind in Record.__subclasses__()}


async def play_rich(bench):
    """Every kind of record; the lines of the session's file."""
    path, long = bench.folder / "a.txt", bench.folder / "long.txt"
    long.write_text("a long line\n" * 500)
    todo = {"content": "Do it", "status": "pending", "activeForm": "Doing it"}
    bench.model(
        cut("Hel"),
        say(thinking("I see."), call("TodoWrite", {"todos": [todo]}, call_id="toolu_1")),
        UNSIGNED,
        say(call("Write", {"file_path": str(path), "content": "x"}, call_id="toolu_2"), look(path, 3)),
        say(look(long, 8), call("Bash", {"command": "true"}, call_id="toolu_5")),
        call("Grep", {"pattern": "a", "path": str(long), "output_mode": "content"}, call_id="toolu_9"),
        text("Done. " * 40),
        *(too_long(), overloaded(), overloaded(), overloaded(), look(path, 4), text("End.")),
        bench.summary(),
    )
    rules = iter(("Use tabs.", "Use blanks."))
    engine = bench.engine(user_context=lambda: {"rules": next(rules)}, **OPTIONS)
    engine.enqueue("Use tabs.")

    def switch(event):
        if event.__struct_config__.tag == "transition":
            engine.policy.mode = "acceptEdits"

    await bench.go_on(engine, "First.", on_event=switch)
    engine.collapses.stage(engine.transcript[0].id, engine.transcript[1].id, "It began.")
    await bench.go_on(engine, "Second.")
    last = engine.transcript[-3].id
    await engine.aclose()
    await bench.engine(resume="rich", resume_at=last, permission_mode="acceptEdits").aclose()
    return bench.session_file("rich").read_bytes().splitlines(keepends=True)


def look(path, number):
    return call("Read", {"file_path": str(path)}, call_id=f"toolu_{number}")


@pytest.mark.parametrize("says_more", [True, False], ids=["a prompt", "no prompt"])
async def test_it_goes_on(bench, says_more):
    lines = await play_rich(bench)
    file, hit = bench.session_file("rich"), set()
    bench.engines.clear()
    for end in range(1, len(lines) + 1):
        file.write_bytes(b"".join(lines[:end]))
        hit.add(bench.records("rich")[-1]["type"])
        engine = bench.engine(resume="rich", fallback_models=["claude-opus-5"])
        bench.model(text("Went on."), bench.summary())
        if not says_more and not engine.is_unfinished:
            await engine.aclose()
            continue
        async with aclosing(engine.submit("Go on.") if says_more else engine.resume_query()) as events:
            *_, result = [event async for event in events]
        await engine.aclose()

        assert (result.reason, result.text) == (Reason.COMPLETED, "Went on.")
        bench.assert_settled(engine)
    assert hit == KINDS

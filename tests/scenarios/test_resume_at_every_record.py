"""A session that was killed right after any of its records is taken up again, and the API takes what it sends."""

from contextlib import aclosing

import pytest

from everturn.core.records import Record
from everturn.core.state import Reason
from everturn.modelserver import call, cut, error, overloaded, say, text, thinking, too_long

UNSIGNED = error(400, message="messages.1.content.0: Invalid `signature` in `thinking` block")
OPTIONS = {
    "permission_mode": "bypassPermissions",
    "allowed_tools": ["Bash(pwd)"],
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
    await engine.set_goal("It works.", "pwd")
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

        assert result.reason is Reason.COMPLETED
        # Where the answer was there and only the goal's command was not through, the model is not asked again.
        assert result.text == "Went on." or (result.goal == "met" and not says_more)
        bench.assert_settled(engine)
    assert hit == KINDS


class StopsOnce:
    """A stop hook that sends the model back until it has said the word."""

    async def __call__(self, turn):
        return None if "checked" in turn.text else "Run the checks first."


@pytest.mark.parametrize(
    ("options", "answers", "result"),
    [
        ({"hooks": {"stop": [StopsOnce()]}}, ["I am done.", "All is checked."], "All is checked."),
        (
            {"work_budget": 2_000},
            [text("A part.", usage={"output_tokens": 900}), text("All of it.", usage={"output_tokens": 2_000})],
            "All of it.",
        ),
    ],
    ids=["a stop hook", "a work budget"],
)
async def test_a_query_that_was_to_go_on_is_never_taken_for_finished(bench, options, answers, result):
    """Cut after any record from the transition on, the session goes on to the answer that it would have had."""
    bench.model(*answers)
    engine = bench.engine(session_id="cut", **options)
    run = await bench.go_on(engine)
    await engine.aclose()
    assert len(run.transitions) == 1
    lines = bench.session_file("cut").read_bytes().splitlines(keepends=True)
    kinds = [record["type"] for record in bench.records("cut")]
    bench.engines.clear()
    unfinished = []

    for end in range(kinds.index("transition") + 1, len(lines) + 1):
        bench.session_file("cut").write_bytes(b"".join(lines[:end]))
        engine = bench.engine(resume="cut", **options)
        unfinished.append(engine.is_unfinished)
        bench.model(answers[-1])
        if engine.is_unfinished:
            async with aclosing(engine.resume_query()) as events:
                *_, last = [event async for event in events]
            assert (last.reason, last.text) == (Reason.COMPLETED, result)
            assert bench.sent[-1][-1]["role"] == "user"
        await engine.aclose()

    ended = kinds[kinds.index("transition") :].index("message") + 1
    assert all(unfinished[:ended])
    assert not unfinished[-1]

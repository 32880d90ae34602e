"""A session that is cut off in every turn and taken up again sends, byte for byte, what it would have sent in one piece."""

import re
from contextlib import aclosing
from itertools import groupby

import pytest

from everturn import tool
from everturn.core.state import Reason
from everturn.modelserver import call as play_call
from everturn.modelserver import error, hold, overloaded, say, text, thinking, too_long, truncated

SMALL = [{"id": "claude-sonnet-5", "window": 20_000, "max_output": 2_000}]
SCRATCH = re.compile(rb"everturn-scratch-[\w-]+")
UNSIGNED = error(400, message="messages.1.content.0: Invalid `signature` in `thinking` block")


@tool(name="Weather", reads_only=True, deferred=True)
async def weather(city: str) -> str:
    """Says what the weather is like."""
    return f"It rains in {city}."


class Call:
    """Numbers the calls, so that both sessions use the same ids."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, name, **fields):
        self.number += 1
        return play_call(name, fields, call_id=f"toolu_{self.number}")


def files(bench):
    """The folder as it is at the beginning."""
    (bench.folder / "a.txt").write_text("alpha\nbeta\n")
    (bench.folder / "b.txt").write_text("gamma\n" * 3_000)
    (bench.folder / "c.txt").unlink(missing_ok=True)


def reading(bench):
    """Files read, read again, changed by ourselves and behind our back."""
    call, a, b = Call(), str(bench.folder / "a.txt"), str(bench.folder / "b.txt")
    return [
        (
            "One.",
            [
                say("Let me see.", call("Read", file_path=a), call("Read", file_path=b, limit=5)),
                call("Read", file_path=a),
                call("Bash", command=f"echo delta >> {b}"),
                call("Write", file_path=b, content="too early"),
                call("Edit", file_path=a, old_string="alpha", new_string="omega"),
                call("Bash", command=f"echo delta >> {a}; echo delta >> {b}"),
                # One file: two that were written in the same moment come in either order.
                call("Glob", pattern="a*.txt"),
                text("Done."),
            ],
        ),
        (
            "Two.",
            [
                call("Edit", file_path=a, old_string="omega", new_string="alpha"),
                call("Read", file_path=a),
                call("Edit", file_path=a, old_string="omega", new_string="alpha"),
                call("Write", file_path=str(bench.folder / "c.txt"), content="new"),
                text("Done."),
            ],
        ),
    ]


def noting(_):
    """Tools that are found, a list of tasks, thoughts."""
    call = Call()
    todo = {"content": "Look", "status": "in_progress", "activeForm": "Looking"}
    return [
        (
            "One.",
            [
                say(thinking("Hm."), call("TodoWrite", todos=[todo])),
                say(thinking("Aha."), call("ToolSearch", query="select:Weather")),
                say(thinking("So."), call("Weather", city="Ulm")),
                text("It rains."),
            ],
        ),
        ("Two.", [call("TodoWrite", todos=[{**todo, "status": "completed"}]), text("Done.")]),
    ]


def mending(_):
    """Thoughts whose signature the API refuses."""
    call = Call()
    return [
        (
            "One.",
            [
                say(thinking("Hm."), call("Glob", pattern="*")),
                [UNSIGNED, say(thinking("Aha."), call("Glob", pattern="*"))],
                call("Glob", pattern="*"),
                text("Done."),
            ],
        ),
        ("Two.", [text("Done.")]),
    ]


def falling_back(_):
    call = Call()
    return [
        (
            "One.",
            [
                say(thinking("Hm."), call("Glob", pattern="*")),
                [overloaded(), overloaded(), overloaded(), call("Glob", pattern="*")],
                text("Done."),
            ],
        ),
        ("Two.", [call("Glob", pattern="*"), text("Done.")]),
    ]


def compacting(bench):
    call, a = Call(), str(bench.folder / "a.txt")
    return [
        ("One.", [call("Read", file_path=a), text("Alpha. " * 50)]),
        ("Two.", [[too_long(), call("Read", file_path=a)], call("Read", file_path=a), text("Beta.")]),
    ]


def filling(bench):
    """What the API counts, and not our estimate, says that a summary is due."""
    call, a = Call(), str(bench.folder / "a.txt")
    counts = {"cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "cache_creation": None}
    return [
        ("One.", [say(call("Read", file_path=a), usage={"input_tokens": 15_000, **counts}), text("Alpha. " * 50)]),
        ("Two.", [say("Beta. " * 50, usage={"input_tokens": 17_000, **counts})]),
        ("Three.", [call("Read", file_path=a), text("Gamma.")]),
    ]


def cut_short(_):
    call = Call()
    return [
        ("One.", [truncated("Half "), truncated("and half "), call("Glob", pattern="*"), text("of it.")]),
        ("Two.", [say(call("Glob", pattern="a"), call("Teleport")), text("Done.")]),
    ]


STORIES = [reading, noting, mending, falling_back, compacting, filling, cut_short]


def flat(answers):
    """An answer, or what goes wrong before it and then the answer."""
    return answers if isinstance(answers, list) else [answers]


async def in_one_piece(bench, story, options):
    engine = bench.engine(**options)
    for prompt, turns in story(bench):
        bench.model(*(answer for turn in turns for answer in flat(turn)), bench.summary())
        assert (await bench.go_on(engine, prompt)).reason is Reason.COMPLETED
    return engine


async def broken_off(bench, story, options):
    """Each process ends in the middle of an answer; the next one begins by asking for that answer again."""
    engine = bench.engine(**options)
    for prompt, turns in story(bench):
        begun, again = engine.submit(prompt), []
        for turn in turns:
            *before, answer = flat(turn)
            bench.model(*again, *before, hold(answer, after=1), bench.summary())
            await leave_at_answer(begun, len(again) + 1)
            await engine.aclose()
            engine = bench.engine(**(options | {"resume": engine.session_id, "model": None}))
            begun, again = engine.resume_query(), [answer]
        bench.model(*again, bench.summary())
        async with aclosing(begun) as events:
            *_, last = [event async for event in events]
        assert last.reason is Reason.COMPLETED
    return engine


async def leave_at_answer(begun, number):
    async with aclosing(begun) as events:
        async for event in events:
            number -= event.__struct_config__.tag == "message_start"
            if not number:
                return


def told(requests):
    """What was sent, each body once however often it was sent in a row; without the session's own temporary folder."""
    return [raw for raw, _ in groupby(SCRATCH.sub(b"", request.raw) for request in requests)]


@pytest.mark.parametrize("story", STORIES, ids=[story.__name__ for story in STORIES])
async def test_every_request_is_what_it_would_have_been(bench, story):
    options = {
        "permission_mode": "bypassPermissions",
        "fallback_models": ["claude-opus-5"],
        "tools": [weather],
        "user_context": {"a": "b"},
        "system_context": {"c": "d"},
        "models": SMALL if story is filling else [],
    }
    files(bench)
    whole = await in_one_piece(bench, story, options)
    expected, begin = told(bench.requests), len(bench.requests)
    files(bench)
    pieces = await broken_off(bench, story, options)

    assert told(bench.requests[begin:]) == expected
    assert [message.blocks for message in pieces.transcript] == [message.blocks for message in whole.transcript]
    assert pieces.notes == whole.notes

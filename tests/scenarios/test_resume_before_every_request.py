"""Killed after what the stages decided was recorded, and before the request was answered: the next process sends that request."""

from contextlib import aclosing

import pytest
from tests.conftest import without_marks

from everturn.core.state import Reason
from everturn.modelserver import call, error, say, text, too_long, when

SMALL = [{"id": "claude-sonnet-5", "window": 20_000, "max_output": 2_000}]
TINY_STEPS = {"clear_share": 0, "clear_gain": 0, "clear_worth": 0, "clear_keeps": 1, "clear_small": 0}
ASIDE = ("Write a summary", "finished stretch")


def reads(bench, count, size=60):
    for number in range(count):
        (bench.folder / f"{number}.txt").write_text(f"Line of file {number}.\n" * size)
    return [call("Read", {"file_path": str(bench.folder / f"{number}.txt")}) for number in range(count)]


def shells(count, size=400):
    return [
        call("Bash", {"command": f"seq {number} {number + size}; echo x > {number}.txt"}) for number in range(count)
    ]


def words(number=1):
    return [text("Some words. " * 60)] * number


def stage_all(engine):
    answers = [message for message in engine.transcript if message.role == "assistant"]
    engine.collapses.stage(answers[0].id, engine.transcript[-2].id, "It was done.")


async def clear_and_collapse(bench, engine, ask):
    bench.model(*reads(bench, 4), *words(), *shells(3), *words())
    await ask(engine, "One.")
    stage_all(engine)
    return await ask(engine, "Two.")


async def compact_and_clear(bench, engine, ask):
    bench.model(*words(), *reads(bench, 3, 20), too_long(), *shells(3), *words(), bench.summary())
    await ask(engine, "One. " * 100)
    return await ask(engine, "Two.")


async def drain_and_compact(bench, engine, ask):
    bench.model(*reads(bench, 3), *words(), too_long(), too_long(), *shells(2), *words(), bench.summary())
    await ask(engine, "One.")
    stage_all(engine)
    return await ask(engine, "Two.")


async def snip_and_clear(bench, engine, ask):
    bench.model(*words(3), *reads(bench, 4), *words(), *shells(4), *words())
    for number in range(4):
        await ask(engine, f"Prompt {number}.")
    return await ask(engine, "The last one.")


async def fail_and_leave_out(bench, engine, ask):
    bench.model(*words(3), too_long(), *shells(2), *words(), bench.summary(error(400)))
    for number in range(3):
        await ask(engine, f"Prompt {number}.")
    return await ask(engine, "The last one.")


async def fill(bench, engine, ask):
    """The server has a window of its own, and everything happens by itself."""
    talk = [say("Some words about it. " * 120, each) for each in shells(70, 120)]
    bench.model(
        *talk, *words(), bench.summary(), when("It was done.", last_user_contains="finished stretch"), window=20_000
    )
    return await ask(engine, "Do it.")


STORIES = {
    clear_and_collapse: ({"limits": TINY_STEPS}, {"microcompact", "collapse"}),
    compact_and_clear: ({"limits": TINY_STEPS}, {"compact", "microcompact"}),
    drain_and_compact: ({"limits": {"clear_share": 1}}, {"collapse", "compact"}),
    snip_and_clear: ({"limits": {**TINY_STEPS, "snip_tokens": 1_500}}, {"snip", "microcompact"}),
    fail_and_leave_out: ({}, {"snip"}),
    fill: ({"models": SMALL}, {"compact"}),
}


class Witness:
    """Keeps the requests of the loop that were answered."""

    def __init__(self, bench):
        self._bench = bench
        self.answered = []

    async def __call__(self, engine, prompt):
        return await self._bench.go_on(engine, prompt, on_event=self._look)

    def _look(self, event):
        if event.__struct_config__.tag == "usage" and event.purpose == "main":
            asked = [
                body for body in self._bench.bodies if not any(mark in str(body["messages"][-1]) for mark in ASIDE)
            ]
            self.answered.append(asked[-1])


def plain(body):
    """Where the cache is to leave an entry may differ: which messages stand as they were, the new process cannot tell."""
    messages = [without_marks(message) for message in body["messages"]]
    return {**body, "messages": messages}


@pytest.mark.parametrize("story", STORIES, ids=[story.__name__ for story in STORIES])
async def test_the_same_request_is_sent(bench, story):
    options, stages = STORIES[story]
    options = {"permission_mode": "bypassPermissions", "streaming_tools": False, **options}
    engine, ask = bench.engine(**options), Witness(bench)
    run = await story(bench, engine, ask)
    await engine.aclose()
    assert run.reason is Reason.COMPLETED
    assert stages <= {event.stage for each in bench.runs for event in each.of("context")}
    file = bench.session_file(engine.session_id)
    lines = file.read_bytes().splitlines(keepends=True)
    ends = [at for at, line in enumerate(lines) if b'"purpose":"main"' in line]
    bench.engines.clear()
    for number, (end, expected) in enumerate(zip(ends, ask.answered, strict=True)):
        file.write_bytes(b"".join(lines[:end]))
        bench.model(*words(), bench.summary())
        again = bench.engine(resume=engine.session_id, **options)
        async with aclosing(again.resume_query()) as events:
            async for _ in events:
                pass
        await again.aclose()
        assert plain(bench.bodies[-1]) == plain(expected), f"request {number}"
    bench.engines.clear()

"""When a session waits for the disk: before side effects and at the end of a query, or as the user wants it."""

import asyncio
from pathlib import Path

import pytest

from everturn import Engine, tool
from everturn.modelserver import call, say, text
from everturn.ports.policy import Ruling, Verdict
from everturn.sessions.disk import LocalDisk
from everturn.testing import FaultyDisk


async def flushes(bench, *answers, on_event=None, **options):
    """How often each of the two queries waited, the first with these answers, the second with a plain one."""
    disk = FaultyDisk(LocalDisk())
    engine = Engine(bench.options(permission_mode="bypassPermissions", **options), env=bench.env, disk=disk)
    found = []
    for script in (answers, (text("Done."),)):
        bench.model(*script)
        before = disk.performed.count("sync")
        await bench.go_on(engine, on_event=on_event)
        found.append(disk.performed.count("sync") - before)
    await engine.aclose()
    return found


def write(bench, name="a.txt"):
    return call("Write", {"file_path": str(bench.folder / name), "content": "x"})


@pytest.mark.parametrize(("policy", "expected"), [("always", [2, 1]), ("end", [1, 1]), ("off", [0, 0])])
async def test_the_policy_says_when(bench, policy, expected):
    assert await flushes(bench, say("Writing.", write(bench)), text("Done."), journal_sync=policy) == expected


async def test_always_is_the_default(bench):
    assert await flushes(bench, write(bench), text("Done.")) == [2, 1]


async def test_a_call_that_only_reads_waits_for_nothing(bench):
    assert await flushes(bench, call("Glob", {"pattern": "*"}), text("Done.")) == [1, 1]


@pytest.mark.parametrize("writers", [1, 2, 7])
async def test_calls_with_side_effects_that_are_known_together_wait_together(bench, writers):
    """Once before the first of them, once at the end of the query."""
    calls = [write(bench, f"{number}.txt") for number in range(writers)]
    answers = (say(*calls, call("Glob", {"pattern": "*"})), text("Done."))
    assert await flushes(bench, *answers, streaming_tools=False) == [2, 1]
    assert len(list(bench.folder.iterdir())) == writers


async def test_calls_that_come_one_by_one_wait_at_most_twice_after_the_last_has_come(bench):
    """The first begins while the answer still streams; whatever came meanwhile is on the disk before the second begins."""
    complete = asyncio.Event()

    @tool(name="Slow")
    async def slow() -> str:
        """Waits until the whole answer is there."""
        await complete.wait()
        return "Done."

    def watch(event):
        if event.__struct_config__.tag == "assistant":
            complete.set()

    calls = [call("Slow", {}), *(write(bench, f"{number}.txt") for number in range(6))]
    found = await flushes(bench, say(*calls), text("Done."), on_event=watch, tools=[slow], allowed_tools=["Slow"])
    assert found == [3, 1]


async def test_each_intent_is_on_the_disk_before_its_call_runs(bench):
    """Two calls whose intents were written ahead say so, and say again when they begin; nothing else is between."""
    calls = [write(bench, f"{number}.txt") for number in range(3)]
    await flushes(bench, say(*calls), text("Done."), streaming_tools=False, session_id="s")
    intents = [record for record in bench.records("s") if record["type"] == "intent"]
    names = [(Path(record["input"]["file_path"]).stem, record.get("ahead", False)) for record in intents]
    assert names == [("0", False), ("1", True), ("2", True), ("1", False), ("2", False)]


async def test_a_call_that_somebody_is_asked_about_is_not_written_ahead(bench):
    asked = []

    class Approver:
        async def approve(self, call_, _):
            asked.append([record["type"] for record in bench.records("s")].count("intent"))
            return Verdict(ruling=Ruling.ALLOW, reason="")

    calls = [write(bench, "a.txt"), call("Bash", {"command": "sh -c true"})]
    disk = FaultyDisk(LocalDisk())
    engine = Engine(
        bench.options(permission_mode="acceptEdits", session_id="s", streaming_tools=False, approver=Approver()),
        env=bench.env,
        disk=disk,
    )
    bench.model(say(*calls), text("Done."))
    await bench.go_on(engine)
    await engine.aclose()
    assert asked == [1]
    assert disk.performed.count("sync") == 3

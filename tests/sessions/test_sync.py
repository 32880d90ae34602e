"""When a session waits for the disk: before side effects and at the end of a query, or as the user wants it."""

import pytest

from everturn import Engine
from everturn.modelserver import call, say, text
from everturn.sessions.disk import LocalDisk
from everturn.testing import FaultyDisk


async def flushes(bench, *answers, **options):
    """How often each of the two queries waited, the first with these answers, the second with a plain one."""
    disk = FaultyDisk(LocalDisk())
    engine = Engine(bench.options(permission_mode="bypassPermissions", **options), env=bench.env, disk=disk)
    found = []
    for script in (answers, (text("Done."),)):
        bench.model(*script)
        before = disk.performed.count("sync")
        await bench.go_on(engine)
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


async def test_each_call_with_side_effects_is_on_the_disk_before_it_runs(bench):
    answers = (say(write(bench, "a"), write(bench, "b"), call("Glob", {"pattern": "*"})), text("Done."))
    assert await flushes(bench, *answers) == [3, 1]

"""A new session whose file cannot be made at first is saved as soon as it can be, with all that was said before."""

import errno
import math

import pytest

from everturn import Engine
from everturn.modelserver import call, say, text
from everturn.sessions.disk import LocalDisk
from everturn.sessions.session_files import load_session
from everturn.testing import Fault, FaultyDisk


async def ask(bench, engine, prompt):
    write = call("Write", {"file_path": str(bench.folder / prompt), "content": "x"})
    bench.model(say("Working.", write), text("Done."))
    run = await bench.go_on(engine, prompt)
    return [event.text for event in run.of("notice")]


async def test_it_is_told_once_and_saved_when_there_is_a_place(bench):
    fault = Fault(nth=1, operations=frozenset({"make_folder"}), error=errno.EROFS, times=math.inf)
    disk = FaultyDisk(LocalDisk(), fault)
    engine = Engine(bench.options(session_id="late", permission_mode="bypassPermissions"), env=bench.env, disk=disk)
    [trouble] = await ask(bench, engine, "one")
    assert trouble.startswith("This session is not saved. Sessions cannot be kept in ")
    assert trouble.endswith(": Read-only file system. It is kept in memory, and saved as soon as that is possible.")
    assert not bench.session_file("late").exists()

    disk.mend()
    assert await ask(bench, engine, "two") == [
        "This session is saved now, with everything that could not be written before."
    ]
    await engine.aclose()

    replay, warnings = load_session(bench.session_file("late"))
    assert (replay.messages, warnings) == (engine.transcript, ())
    assert replay.usd == pytest.approx(engine.total_usd)


async def test_a_place_that_never_comes_stops_nobody(bench):
    (bench.home.parent / "home").write_text("in the way")
    engine = bench.engine(permission_mode="bypassPermissions")
    assert len(await ask(bench, engine, "one")) == 1
    assert await ask(bench, engine, "two") == []
    assert (bench.folder / "two").read_text() == "x"

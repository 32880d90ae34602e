"""Every write, flush and rename of a session fails once, and from then on: it is loud, work goes on, and nothing is lost."""

import errno
import math

import pytest

from everturn import Engine
from everturn.core.state import Reason
from everturn.modelserver import call, say, text
from everturn.sessions.disk import LocalDisk
from everturn.sessions.session_files import load_session
from everturn.testing import Fault, FaultyDisk

ERRORS = {"EIO": errno.EIO, "ENOSPC": errno.ENOSPC}
OPERATIONS = ("write", "sync", "sync_folder", "rename", "open", "make_folder")
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA" * 2_000}}
SOON = 10
"""Operations of the disk: about as many as a turn makes."""
PROMPTS = ("First.", [PICTURE, {"type": "text", "text": "Second."}], "Third.")


class Session:
    """Three queries with tools; between two of them the disk may be mended."""

    def __init__(self, bench, disk, name):
        self.bench, self.disk = bench, disk
        self.engine = Engine(
            bench.options(session_id=name, permission_mode="bypassPermissions"), env=bench.env, disk=disk
        )
        self.path = bench.session_file(name)
        self.notices = []
        self.told_at = None
        """How many operations the disk had been asked for when the first trouble was told."""

    async def ask(self, prompt):
        write = call("Write", {"file_path": str(self.bench.folder / "a.txt"), "content": "x"})
        self.bench.model(say("Working.", write), text("Done."))
        (self.bench.folder / "a.txt").unlink(missing_ok=True)

        def watch(event):
            if event.__struct_config__.tag == "notice":
                self.notices.append(event.text)
                self.told_at = self.told_at or len(self.disk.performed)

        run = await self.bench.go_on(self.engine, prompt, on_event=watch)
        assert run.reason is Reason.COMPLETED

    def saved(self):
        return load_session(self.path)[0].messages if self.path.exists() else ()

    def of(self, beginning):
        return [notice for notice in self.notices if notice.startswith(beginning)]


async def count_operations(bench):
    disk = FaultyDisk(LocalDisk())
    session = Session(bench, disk, "whole")
    for prompt in PROMPTS:
        await session.ask(prompt)
    await session.engine.aclose()
    assert session.notices == []
    return {name: disk.performed.count(name) for name in OPERATIONS}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("error", ERRORS)
async def test_the_nth_operation_fails_once_and_nothing_is_missing_at_the_end(bench, operation, error):
    count = (await count_operations(bench))[operation]
    assert count
    for nth in range(1, count + 1):
        fault = Fault(nth=nth, operations=frozenset({operation}), error=ERRORS[error])
        session = Session(bench, FaultyDisk(LocalDisk(), fault), f"once-{nth}")
        for prompt in PROMPTS:
            await session.ask(prompt)
        await session.engine.aclose()
        assert session.saved() == session.engine.transcript, f"{operation} {nth}: {session.notices}"
        lost, again = session.of("This session is not saved."), session.of("This session is saved now")
        assert len(lost) <= 1
        # The very last flush may fail, and then there is nothing after it that could tell of better times.
        assert len(again) in {len(lost), len(lost) - (nth == count)}


@pytest.mark.parametrize("operation", ["write", "sync"])
@pytest.mark.parametrize("error", ERRORS)
async def test_from_the_nth_on_all_fail_until_space_returns(bench, operation, error):
    count = (await count_operations(bench))[operation]
    for nth in range(2, count + 1):
        fault = Fault(nth=nth, operations=frozenset({operation}), error=ERRORS[error], times=math.inf)
        disk = FaultyDisk(LocalDisk(), fault)
        session = Session(bench, disk, f"from-{nth}")
        for prompt in PROMPTS[:2]:
            await session.ask(prompt)
        lost = session.of("This session is not saved.")
        if operation == "write":
            kept = session.saved()
            assert kept == session.engine.transcript[: len(kept)]
            assert session.path.read_bytes().count(b"\n") <= nth - 1
        disk.mend()
        await session.ask(PROMPTS[2])
        await session.engine.aclose()

        assert len(session.of("This session is not saved.")) <= 1
        assert len(session.of("This session is saved now")) == len(lost)
        failed_at = [at for at, name in enumerate(disk.performed, 1) if name == operation][nth - 1]
        assert session.told_at is None or session.told_at - failed_at <= SOON
        assert session.saved() == session.engine.transcript
        assert load_session(session.path)[1] == ()


@pytest.mark.parametrize("stuck", [False, True], ids=["taken back", "stuck"])
async def test_a_write_that_is_cut_short_is_made_good(bench, stuck):
    count = (await count_operations(bench))["write"]
    for nth in range(2, count + 1, 3):
        faults = [Fault(nth=nth, effect="shorten", operations=frozenset({"write"}), error=errno.ENOSPC)]
        if stuck:
            faults.append(Fault(nth=1, operations=frozenset({"truncate"}), times=math.inf))
        session = Session(bench, FaultyDisk(LocalDisk(), *faults), f"short-{nth}")
        for prompt in PROMPTS:
            await session.ask(prompt)
        await session.engine.aclose()
        replay, warnings = load_session(session.path)
        assert replay.messages == session.engine.transcript
        assert len(warnings) <= stuck

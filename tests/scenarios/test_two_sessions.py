"""Two sessions in one folder: each sees what the other changed, and neither overwrites it."""

import asyncio
import sys

from everturn.core.messages import Kind
from everturn.modelserver import call, text

COUNT = """
import sys
from everturn.core.errors import ToolFault
from everturn.workspace.files import read_file, replace_file

path, left = sys.argv[1], int(sys.argv[2])
while left:
    before = read_file(path)
    try:
        replace_file(path, str(int(before.text) + 1), like=before)
    except ToolFault as error:
        assert "has changed on disk since it was read" in str(error), error
    else:
        left -= 1
"""
EACH = 60


def change(path, old, new):
    return call("Edit", {"file_path": str(path), "old_string": old, "new_string": new})


async def reading(bench, path):
    """A session that has read the file."""
    bench.model(call("Read", {"file_path": str(path)}), text("Read."))
    engine = bench.engine(permission_mode="acceptEdits")
    await bench.go_on(engine)
    return engine


async def test_a_file_that_the_other_session_changed_is_not_overwritten(bench):
    path = bench.folder / "a.txt"
    path.write_text("alpha\n")
    first, second = await reading(bench, path), await reading(bench, path)
    bench.model(change(path, "alpha", "beta"), text("Done."))
    await bench.go_on(first)
    bench.model(change(path, "alpha", "gamma"), text("I will look again."))
    await bench.go_on(second)

    assert path.read_text() == "beta\n"
    assert "has changed on disk since it was read" in str(bench.sent[-1][-1])


async def test_the_other_session_is_told_of_it_with_its_next_round(bench):
    path = bench.folder / "a.txt"
    path.write_text("alpha\n")
    first, second = await reading(bench, path), await reading(bench, path)
    bench.model(change(path, "alpha", "beta"), text("Done."))
    await bench.go_on(first)
    bench.model(call("Glob", {"pattern": "*"}), text("I see."))
    run = await bench.go_on(second)

    assert [event.detail for event in run.of("attachment")] == [{"paths": [str(path)]}]


async def test_of_two_sessions_that_change_a_file_at_once_each_change_is_kept_or_refused(bench):
    path = bench.folder / "a.txt"
    path.write_text("alpha beta\n")
    engines = [await reading(bench, path), await reading(bench, path)]
    bench.model(change(path, "alpha", "ALPHA"), change(path, "beta", "BETA"), text("Done."), text("Done."))
    await asyncio.gather(*(bench.go_on(engine, "Now.") for engine in engines))

    results = [
        result
        for engine in engines
        for message in engine.transcript[4:]
        if message.kind is Kind.RESULTS
        for result in message.results
    ]
    kept = sum(not result.is_error for result in results)
    assert kept == sum(word in path.read_text() for word in ("ALPHA", "BETA")) >= 1


async def test_no_change_is_lost_between_two_processes_that_write_one_file_all_the_time(bench):
    path = bench.folder / "count"
    path.write_text("0")
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", COUNT, str(path), str(EACH)) for _ in range(2)
    ]
    async with asyncio.timeout(300):
        codes = [await process.wait() for process in processes]

    assert codes == [0, 0]
    assert path.read_text() == str(2 * EACH)
    assert [entry.name for entry in bench.folder.iterdir()] == ["count"]

"""A resumed session's commands start where the last one ended; what was exported is gone, and that is said once."""

import shutil

from everturn.core.messages import result_text
from everturn.modelserver import call, text

OPTIONS = {"permission_mode": "bypassPermissions"}


async def run(bench, engine, *commands):
    """What each of them printed."""
    bench.model(*(call("Bash", {"command": command}) for command in commands), text("Done."))
    begin = len(engine.transcript)
    await bench.go_on(engine, "Go.")
    return [result_text(result) for message in engine.transcript[begin:] for result in message.results]


async def resume(bench, engine):
    await engine.aclose()
    return bench.engine(**OPTIONS, resume=engine.session_id)


async def test_the_folder_is_the_one_that_the_last_command_ended_in(bench):
    (bench.folder / "inner").mkdir()
    engine = bench.engine(**OPTIONS)
    await run(bench, engine, "cd inner")
    engine = await resume(bench, engine)
    again = await resume(bench, engine)
    assert await run(bench, again, "pwd", "cd ..", "pwd") == [
        str(bench.folder.resolve() / "inner"),
        "The shell is back in the working folder",
        str(bench.folder.resolve()),
    ]
    again = await resume(bench, again)
    assert await run(bench, again, "pwd") == [str(bench.folder.resolve())]


async def test_a_folder_that_is_gone_is_told_of(bench):
    inner = bench.folder / "inner"
    inner.mkdir()
    engine = bench.engine(**OPTIONS)
    await run(bench, engine, "cd inner")
    shutil.rmtree(inner)
    [told] = await run(bench, await resume(bench, engine), "pwd")
    assert told.splitlines()[0] == str(bench.folder.resolve())
    assert f"The folder {inner.resolve()} is gone" in told


async def test_variables_are_named_and_their_values_are_nowhere(bench):
    engine = bench.engine(**OPTIONS)
    await run(bench, engine, "export TOKEN=$(echo terces | rev) PLACE=here")
    lines = bench.session_file(engine.session_id).read_text().splitlines()
    assert not [line for line in lines if "secret" in line]
    first, second = await run(bench, await resume(bench, engine), 'echo "[$TOKEN]"', "echo again")
    assert first.splitlines()[0] == "[]"
    assert "these variables that earlier commands had exported are no longer set: PLACE, TOKEN" in first
    assert second == "again"

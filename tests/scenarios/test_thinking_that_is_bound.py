"""Models that refuse their own thinking when something before it has changed: a conversation that was shortened goes on."""

import pytest

from everturn.core.state import Reason
from everturn.modelserver import Model, call, say, text, thinking

FABLE = "claude-fable-5-1"
WINDOW = 60_000
SERVED = [Model(id=FABLE, window=WINDOW, thinking=("adaptive",), thinks_unasked=True, binds_thinking=True)]
OPTIONS = {"model": FABLE, "models": [{"id": FABLE, "window": WINDOW, "max_output": 4_000}]}


@pytest.fixture
def model(bench):
    """Its refusals are looked at by the test."""

    def play(*answers):
        bench.model(*answers, bench.summary(), models=SERVED)

    yield play
    refused = [received.refused for received in bench.server.requests if received.refused]
    assert set(refused) == {"thinking-bound"}
    bench.expected_refusals = refused


def write_files(bench, count, lines):
    paths = [bench.folder / f"module_{number}.py" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_text(f"value_{number} = compute(value_{number}, 'a word of the file')\n" * lines)
    return paths


def read(path, said=""):
    return say(thinking(f"I look at {path.name}."), said, call("Read", {"file_path": str(path)}))


def stages(run):
    return [event.stage for event in run.of("context")]


async def test_after_old_results_were_cleared_the_work_goes_on_without_the_older_thoughts(bench, model):
    paths = write_files(bench, 12, 350)
    model(*map(read, paths), text("Done."))

    run = await bench.run("Read all of it.", **OPTIONS)

    assert (run.reason, run.result.text) == (Reason.COMPLETED, "Done.")
    assert stages(run) == ["microcompact", "repair"] * 2
    assert run.of("api_retry") == []


async def test_a_summary_is_made_where_the_system_prompt_has_changed_since(bench, model):
    [path] = write_files(bench, 1, 10)
    model(read(path), "Earlier. " * 300, text("Went on."))
    engine = bench.engine(**OPTIONS)
    await bench.go_on(engine, "Read it.")
    await engine.aclose()

    resumed = bench.engine(resume=engine.session_id, append_system_prompt="Be brief.", **OPTIONS)
    changes = [event.stage async for event in resumed.compact() if event.__struct_config__.tag == "context"]

    assert changes == ["compact"]
    assert (await bench.go_on(resumed)).result.text == "Went on."


async def test_a_side_question_is_answered_where_the_system_prompt_has_changed_since(bench, model):
    [path] = write_files(bench, 1, 10)
    model(read(path), text("Done."), text("Ten lines."))
    engine = bench.engine(**OPTIONS)
    await bench.go_on(engine, "Read it.")
    await engine.aclose()

    resumed = bench.engine(resume=engine.session_id, append_system_prompt="Be brief.", **OPTIONS)

    assert (await resumed.ask_aside("How long is it?")).text == "Ten lines."

"""Commands that only read are readers like Read and Grep: they run together, nothing waits for the disk, a retry drops them."""

import os
import threading

import pytest

from everturn.core.records import CallIntended
from everturn.core.state import Reason
from everturn.modelserver import call, calls, cut, hold, say, text
from everturn.sessions.session_files import stream_told


def intended(bench):
    [engine] = bench.engines
    told = (told.record for told, _ in stream_told(bench.session_file(engine.session_id)))
    return [record.tool_use_id for record in told if isinstance(record, CallIntended)]


async def test_they_run_together(bench):
    paths = [bench.folder / name for name in ("first", "second")]
    for path in paths:
        os.mkfifo(path)

    def feed():
        # Opens when there is a reader: were they to run one after the other, nobody would ever read the second.
        for path in reversed(paths):
            path.write_text(f"{path.name} was read\n")

    feeder = threading.Thread(target=feed)
    feeder.start()
    bench.model(calls(*(("Bash", {"command": f"cat {path.name}", "timeout": 9_000}) for path in paths)), text("Done."))

    run = await bench.run()
    feeder.join()

    assert [block["content"] for block in bench.sent[1][-1]["content"]] == ["first was read", "second was read"]
    assert run.reason is Reason.COMPLETED


@pytest.mark.parametrize(("command", "is_intended"), [("echo 5", False), ("cd .", True), ("touch made", True)])
async def test_only_what_may_change_something_is_announced_on_the_disk(bench, command, is_intended):
    bench.model(call("Bash", {"command": command}), text("Done."))

    await bench.run(permission_mode="bypassPermissions")

    assert bool(intended(bench)) is is_intended


async def test_in_the_background_a_command_is_an_effect_whatever_it_does(bench):
    bench.model(call("Bash", {"command": "echo 5", "run_in_background": True}), text("Done."))

    await bench.run(permission_mode="bypassPermissions")

    assert intended(bench)


async def test_an_answer_that_breaks_off_is_asked_for_again_though_one_has_run(bench):
    answer = say(call("Bash", {"command": "echo 5"}), "And now the rest of the story.")
    bench.model(hold(cut(answer, after=8), after=6), text("Done."), chunk=1_000)
    engine = bench.engine()

    def release(event):
        if event.__struct_config__.tag == "tool_end":
            bench.server.release()

    run = await bench.go_on(engine, on_event=release)

    assert run.reason is Reason.COMPLETED
    assert run.of("tombstone") != []
    assert [message["role"] for message in bench.sent[1]] == ["user"]

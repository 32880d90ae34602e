"""Commands in the sandbox begin, go on and end as they do outside."""

import os
import signal
import time

from tests.sandbox.conftest import USERS, Worker
from tests.tools.processes import PATIENCE_S, named


def wait_for(condition):
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_folder_and_exported_variables_stay(world):
    results = world.run(
        "mkdir -p deep/er; cd deep/er; export A=1; B=2", "pwd; echo $A$B; unset A; cd ..", "pwd; echo [$A]"
    )

    assert [result["content"] for result in results[1:]] == [
        f"{world.workspace}/deep/er\n1\nThe shell is now in deep/",
        f"{world.workspace}/deep\n[]",
    ]


def test_what_the_sandbox_sets_is_not_taken_for_the_commands_doing(world):
    _, inside, outside = world.run(
        "export A=1",
        "echo $A ${TMPDIR#/tmp/everturn-sandbox-} $EVERTURN_SANDBOX | cut -d' ' -f1,3",
        {"command": "echo $A $EVERTURN_SANDBOX", "dangerouslyDisableSandbox": True},
        environment={"TMPDIR": "/tmp"},
    )

    assert [inside["content"], outside["content"]] == [f"1 {world.kind}", "(no output)"]


def test_temporary_files_stay_for_the_session_and_go_with_it(world):
    answer = world.do("echo a > $TMPDIR/a", "cat $TMPDIR/a")

    assert answer["results"][1]["content"] == "a"
    assert answer["left"] is False


def test_exit_codes_and_signals_read_as_usual(world):
    results = world.run("exit 3", "kill -9 $$", "exit 137", "sh -c 'kill -TERM $$'", "false | true")

    assert [result["content"].splitlines()[:1] for result in results] == [
        ["Exit code 3"],
        ["Exit code 137 (SIGKILL)"],
        ["Exit code 137"],
        ["Exit code 143"],
        ["(no output)"],
    ]


def test_an_interrupted_command_may_tidy_up_and_takes_all_with_it(world):
    ready, tidy = world.workspace / "ready", world.workspace / "tidy"
    word = f"98.{os.getpid()}"

    (result,) = world.run(
        {
            "command": f"trap 'echo done > tidy; exit 1' TERM; (setsid sleep {word} &) ; sleep {word} & touch ready; wait",
            "abort_when": str(ready),
        }
    )

    assert "interrupted" in result["content"]
    assert tidy.read_text() == "done\n"
    assert result["lasted_s"] < PATIENCE_S / 2
    wait_for(lambda: named(word) == [])


def test_a_deaf_command_is_killed(world):
    word = f"97.{os.getpid()}"

    (result,) = world.run(
        {
            "command": f"trap '' TERM; touch ready; while :; do sleep {word}; done",
            "abort_when": str(world.workspace / "ready"),
            "grace_s": 1.0,
        }
    )

    assert result["lasted_s"] < PATIENCE_S / 2
    wait_for(lambda: named(word) == [])


def test_what_a_command_leaves_running_ends_with_it(viewed):
    word = f"96.{os.getpid()}"

    said = viewed.say(f"(setsid sleep {word} >/dev/null 2>&1 &) ; nohup sleep {word} >/dev/null 2>&1 & echo started")

    assert said == "started"
    wait_for(lambda: named(word) == [])


def test_commands_in_the_background_are_held_too(world):
    answer = world.do(
        {"command": f"echo lead > {world.treasure}; echo a > a; cat a", "run_in_background": True}, finishes=True
    )

    (report,) = answer["reports"]
    assert "\na\n" in f"{report}\n"
    assert world.treasure.read_text() == "gold"


def test_a_background_command_that_is_held_back_says_so(world):
    (report,) = world.do({"command": f"touch {world.outside}/new", "run_in_background": True}, finishes=True)["reports"]

    assert f"The sandbox held the command back: {world.outside}/new cannot be written" in report


def test_nothing_outlives_a_killed_program(world):
    word = f"95.{os.getpid()}"
    worker = Worker(USERS[world.user])
    try:
        worker.give(
            world.job({"command": f"setsid sleep {word} & sleep {word}", "run_in_background": True}, waits=True)
        )
        wait_for(lambda: len(named(word)) == 2)
        os.kill(worker.process.pid, signal.SIGKILL)
        wait_for(lambda: named(word) == [])
    finally:
        worker.process.kill()
        worker.close()


def test_a_command_cannot_start_processes_without_end(world):
    assert 2_048 < int(world.say("ulimit -u")) < 50_000


def test_what_holds_a_command_loads_no_library_that_a_command_could_have_written(world):
    """Bubblewrap has one of this name, bash has none: were it loaded, nothing would start."""
    (world.workspace / "lib").mkdir()
    (world.workspace / "lib/libcap.so.2").write_bytes(b"no library")

    said = world.say("echo $LD_LIBRARY_PATH", environment={"LD_LIBRARY_PATH": f"{world.workspace}/lib"})

    assert said == f"{world.workspace}/lib"

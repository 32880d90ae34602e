"""The end of commands: what they started ends with them, wherever it went, and nothing outlives the session unasked."""

import asyncio
import os
import signal
import time
from asyncio.subprocess import PIPE

import msgspec
import pytest
from tests.tools.processes import PATIENCE_S, is_alive, named, until

from everturn.ports.tasks import TaskStatus
from everturn.tools.bash import bash_tool
from everturn.tools.bash.output import Output
from everturn.tools.bash.result import may_go_on, name_signal
from everturn.tools.bash.running_command import CommandEnding, RunningCommand
from everturn.tools.bash.shell import Shell
from everturn.workspace.descendants import end_members

AT_ONCE_S = PATIENCE_S / 2
"""Of what would otherwise take as long as the grace, or never end."""


def pids_in(desk, name="pids"):
    path = desk.folder / name
    return [int(line) for line in path.read_text().split()] if path.exists() else []


async def abort_when(desk, tool, command, count):
    """Runs the command until it has written so many process ids, then aborts. Gives the seconds until all was over."""
    running = asyncio.ensure_future(desk.use(tool, command=command))
    await until(lambda: len(pids_in(desk)) == count)
    began = time.monotonic()
    desk.abort.abort()
    await running
    took = time.monotonic() - began
    assert not [pid for pid in pids_in(desk) if is_alive(pid)]
    return took


@pytest.mark.parametrize(
    "start",
    [
        "sleep 1000 & echo $! >>pids;",
        "setsid bash -c 'echo $$ >>pids; exec sleep 1000' &",
        "setsid --fork bash -c 'echo $$ >>pids; exec sleep 1000';",
        "(setsid bash -c 'echo $$ >>pids; exec sleep 1000' >/dev/null 2>&1 </dev/null & );",
        "env -i setsid bash -c 'echo $$ >>pids; exec sleep 1000' &",
        "nohup bash -c 'echo $$ >>pids; exec sleep 1000' >/dev/null 2>&1 &",
        "bash -c 'echo $$ >>pids; exec >&- 2>&-; while :; do sleep 0.1; done' &",
        "bash -c 'echo $$ >>pids; kill -STOP $$; sleep 1000' &",
    ],
)
async def test_an_abort_reaches_whoever_the_command_started(desk, start):
    desk.context = msgspec.structs.replace(desk.context, abort_grace_s=PATIENCE_S)

    assert await abort_when(desk, bash_tool(), f"{start} sleep 1000", 1) < AT_ONCE_S


@pytest.mark.parametrize("start", ["trap '' TERM;", "", "setsid"])
async def test_who_does_not_obey_is_killed(desk, start):
    shell = f"{start} bash -c 'trap \"\" TERM; echo $$ >>pids; while :; do sleep 0.05; done'"
    shell = shell if start != "setsid" else f"{shell} & wait"

    assert await abort_when(desk, bash_tool(), shell, 1) < AT_ONCE_S


async def test_a_request_that_a_fork_swallowed_is_made_again(desk):
    desk.context = msgspec.structs.replace(desk.context, abort_grace_s=PATIENCE_S)
    # The shell forks all the time, and has a trap: about one request in fifty meets it in between.
    for _ in range(20):
        running = asyncio.ensure_future(
            desk.use(bash_tool(), command="echo on; while :; do sleep 1000 & sleep 0.001; done")
        )
        await until(lambda: desk.pieces)
        desk.pieces.clear()
        began = time.monotonic()
        desk.abort.abort()
        await running
        assert time.monotonic() - began < AT_ONCE_S
        desk.renew_abort()


async def test_one_that_cleans_up_is_asked_once(desk):
    desk.context = msgspec.structs.replace(desk.context, abort_grace_s=PATIENCE_S)
    command = "bash -c 'trap \"echo asked; sleep 0.5; exit\" TERM; echo $$ >>pids; while :; do sleep 0.05; done'"
    running = asyncio.ensure_future(desk.use(bash_tool(), command=command))
    await until(lambda: pids_in(desk))

    desk.abort.abort()

    assert (await running).content.count("asked") == 1


async def test_what_goes_on_after_its_command_ends_with_the_session(desk):
    tool = bash_tool()
    result = await desk.use(
        tool, command="sleep 1000 & echo $!; setsid sleep 1001 & echo $!; (trap '' TERM; sleep 1002) & echo $!"
    )
    pids = result.content.split()
    assert all(map(is_alive, pids))
    began = time.monotonic()

    await desk.context.tasks.aclose()

    assert not [pid for pid in pids if is_alive(pid)]
    assert time.monotonic() - began < AT_ONCE_S


async def test_who_does_not_obey_is_killed_also_by_a_program_that_was_stopped_until_it_was_too_late():
    deaf = await asyncio.create_subprocess_exec("bash", "-c", "trap '' TERM; echo on; read", stdin=PIPE, stdout=PIPE)
    await deaf.stdout.readline()

    await end_members(lambda _: [deaf.pid] if is_alive(deaf.pid) else [], -60.0)
    deaf.stdin.close()

    assert await deaf.wait() == -signal.SIGKILL


async def test_who_starts_others_all_the_time_is_killed_with_all_of_them(desk):
    nap = f"1003.{os.getpid()}"
    command = f"trap '' TERM; while :; do sleep {nap} & sleep 0.01; done"
    await desk.use(bash_tool(), command=command, run_in_background=True)
    await until(lambda: len(named(nap)) > 10)

    desk.context.tasks.kill()

    await until(lambda: named(nap) == [])
    await desk.context.tasks.aclose()


async def test_what_is_asked_to_outlive_the_session_does(desk):
    # Until it has become another program it still has the shell's mark.
    command = "EVERTURN_MARK= nohup sleep 1000 >/dev/null 2>&1 & echo $!; until grep -q sleep /proc/$!/comm; do :; done"
    result = await desk.use(bash_tool(), command=command)

    await desk.context.tasks.aclose()

    assert is_alive(result.content)
    os.kill(int(result.content), signal.SIGKILL)


async def test_an_abort_leaves_the_daemons_of_other_commands(desk):
    tool = bash_tool()
    result = await desk.use(tool, command="sleep 1000 & echo $!")

    await abort_when(desk, tool, "sleep 1001 & echo $! >>pids; sleep 1000", 1)

    assert is_alive(result.content)
    await desk.context.tasks.aclose()
    assert not is_alive(result.content)


async def test_of_a_command_that_goes_on_only_the_ends_of_what_it_printed_are_told(desk):
    printing = "for i in $(seq 9000); do echo line $i; done; until [ -e go ]; do sleep 0.01; done"

    result = await desk.use(bash_tool(), command=printing, timeout=2_000)

    assert len(result.content) < 5_000
    assert "line 1\n" in result.content
    assert result.content.endswith("line 9000")
    assert "left out" in result.content
    (desk.folder / "go").touch()
    await desk.context.tasks.aclose()


async def test_a_daemon_that_prints_for_ever_does_not_hold_the_call(desk):
    began = time.monotonic()

    result = await desk.use(bash_tool(), command="(while :; do echo x; sleep 0.01; done) & echo $!")

    assert time.monotonic() - began < AT_ONCE_S
    await desk.context.tasks.aclose()
    [number] = [word for word in result.content.split() if word.isdecimal()]
    assert not is_alive(number)


async def test_a_command_whose_time_is_up_goes_on_in_the_background(desk, shown):
    result = await desk.use(bash_tool(), command="echo begun; until [ -e go ]; do sleep 0.01; done", timeout=2_000)

    task = desk.context.tasks.get(result.shown.background_task_id)
    assert result.is_error is False
    assert result.content == (
        f"The command did not end within 2 s and was moved to the background, as task {task.id}. "
        f"Its output goes to {task.output_path}. You are told when it ends.\nbegun"
    )
    assert (shown(result)["timedOutAfterMs"], shown(result)["backgroundTaskId"]) == (2_000, task.id)
    desk.write("go", "")
    await task.wait()
    assert task.report().status is TaskStatus.COMPLETED
    await desk.context.tasks.aclose()


async def test_a_time_beyond_the_most_is_taken_as_the_most(desk):
    assert (await desk.use(bash_tool(), command="echo x", timeout=10**9)).content == "x"


@pytest.mark.parametrize(
    ("command", "goes_on"),
    [("npm run dev", True), ("sleep 100", False), ("cd x && git fetch", False), ("/usr/bin/git gc", False),
     ("echo 'open", False), ("make; sleep 5", True), ("cat .gitignore", True)],
)  # fmt: skip
def test_what_only_waits_or_holds_a_lock_is_ended_when_its_time_is_up(command, goes_on):
    assert may_go_on(command) is goes_on


async def test_one_that_prints_for_ever_is_noticed_and_can_be_ended(desk):
    start = Shell().plan_start("trap '' TERM; yes", (str(desk.folder),))
    output = Output(lambda: (os.devnull, os.open(os.devnull, os.O_WRONLY)))
    command = RunningCommand(start, output, desk.pieces.append, most_printed=10_000_000)

    ending = await command.wait(60)
    await command.end(0.05)
    command.close()

    assert ending is CommandEnding.FLOODED
    assert command.ended.result() == -signal.SIGKILL


async def test_a_signal_is_named(desk, shown):
    result = await desk.use(bash_tool(), command="kill -SEGV $$")

    assert result.content == "Exit code 139 (SIGSEGV)"
    assert shown(result)["signal"] == "SIGSEGV"
    assert name_signal(-64) == "SIGRTMAX"
    assert name_signal(-50) == "signal 50"


async def test_no_descriptor_is_left_by_aborts_and_tasks(desk):
    tool = bash_tool()
    await desk.use(tool, command="true")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - counted, not used

    await abort_when(desk, tool, "echo $$ >>pids; sleep 1000", 1)
    desk.renew_abort()
    await desk.use(tool, command="seq 100000; sleep 1000", run_in_background=True)
    await desk.use(tool, command="seq 100000")
    await desk.context.tasks.aclose()

    # The line to the watcher, which the first command had opened, was closed.
    assert len(os.listdir("/proc/self/fd")) == before - 1  # noqa: PTH208 - the same

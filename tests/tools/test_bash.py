"""Bash, with real processes: they may be deaf, endless, loud or sticky, and the call still ends well."""

import asyncio
import os
import signal
import time

import msgspec
import pytest
from tests.tools.processes import PATIENCE_S, is_alive, living, until

from everturn.core.errors import ToolFault
from everturn.ports.tool import ToolResult
from everturn.tools.bash import bash_tool
from everturn.tools.bash.result import judge_exit
from everturn.tools.result_types import BashShown


def plain(output, **fields):
    usual = {"stderr": "", "interrupted": False, "is_image": False, "exit_code": 0, "duration_ms": 0}
    return BashShown(stdout=output, **usual | fields)


def timeless(result):
    """The same result, had it taken no time."""
    return msgspec.structs.replace(result, shown=msgspec.structs.replace(result.shown, duration_ms=0))


async def test_both_streams_come_in_order(desk):
    result = await desk.use(bash_tool(), command="echo one; echo two >&2; echo three")

    assert timeless(result) == ToolResult(content="one\ntwo\nthree", shown=plain("one\ntwo\nthree"))
    assert "".join(desk.pieces) == "one\ntwo\nthree\n"


async def test_the_public_form_has_the_names_that_scripts_know(desk, shown):
    assert shown(timeless(await desk.use(bash_tool(), command="echo hi"))) == {
        "stdout": "hi",
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "exitCode": 0,
        "durationMs": 0,
    }


async def test_output_is_shown_while_the_command_runs(desk):
    command = "echo first; until [ -e go ]; do sleep 0.01; done; echo last"
    running = asyncio.ensure_future(desk.use(bash_tool(), command=command))

    await until(lambda: desk.pieces == ["first\n"])
    desk.write("go", "")

    assert (await running).content == "first\nlast"


async def test_a_failure_begins_with_its_exit_code(desk):
    result = await desk.use(bash_tool(), command="echo oops; exit 3")

    assert timeless(result) == ToolResult(content="Exit code 3\noops", is_error=True, shown=plain("oops", exit_code=3))


async def test_silence_is_said(desk):
    assert (await desk.use(bash_tool(), command="true")).content == "(no output)"


@pytest.mark.parametrize(
    "command",
    ["grep zzz a.txt", "cat a.txt | grep zzz", "find . -name a.txt -newer nothing-at-all 2>/dev/null", "diff a.txt b.txt",
     "test -e nowhere", "[ -e nowhere ]", "LC_ALL=C grep zzz a.txt 2>&1", "/bin/grep zzz a.txt", "true && grep zzz a.txt"],
)  # fmt: skip
async def test_an_exit_code_that_is_an_answer_is_no_error(desk, command):
    desk.write("a.txt", "a\n")
    desk.write("b.txt", "b\n")

    result = await desk.use(bash_tool(), command=command)

    assert result.is_error is False
    assert "(Exit code 1: " in result.content
    assert result.shown.exit_code == 1


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("false", 1),
        ("grep", 2),
        ("grep x y; false", 1),
        ("! grep x y", 1),
        ("pytest && grep x y", 1),
        ("make &&\ngrep x y", 1),
        ("git status", 1),
        ("echo 'grep", 1),
        ("", 1),
        ("grep x", 0),
    ],
)
def test_any_other_exit_code_is_no_answer(command, code):
    assert judge_exit(command, code) is None


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("echo a; grep a a.txt; grep zzz a.txt", ("a\na\n(Exit code 1: nothing matched, by the last command, 'grep zzz a.txt'. "
         "It says nothing of those before it.)")),
        ("for each in a.txt; do grep zzz $each; done", "(Exit code 1: nothing matched, by the last command, 'grep zzz $each'. It says nothing of those before it.)"),
        ("cat a.txt | grep zzz", "(Exit code 1: nothing matched.)"),
        ("ls a.txt && sh -c 'exit 1' && grep zzz a.txt", ("Exit code 1\na.txt\n(If 'grep zzz a.txt' ran, exit code 1 means that "
         "nothing matched; else a command before it has failed.)")),
    ],
)  # fmt: skip
async def test_in_a_line_of_several_commands_it_is_said_whose_answer_it_is(desk, command, told):
    desk.write("a.txt", "a\n")

    result = await desk.use(bash_tool(), command=command)

    assert (result.content, result.is_error) == (told, told.startswith("Exit"))


async def test_the_working_folder_stays_while_it_is_inside(desk):
    tool = bash_tool()
    (desk.folder / "sub dir").mkdir()

    await desk.use(tool, command="cd 'sub dir'; exit 4")

    assert (await desk.use(tool, command="pwd")).content == f"{desk.folder}/sub dir"
    assert (await desk.use(bash_tool(), command="pwd")).content == str(desk.folder)


async def test_leaving_the_project_goes_back_to_the_working_folder_and_says_so(desk):
    tool = bash_tool()

    result = await desk.use(tool, command="cd /")

    told = "The command ended in /, outside the working folder; the next one starts in the working folder"
    assert result.content == told
    assert timeless(result).shown == plain("", stderr=told)
    assert (await desk.use(tool, command="pwd")).content == str(desk.folder)


async def test_a_folder_that_is_gone_is_left_for_the_project(desk):
    tool = bash_tool()
    await desk.use(tool, command="mkdir sub && cd sub")
    (desk.folder / "sub").rmdir()

    result = await desk.use(tool, command="pwd")

    gone = f"The folder {desk.folder}/sub is gone; the command ran in {desk.folder}"
    assert (result.content, result.shown.stderr) == (f"{desk.folder}\n{gone}", gone)
    assert (await desk.use(tool, command="pwd")).content == str(desk.folder)


async def test_a_program_that_reads_its_input_gets_none(desk):
    assert (await desk.use(bash_tool(), command="cat; read line; echo end")).content == "end"


async def test_keys_do_not_reach_the_command(desk, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-made-up")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "made-up-token")
    monkeypatch.setenv("HARMLESS", "kept")

    result = await desk.use(bash_tool(), command='echo "$HARMLESS[$ANTHROPIC_API_KEY$ANTHROPIC_AUTH_TOKEN]"')

    assert result.content == "kept[]"


async def test_a_command_that_takes_too_long_is_ended_with_its_children(desk, shown):
    result = await desk.use(bash_tool(), command="sleep 1000 & echo $!; sleep 1000", timeout=2_000)

    opening, pid = result.content.splitlines()
    assert opening == "The command did not end within 2 s and was ended, with all it had started."
    assert result.is_error is True
    assert (shown(result)["timedOutAfterMs"], shown(result)["interrupted"]) == (2_000, False)
    assert not is_alive(pid)


async def test_an_abort_kills_the_whole_group_even_when_it_is_deaf(desk):
    command = "trap '' TERM; echo $$; (trap '' TERM; while :; do sleep 0.1; done) & while :; do sleep 0.1; done"
    running = asyncio.ensure_future(desk.use(bash_tool(), command=command))
    await until(lambda: desk.pieces)
    group = int(desk.pieces[0])
    began = time.monotonic()

    desk.abort.abort()
    result = await running

    assert result.content == f"The command was interrupted and ended.\n{group}"
    assert (result.is_error, result.shown.interrupted) == (True, True)
    assert time.monotonic() - began < PATIENCE_S / 2
    assert group not in living().values()


async def test_a_command_that_obeys_is_not_kept_waiting(desk):
    desk.context = msgspec.structs.replace(desk.context, abort_grace_s=PATIENCE_S)
    running = asyncio.ensure_future(desk.use(bash_tool(), command="echo on; sleep 1000"))
    await until(lambda: desk.pieces)
    began = time.monotonic()

    desk.abort.abort()
    await running

    assert time.monotonic() - began < PATIENCE_S / 2


async def test_nothing_starts_after_an_abort(desk):
    desk.abort.abort()

    result = await desk.use(bash_tool(), command="touch started")

    assert result.shown.interrupted is True
    assert not (desk.folder / "started").exists()


async def test_a_cancelled_call_leaves_no_process(desk):
    running = asyncio.ensure_future(desk.use(bash_tool(), command="echo $$; sleep 1000"))
    await until(lambda: desk.pieces)
    pid = int(desk.pieces[0])

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    await until(lambda: not is_alive(pid))


async def test_a_daemon_that_holds_the_pipe_does_not_hold_the_call(desk):
    began = time.monotonic()

    result = await desk.use(bash_tool(), command="sleep 1000 & echo $!")

    assert time.monotonic() - began < PATIENCE_S / 2
    assert is_alive(result.content)
    os.kill(int(result.content), signal.SIGKILL)


@pytest.mark.parametrize("command", ["kill -9 $$", "kill -TERM $$"])
async def test_a_shell_that_a_signal_ended_is_a_failure(desk, command):
    result = await desk.use(bash_tool(), command=command)

    assert result.is_error is True
    assert result.content.startswith("Exit code 1")
    assert result.shown.exit_code is None


async def test_a_syntax_error_speaks_of_the_command_alone(desk):
    result = await desk.use(bash_tool(), command="echo (")

    assert result.content.startswith("Exit code 2\n")
    assert "syntax error" in result.content
    assert "trap" not in result.content


async def test_a_command_that_is_too_long_to_start_is_told(desk):
    with pytest.raises(ToolFault, match="could not be started"):
        await desk.use(bash_tool(), command=f"true {'x' * 3_000_000}")


async def test_no_descriptor_is_left_open(desk):
    tool = bash_tool()
    await desk.use(tool, command="true")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - counted, not used

    for command in ("true", "false", "sleep 5 & exit 3"):
        await desk.use(tool, command=command)
    await desk.context.tasks.aclose()

    # The line to the watcher, which the first command had opened, was closed.
    assert len(os.listdir("/proc/self/fd")) == before - 1  # noqa: PTH208 - the same


async def test_a_command_that_closes_its_output_is_waited_for(desk, shown):
    result = await desk.use(bash_tool(), command="echo one; exec >&- 2>&-; sleep 0.2; echo two >later; exit 4")

    assert result.content == "Exit code 4\none"
    assert shown(result)["exitCode"] == 4
    assert (desk.folder / "later").read_text() == "two\n"


async def test_a_command_that_forks_a_hundred_times_is_heard_to_its_end(desk):
    result = await desk.use(bash_tool(), command="for n in $(seq 100); do (sleep 0.1; echo $n) & done; wait; echo all")

    *numbers, last = result.content.splitlines()
    assert sorted(map(int, numbers)) == list(range(1, 101))
    assert last == "all"

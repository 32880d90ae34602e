"""A shell waits for the next command: whoever runs in it cannot tell, and it is there for nothing else."""

import asyncio
import os
import re
import signal
import subprocess
import sys

import pytest
from tests.tools.processes import is_alive, named, until

from everturn.ports.scratch import NoScratch
from everturn.tools.bash import bash_tool
from everturn.tools.bash.shell import Shell, find_shell
from everturn.tools.bash.waiting_shell import WaitingShell, can_be_told

OWN = re.compile(
    r"^(?:declare \S+ )?(?:BASHPID|EPOCHREALTIME|EPOCHSECONDS|PPID|RANDOM|SRANDOM|BASH_EXECUTION_STRING|EVERTURN_MARK|__command|_)=.*\n",
    re.MULTILINE,
)
"""Every shell has its own."""
PROBE = r"""
echo "$_ $# $- $? $0 $LINENO $SECONDS"; declare -p; declare -F; trap -p; shopt; set -o; ulimit -a; umask; pwd; echo "$OLDPWD"
for each in /proc/$$/fd/*; do echo "${each##*/} $(stat -Lc %F "$each")"; done
while read -r line; do case $line in Sig[BIC]*) echo "$line" ;; esac; done </proc/$$/status
cut -d' ' -f 6 /proc/$$/stat
"""


OTHERS = set()


def waiting():
    return [pid for pid in named("bash", os.getpid()) if pid not in OTHERS]


@pytest.fixture(autouse=True)
def _others():
    """Of tests that never end their session."""
    OTHERS.update(named("bash", os.getpid()))


@pytest.fixture
async def say(desk):
    tool = bash_tool()

    async def say(command):
        return (await desk.use(tool, command=command)).content

    yield say
    await desk.context.tasks.aclose()


async def until_one_waits():
    await until(waiting)
    return waiting()[0]


async def test_the_next_command_runs_in_the_shell_that_waits(say):
    await say("true")
    first = await until_one_waits()
    assert await say("echo $$") == str(first)

    second = await until_one_waits()
    assert second != first
    assert await say("echo $$") == str(second)


async def test_the_command_finds_the_shell_as_if_it_had_just_started(desk, say):
    (desk.folder / "sub").mkdir()
    desk.write("probe", PROBE)
    await say("cd sub; cd ..")
    waits = await until_one_waits()
    in_it = await say(". ./probe; echo $$")
    # This one cannot be told, so that it starts by itself.
    fresh = await say(". ./probe; echo $$ # é")

    pid, other = in_it.splitlines()[-1], fresh.splitlines()[-1]
    assert pid == str(waits) != other
    assert OWN.sub("", in_it).replace(pid, "PID") == OWN.sub("", fresh).replace(other, "PID")
    assert f'OLDPWD="{desk.folder}/sub"' in in_it


async def test_what_was_exported_meanwhile_is_there(say):
    await say("true")
    waits = await until_one_waits()
    assert await say("export A=1; echo $$") == str(waits)
    # It was started before the shell had told what it exports.
    await until_one_waits()
    assert await say('echo "$A"') == "1"


class MovingScratch(NoScratch):
    """Another folder each time."""

    made = 0

    def make(self):
        self.made += 1
        return f"/tmp/{self.made}"


async def test_one_that_was_started_with_other_variables_ends_unused(desk):
    shell, folders = Shell(scratch=MovingScratch()), (str(desk.folder),)
    shell.plan_start("true", folders)
    shell.prepare(folders)
    waits = await until_one_waits()

    assert shell.plan_start("true", folders).waiting is None
    assert not is_alive(waits)
    shell.close()


async def test_a_command_that_ends_after_its_session_leaves_none(desk):
    ended, other, folders = Shell(), Shell(), (str(desk.folder),)
    ended.plan_start("true", folders)
    ended.close()
    ended.prepare(folders)
    other.prepare(folders)

    waits = await until_one_waits()
    assert waiting() == [waits]
    other.close()
    assert not waiting()


async def test_the_folder_is_that_of_the_command(desk, say):
    (desk.folder / "sub").mkdir()
    await say("true")
    await until_one_waits()
    await say("cd sub")
    waits = await until_one_waits()

    assert await say('echo "$PWD $OLDPWD $$"') == f"{desk.folder}/sub {desk.folder} {waits}"


async def test_where_it_was_killed_another_one_runs_the_command_once(desk, say):
    await say("true")
    waits = await until_one_waits()
    os.kill(waits, signal.SIGKILL)
    await until(lambda: not is_alive(waits))

    assert await say("echo x >>ran; cat ran") == "x"


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("echo é", "é"),
        ("printf 'a\rb' | wc -c", "3"),
        (f"echo {'x' * 5_000} | wc -c", "5001"),
        ("printf '\x01' | wc -c", "1"),
    ],
)
async def test_what_a_shell_may_read_otherwise_is_not_told_to_it(say, command, printed):
    await say("true")
    waits = await until_one_waits()

    assert await say(command) == printed
    assert waiting() == [waits]


def test_what_can_be_told_is_plain_and_short():
    assert can_be_told(("git log --oneline | head\n\tx", "/tmp/a b", ""))
    assert not any(can_be_told((word, "/", "")) for word in ("é", "a\0b", "\x7f", "\r", "x" * 4_000))


async def test_the_end_of_the_session_ends_it(desk):
    tool = bash_tool()
    await desk.use(tool, command="true")
    waits = await until_one_waits()
    await desk.context.tasks.aclose()

    assert not is_alive(waits)


async def test_one_that_nobody_needs_for_long_ends(desk):
    shell = Shell(max_waiting_s=0.05)
    shell.prepare((str(desk.folder),))

    await until(waiting)
    await until(lambda: not waiting())
    assert shell.plan_start("true", (str(desk.folder),)).waiting is None


async def test_a_session_that_ends_at_once_starts_none(desk):
    await desk.use(bash_tool(), command="true")
    await desk.context.tasks.aclose()

    assert not waiting()


def test_in_a_copy_of_the_program_it_is_the_other_ones():
    shell = WaitingShell(find_shell(()), {}, "mark", 0)
    assert shell.fits(find_shell(()), {})
    if (copy := os.fork()) == 0:
        is_ours = shell.fits(find_shell(()), {})
        shell.close()
        os._exit(is_ours)

    assert os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]) == 0
    assert waiting()
    shell.close()
    assert not waiting()


PROGRAM = """
import time
from everturn.tools.bash.shell import Shell, find_shell
from everturn.tools.bash.waiting_shell import WaitingShell
shell = WaitingShell(find_shell(()), {}, "mark", 0)
print("started", flush=True)
time.sleep(600)
"""


def test_it_ends_with_a_program_that_is_killed():
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE) as program:
        assert program.stdout.readline() == b"started\n"
        waits = named("bash", program.pid)
        assert waits
        program.kill()
    asyncio.run(until(lambda: not any(is_alive(pid) for pid in waits)))

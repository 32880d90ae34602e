"""Folder and exported variables go from one command to the next, whatever the command does to its shell."""

import asyncio
import os
import subprocess
from shutil import which

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.tools.bash import bash_tool
from everturn.tools.bash.shell_report import ShellReport, VariableChanges, parse_exports, parse_report, plan_changes
from everturn.workspace.descendants import MARK

UNTOLD = (
    "The working folder and variables are as they were before the command: its shell ended without telling them "
    "(an EXIT trap of its own, or exec)"
)


@pytest.fixture
def say(desk):
    """Runs commands one after the other in one session; gives what they print."""
    tool = bash_tool()

    async def say(command):
        return (await desk.use(tool, command=command)).content

    return say


async def test_exported_variables_stay_and_others_do_not(say):
    await say("export A='one two'; B=three; export C=$'line\\nline\\t\"$`\\\\' D=é")

    assert await say('printf "%s|" "$A" "$B" "$C" "$D"') == 'one two||line\nline\t"$`\\|é|'


async def test_a_variable_that_was_unset_stays_so(say, monkeypatch):
    monkeypatch.setenv("INHERITED", "x")
    await say("unset INHERITED; export A=1")
    await say("unset A")

    assert await say('echo "[$INHERITED$A]"') == "[]"
    await say("export INHERITED=again")
    assert await say('echo "[$INHERITED]"') == "[again]"


async def test_bytes_that_are_no_text_survive(say):
    await say(r"export A=$'\xff\xfe x'")

    assert await say('printf %s "$A" | od -An -tx1') == " ff fe 20 78"


@pytest.mark.parametrize(
    "ending",
    ["exit 3", "set -e; false; echo not here", "kill -TERM $$; sleep 5", "set -u; : $undefined", "set -x", "set -C",
     "exec 1>&- 2>&-", "return 2>/dev/null", "set -o posix", "ulimit -f 0", "f() { exit 2; }; f", "exec 240>&-",
     "exec 240>/dev/null; f() { exit 2; }; f", "f() { set -e; false; }; f", ". ./ends.sh", "set -a", "exec 11>log; exit"],
)  # fmt: skip
async def test_what_a_command_left_behind_is_known_however_it_ended(desk, say, ending):
    (desk.folder / "sub").mkdir()
    desk.write("sub/ends.sh", "exit 3\n")

    await say(f"cd sub; export A=1; {ending}")

    assert await say('echo "$A $PWD"') == f"1 {desk.folder}/sub"


@pytest.mark.parametrize(
    ("ending", "notice"),
    [
        ("kill -9 $$", ""),
        ("exec true", UNTOLD),
        ("trap 'echo bye' EXIT", UNTOLD),
    ],
)
async def test_a_shell_that_could_not_tell_changes_nothing_and_that_is_said(desk, say, ending, notice):
    (desk.folder / "sub").mkdir()
    await say("export A=before")

    ended = await say(f"cd sub; export A=after; {ending}")

    assert ended.endswith(notice)
    assert await say('echo "$A $PWD"') == f"before {desk.folder}"


async def test_tracing_shows_the_command_alone(say):
    assert await say("set -x; true") == "++ true"


async def test_the_folder_before_is_known(desk, say):
    (desk.folder / "a").mkdir()
    await say("cd a")

    assert await say("cd -") == f"{desk.folder}\nThe shell is back in the working folder"
    assert await say("cd -") == f"{desk.folder}/a\nThe shell is now in a/"


async def test_there_is_no_folder_before_the_first(say):
    assert "OLDPWD not set" in await say("cd -")


async def test_a_folder_may_have_any_name(desk, say):
    name = "new\nline 'quote\" $(x) é"
    (desk.folder / name).mkdir()
    await say("cd new*")

    assert await say("pwd") == f"{desk.folder}/{name}"


async def test_a_command_that_removes_its_folder_is_told_where_the_next_one_runs(desk, say):
    ended = await say('mkdir sub; cd sub; rmdir "$PWD"')

    assert ended == "The shell's folder is gone; the next command runs in the working folder"
    assert await say("pwd") == str(desk.folder)


async def test_where_the_folder_cannot_be_entered_the_next_command_runs_in_the_project(desk, say):
    await say("mkdir sub; cd sub")
    (desk.folder / "sub").rmdir()
    (desk.folder / "sub").write_text("")

    told = await say("pwd")

    assert told == f"{desk.folder}\nThe folder {desk.folder}/sub cannot be entered; the command ran in {desk.folder}"
    assert await say("pwd") == str(desk.folder)


async def test_a_command_sees_no_arguments(say):
    assert await say('echo "$#"') == "0"


async def test_the_depth_of_shells_does_not_grow(say):
    assert await say("echo $SHLVL") == await say("echo $SHLVL")


async def test_commands_that_overlap_begin_alike_and_both_count(desk):
    tool = bash_tool()
    await desk.use(tool, command="export BOTH=0")
    wait = "until [ -e {} ]; do sleep 0.01; done"
    first = desk.use(tool, command=f"export A=$BOTH BOTH=1; touch one; {wait.format('two')}")
    second = desk.use(tool, command=f"{wait.format('one')}; export B=$BOTH; touch two")

    await asyncio.gather(first, second)

    assert (await desk.use(tool, command='echo "$A$B$BOTH"')).content == "001"


async def test_a_large_environment_keeps_nobody_waiting(say):
    await say("for n in {1..300}; do export V$n=$(printf %01000d $n); done")

    assert await say("echo ${#V1} ${#V300}") == "1000 1000"


async def test_nobody_is_asked_and_nothing_pages(say):
    assert await say("echo $PAGER $GIT_TERMINAL_PROMPT") == "cat 0"
    await say("export PAGER=mine")
    assert await say("echo $PAGER") == "mine"


async def test_where_there_is_no_bash_the_plain_shell_does_the_same(desk, say, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    (desk.folder / "sub").mkdir()

    await say('cd sub; export A="it\'s \\$1"; set -C; exit 3')

    assert await say('echo "$A $PWD${BASH_VERSION+ bash}"') == f"it's $1 {desk.folder}/sub"


async def test_a_command_inside_a_command_has_both_marks(say, monkeypatch):
    monkeypatch.setenv(MARK, "outer.1")

    outer, _, inner = (await say(f"echo ${MARK}")).partition(":")

    assert outer == "outer.1"
    assert inner.endswith(".1")


names = st.from_regex(r"\AV[A-Za-z0-9_]{0,5}\Z")
values = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])) | st.sampled_from(
    ['a"b', "$x`y`", "\\", "\n", "'", "\x1b[31m", "\udcff", 'a\ndeclare -x VQ="1"\n', "a\nexport VQ='1'\n", ""]
)


@pytest.mark.parametrize("shell", [shell for shell in ("bash", "dash") if which(shell)])
@settings(max_examples=60, deadline=None)
@given(variables=st.dictionaries(names, values, max_size=6))
def test_what_a_shell_writes_of_its_variables_is_read_back(shell, variables):
    environment = {os.fsencode(name): os.fsencode(value) for name, value in variables.items()}
    told = subprocess.run([which(shell), "-c", "export -p"], env=environment, capture_output=True, check=True).stdout

    read = parse_exports(told)

    assert {name: value for name, value in read.items() if name.startswith("V")} == variables


@given(st.binary(max_size=200))
def test_any_bytes_are_a_report_or_none(told):
    report = parse_report(told)

    assert report is None or isinstance(report, ShellReport)


@given(given_=st.dictionaries(names, values), exported=st.dictionaries(names, values))
def test_what_was_given_and_what_changed_make_what_was_exported(given_, exported):
    changes = plan_changes(given_, exported, without=MARK)

    assert {name: value for name, value in given_.items() if name not in changes.unset} | changes.set == exported


def test_what_the_shell_makes_itself_is_no_change():
    given_ = {"PWD": "/a", "SHLVL": "1", MARK: "x.1", "odd.name": "y"}

    assert plan_changes(given_, {"PWD": "/b", "SHLVL": "2", "_": "z"}, without=MARK) == VariableChanges({}, frozenset())


async def test_what_no_command_could_be_started_with_is_not_taken_over(say):
    await say("OLDPWD=/$(head -c 300000 /dev/zero | tr '\\0' a)")
    assert await say("echo ${OLDPWD-none}") == "none"

    await say("name=$(printf 'd%.0s' {1..200}); for i in {1..30}; do mkdir $name; cd $name; done")
    assert await say("echo alive") == "alive"

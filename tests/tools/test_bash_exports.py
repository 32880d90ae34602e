"""What a command exports for others: bounded, and never unseen where it decides which programs run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.tools.bash import bash_tool
from everturn.tools.bash.exports import LONGEST, MOST_BYTES, judge_exports, matters
from everturn.tools.bash.report import Changes


@pytest.fixture
def say(desk):
    """Runs commands one after the other in one session; gives what they print."""
    tool = bash_tool()

    async def say(command):
        return (await desk.use(tool, command=command)).content

    return say


@pytest.mark.parametrize("name", ["BASH_ENV", "ENV", "LD_PRELOAD", "GIT_SSH_COMMAND", "PYTHONPATH", "NODE_OPTIONS"])
async def test_what_decides_on_programs_is_kept_only_where_the_command_spells_it_out(desk, say, name):
    desk.write("set.sh", f"export {name}=/nowhere\n")

    told = await say(". ./set.sh")

    assert f"{name} was exported and not kept" in told
    assert await say(f"echo ${{{name}-unset}}") == "unset"
    assert f"{name} is now '/nowhere'" in await say(f"export {name}=/nowhere")
    assert (await say(f"echo ${name}")).endswith("/nowhere")


async def test_an_environment_that_is_activated_changes_the_path_and_that_is_told(desk, say):
    desk.write("activate", 'export PATH="/opt/env/bin:$PATH"; export VIRTUAL_ENV=/opt/env\n')

    assert "PATH is now '/opt/env/bin:" in await say(". ./activate")
    assert (await say("echo $PATH")).startswith("/opt/env/bin:")


async def test_a_forged_report_of_any_size_breaks_nothing(say):
    await say("yes 'declare -x A=\"b\"' | head -c 5000000 >&240; exit 0")
    await say("head -c 3000000 /dev/zero >&240; exit 0")

    assert await say("echo ${A-unset}; pwd | wc -l") == "unset\n1"


async def test_exports_that_no_program_could_start_with_are_not_kept(say):
    told = await say('export A="$(head -c 200000 /dev/zero | tr "\\0" x)"')

    assert "What the command exported was not kept" in told
    assert await say("ls >/dev/null && echo ${A-unset}") == "unset"


@given(
    st.dictionaries(st.sampled_from(["A", "PATH", "LD_PRELOAD", "BASH_ENV", "GIT_DIR"]), st.text(max_size=20)),
    st.dictionaries(st.text("AB", min_size=1, max_size=3), st.integers(0, MOST_BYTES)),
    st.text("ABD_EHLNPVRTSI= xport", max_size=40),
)
def test_whatever_was_exported_what_is_kept_is_small_and_seen(small, large, command):
    changes = Changes({**{name: "x" * size for name, size in large.items()}, **small}, frozenset())

    kept = judge_exports(changes, {}, command).changes.set

    assert sum(map(len, (*kept, *kept.values()))) <= MOST_BYTES
    assert all(len(value) <= LONGEST for value in kept.values())
    assert all(not matters(name) or f"{name}=" in command or name == "PATH" for name in kept)

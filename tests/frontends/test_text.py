"""Text to a pipe: the answer only, whatever happened on the way."""

import errno
import io
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.frontends.agents import PlayedAgent, finished
from tests.frontends.readers import open_pipe, run_piped

from everturn.core.events import BlockBegan, Level, Noticed, TextDelta
from everturn.frontends.headless.run import run_headless
from everturn.frontends.headless.view import Introduction
from everturn.modelserver import calls, cut, error, overloaded, say, stall, text, thinking
from everturn.settings.setup import WrittenSettings

PROJECT = Path(__file__).parents[2]


async def test_a_pipe_gets_the_final_answer_and_nothing_else(bench):
    (bench.folder / "a.txt").write_text("hello\n")
    look = say(thinking("I look."), "Reading.", calls(("Read", {"file_path": "a.txt"})))
    bench.model(overloaded(), look, cut("Half an ans"), text("It says **hello**."))

    code, written, complaints = await run_piped(bench.engine())

    assert (code, written) == (0, "It says **hello**.\n")
    assert [line.partition(" (attempt 1 of 10, next in 0.")[1] != "" for line in complaints.splitlines()] == [True] * 2


async def test_a_run_in_which_nothing_failed_says_nothing_else(bench):
    bench.model(calls(("Glob", {"pattern": "*"})), text("Done."))

    assert await run_piped(bench.engine()) == (0, "Done.\n", "")


async def test_what_went_wrong_is_said_on_standard_error(bench):
    bench.model(error(401))

    code, written, complaints = await run_piped(bench.engine())

    assert (code, written) == (1, "")
    assert complaints.startswith("everturn: ")
    assert complaints.count("\n") == 1


async def test_a_complete_answer_that_crossed_the_budget_is_printed_and_the_limit_said(bench):
    bench.model(text("The whole answer.", usage={"output_tokens": 1_000_000}))

    code, written, complaints = await run_piped(bench.engine(max_budget_usd=0.05))

    assert (code, written) == (1, "The whole answer.\n")
    assert complaints.startswith("everturn: Reached the limit of 0.05 USD: the query cost ")


async def test_an_answer_that_the_budget_cut_off_is_not_printed(bench):
    bench.model(stall(text("word " * 6_000, chunk=500), after=60))

    code, written, complaints = await run_piped(bench.engine(max_budget_usd=0.04))

    assert (code, written) == (1, "")
    assert complaints.startswith("everturn: Reached the limit of 0.04 USD: the query cost ")


async def test_calls_that_were_not_allowed_are_told(bench):
    bench.model(calls(("Bash", {"command": "make"})), text("Then not."))

    code, written, complaints = await run_piped(bench.engine())

    assert (code, written) == (0, "Then not.\n")
    assert complaints == (
        "everturn: 1 tool call was not allowed: Bash "
        "(mode default: no rule allows 'make', and nobody is here to approve it)\n"
        "everturn: To allow it from the start: --allowed-tools 'Bash(make)'\n"
    )


async def test_calls_that_were_not_allowed_in_an_earlier_query_are_not_told_again(bench):
    bench.model(calls(("Bash", {"command": "make"})), text("Then not."), text("Hello."))
    engine = bench.engine()
    await run_piped(engine)
    await engine.aclose()

    assert await run_piped(bench.engine(resume=engine.session_id)) == (0, "Hello.\n", "")


async def test_each_way_to_allow_what_was_denied_is_named_once(bench):
    bench.model(
        calls(
            ("Bash", {"command": "make 'all of it'"}),
            ("Bash", {"command": "npm test && make"}),
            ("Write", {"file_path": "a.txt", "content": ""}),
        ),
        text("Then not."),
    )

    _, _, complaints = await run_piped(bench.engine())

    assert complaints.endswith(
        "everturn: To allow it from the start: --allowed-tools "
        "'Bash(make '\\''all of it'\\''),Bash(npm test *),Bash(make)' --permission-mode acceptEdits\n"
    )


async def test_where_no_rule_helps_the_terminal_is_named(bench):
    bench.model(calls(("Bash", {"command": "rmdir /no-such-folder"})), text("Then not."))

    _, _, complaints = await run_piped(bench.engine())

    assert complaints.endswith(
        "everturn: There is no narrow rule to allow this from the start; "
        "it is asked about where you run everturn at a terminal\n"
    )


async def test_the_mode_that_asks_nobody_gets_advice_too(bench):
    bench.model(calls(("Bash", {"command": "make"}), ("Bash", {"command": "make; rm x"})), text("Then not."))

    engine = bench.engine(permission_mode="dontAsk", disallowed_tools=["Bash(rm *)"])
    _, _, complaints = await run_piped(engine)

    assert complaints.endswith("everturn: To allow it from the start: --allowed-tools 'Bash(make)'\n")


async def test_who_plans_gets_no_advice_to_change_files(bench):
    bench.model(calls(("Write", {"file_path": "a.txt", "content": ""})), text("Then not."))

    _, _, complaints = await run_piped(bench.engine(permission_mode="plan"))

    assert complaints.startswith("everturn: 1 tool call was not allowed: Write (")
    assert complaints.count("\n") == 1


async def test_where_only_managed_rules_count_no_flag_is_advised(bench):
    bench.model(
        calls(("Bash", {"command": "make"}), ("Write", {"file_path": "a.txt", "content": ""})), text("Then not.")
    )

    told = Introduction(only_managed_rules=True)
    _, _, complaints = await run_piped(
        bench.engine(written=WrittenSettings(only_managed_rules=True)), introduction=told
    )

    assert complaints.endswith(
        "everturn: Only managed settings may allow this from the start; "
        "it is asked about where you run everturn at a terminal\n"
    )


async def test_what_a_rule_forbids_gets_no_way_round(bench):
    bench.model(calls(("Bash", {"command": "make"})), text("Then not."))

    _, _, complaints = await run_piped(bench.engine(permission_mode="plan"))

    assert "was not allowed" in complaints
    assert "--allowed-tools" not in complaints


async def test_warnings_reach_standard_error_and_notices_do_not():
    notices = (Noticed(text="Not\x1b[31m saved."), Noticed(text="Not\x1b[31m saved.", level=Level.WARNING))

    assert await run_piped(PlayedAgent([*notices, finished()])) == (0, "Done.\n", "everturn: Not saved.\n")


async def test_twenty_thousand_deltas_cost_a_pipe_next_to_nothing():
    deltas = [TextDelta(message_id="m", index=0, text="word ") for _ in range(20_000)]
    agent = PlayedAgent([BlockBegan(message_id="m", index=0, kind="text"), *deltas, finished("word " * 20_000)])
    began = time.process_time()

    code, written, _ = await run_piped(agent)

    assert time.process_time() - began < 0.5
    assert (code, written) == (0, "word " * 20_000 + "\n")


async def test_a_reader_that_went_away_ends_the_query_quietly(bench):
    bench.model(text("Hello there, this is long.", chunk=3))
    read_end, write_end = os.pipe()
    os.close(read_end)
    err = open_pipe()
    with os.fdopen(write_end, "wb") as out:
        code = await run_headless(bench.engine(), "Hi.", out=out, err=err.file)

    assert (code, err.close()) == (141, b"")


async def test_a_reader_that_leaves_in_mid_stream_closes_the_query():
    endless = (Noticed(text="again") for _ in iter(int, 1))
    agent = PlayedAgent(endless)
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as out:
        code = await run_headless(agent, "Hi.", out=out, err=None, output_format="stream-json")

    assert (code, agent.closed) == (141, True)


class FullDisk(io.BytesIO):
    def flush(self) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


async def test_a_full_disk_is_told_and_is_an_error():
    err = open_pipe()

    code = await run_headless(PlayedAgent([finished()]), "Hi.", out=FullDisk(), err=err.file)

    assert (code, err.close()) == (1, b"everturn: the output cannot be written: No space left on device\n")


PROGRAM = """
import asyncio, sys
from tests.frontends.agents import PlayedAgent, finished
from everturn.frontends.headless.run import run_headless
agent = PlayedAgent([finished("word " * 100_000)])
sys.exit(asyncio.run(run_headless(agent, "Hi.", out=sys.stdout.buffer, err=sys.stderr.buffer)))
"""


def test_a_program_whose_reader_went_away_ends_without_a_word():
    read_end, write_end = os.pipe()
    os.close(read_end)
    program = [sys.executable, "-c", PROGRAM]

    ended = subprocess.run(program, stdout=write_end, stderr=subprocess.PIPE, cwd=PROJECT, timeout=300, check=False)
    os.close(write_end)

    assert (ended.returncode, ended.stderr) == (141, b"")


def test_a_pipe_needs_none_of_what_a_terminal_needs():
    listing = PROGRAM.replace("sys.exit(", "(") + "print(*sys.modules, file=sys.stderr)"

    ended = subprocess.run(
        [sys.executable, "-c", listing], capture_output=True, cwd=PROJECT, timeout=300, check=True, text=True
    )

    loaded = set(ended.stderr.split())
    ours = {name for name in loaded if name.startswith("everturn.frontends.")}
    assert ours == {
        "everturn.frontends.command_prompts",
        "everturn.frontends.commands",
        "everturn.frontends.engine_controls",
        "everturn.frontends.figures",
        "everturn.frontends.headless",
        "everturn.frontends.headless.complaints",
        "everturn.frontends.headless.endings",
        "everturn.frontends.headless.run",
        "everturn.frontends.headless.sink",
        "everturn.frontends.headless.text",
        "everturn.frontends.headless.view",
    }
    assert loaded.isdisjoint({"rich", "difflib", "unicodedata"})


async def test_a_closed_standard_output_is_told_before_anything_is_spent():
    agent = PlayedAgent([finished()])
    err = open_pipe()

    code = await run_headless(agent, "Hi.", out=None, err=err.file)

    assert code == 2
    assert err.close() == b"everturn: standard output is closed, so there is nowhere to put the answer\n"
    assert agent.closed is False


async def test_an_empty_prompt_is_refused_in_words(bench):
    assert await run_piped(bench.engine(), "") == (2, "", "everturn: prompt: it is empty\n")

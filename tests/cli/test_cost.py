"""`everturn cost`: the bill of a real session, from its file to a terminal, a pipe and a program."""

import asyncio
import os
import pty
import re

import msgspec
import pytest

from everturn.modelserver import call, cut, say, text

GLOB = call("Glob", {"pattern": "*"})
AMOUNT = re.compile(r"\d+\.\d{4,6}")


def priced(answer, output, **counters):
    usage = {"input_tokens": 7, "output_tokens": output, "cache_creation": None, **counters}
    return say(answer, usage=usage)


def page_of(done):
    assert done.code == 0
    return msgspec.json.decode(done.out)


@pytest.fixture
async def session(program):
    """Two prompts, three turns, in a session that is called first-session."""
    program.model(
        priced(GLOB, 100, cache_creation_input_tokens=5_000, cache_read_input_tokens=0),
        priced(text("Done."), 1_000, cache_creation_input_tokens=100, cache_read_input_tokens=5_000),
        priced(text("Again."), 333, cache_creation_input_tokens=0, cache_read_input_tokens=5_100),
    )
    await program.run("-p", "Look", "--session-id", "first-session")
    done = await program.run("-p", "Again", "--resume", "first-session", "--output-format", "json")
    return done.lines[-1]


async def test_the_bill_of_a_real_session_is_its_total(program, session):
    page = page_of(await program.run("cost", "first-session", "--json"))

    assert page["total_usd"] == pytest.approx(session["total_cost_usd"], abs=1e-12)
    parts = [turn["usd"] for turn in page["rounds"]]
    assert [(turn["query"], turn["round"], turn["purpose"]) for turn in page["rounds"]] == [
        (1, 1, "main"),
        (1, 2, "main"),
        (2, 1, "main"),
    ]
    for usd in parts:
        kinds = ("input", "output", "cache_write", "cache_read", "not_split")
        assert sum(usd[kind] for kind in kinds) == pytest.approx(usd["total"], abs=1e-15)
    assert sum(usd["total"] for usd in parts) == pytest.approx(page["total_usd"], abs=1e-15)
    assert page["total"]["tokens"] == {
        "input": 21,
        "output": 1_433,
        "cache_write": 5_100,
        "cache_read": 10_100,
        "cache_write_1h": 0,
        "estimated_output": 0,
    }
    assert page["total"]["prices_match"]
    assert page["total"]["cache"]["net_usd"] > 0


LONG = "word " * 6_000
"""7,500 tokens by the server's count."""


async def test_ten_answers_that_broke_off_are_on_the_bill_as_estimates(program):
    program.model(*[cut(text(LONG, chunk=500), after=60)] * 10)
    failed = await program.run("-p", "Look", "--session-id", "cut-session", "--output-format", "json")
    page = page_of(await program.run("cost", "cut-session", "--json"))
    shown = await program.run("cost", "cut-session")

    (result,) = failed.lines
    (models,) = result["modelUsage"].values()
    tokens = page["total"]["tokens"]
    assert tokens["output"] == tokens["estimated_output"] == pytest.approx(75_000, rel=0.1)
    assert result["usage"]["output_tokens"] == result["usage"]["estimated_output_tokens"] == tokens["output"]
    assert models["outputTokens"] == models["estimatedOutputTokens"] == tokens["output"]
    assert page["total_usd"] == pytest.approx(result["total_cost_usd"], abs=1e-12)
    assert page["total_usd"] > 75_000 * 0.9 * 10 / 1_000_000, "the catalogue's price is more than that"
    assert "output tokens are estimated from what was received" in " ".join(shown.out.split())


async def test_a_budget_of_five_cents_ends_answers_that_break_off(program):
    program.model(*[cut(text(LONG, chunk=500), after=60)] * 10)
    done = await program.run("-p", "Look", "--max-budget-usd", "0.05", "--output-format", "json")

    (result,) = done.lines
    assert (done.code, result["subtype"], result["terminal_reason"]) == (1, "error_max_budget_usd", "budget_exhausted")
    assert "result" not in result
    assert 0.05 <= result["total_cost_usd"] < 0.2
    assert len(program.requests) <= 2


async def test_what_is_printed_adds_up_to_the_total(program, session):
    done = await program.run("cost")

    assert done.code == 0
    assert done.out.isascii()
    table = done.out.partition("round  for")[2].partition("\n\n")[0].splitlines()[1:]
    *rows, total = [[int(amount.replace(".", "")) for amount in AMOUNT.findall(line)] for line in table]
    assert len(rows) == 3
    assert all(sum(row[:-1]) == row[-1] for row in (*rows, total))
    assert sum(row[-1] for row in rows) == total[-1] == round(session["total_cost_usd"] * 10**6)


async def test_the_slash_command_tells_the_same_in_short(program, session):
    short = await program.run("-p", "/cost", "--resume", "first-session")
    assert f"claude-sonnet-5: ${session['total_cost_usd']:.6f}, 3 calls, input 21 " in short.out
    assert "The cache was worth $" in short.out


async def test_a_beginning_that_no_other_session_has_is_enough(program, session):
    await program.run("-p", "Other", "--session-id", "second-session")
    assert "first-session" in (await program.run("cost", "fir")).out
    assert "second-session" in (await program.run("cost")).out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nowhere"], "there is no session nowhere"),
        (["first-sesion"], "did you mean first-session?"),
        (["../../etc/passwd"], "there is no session ../../etc/passwd"),
        (["a", "b"], "one session at a time"),
        (["--jsn"], "unknown flag '--jsn'"),
    ],
)
async def test_what_cannot_be_shown_is_said_in_a_line(program, session, words, complaint):
    done = await program.run("cost", *words)
    assert (done.code, done.out) == (2, "")
    assert complaint in done.err


async def test_several_sessions_with_the_same_beginning_are_named(program, session):
    await program.run("-p", "Other", "--session-id", "first-again")
    done = await program.run("cost", "first")
    assert done.code == 2
    assert "2 sessions begin with first:\n  first-again    Other\n  first-session  Look\n" in done.err


@pytest.mark.parametrize("settings", ["{", '{"everturn": {"models": "nowhere.json"}}', '{"permissions": {"deny": 7}}'])
async def test_settings_that_nobody_could_run_with_do_not_hide_what_was_spent(program, session, settings):
    before = page_of(await program.run("cost", "--json"))
    (program.home / "settings.json").write_text(settings)

    done = await program.run("cost", "--json")

    assert page_of(done) == before
    assert done.err.count("\n") == 1


async def test_a_folder_without_sessions_says_so(program):
    done = await program.run("cost")
    assert (done.code, done.out) == (2, "")
    assert "there is no session of" in done.err


async def test_a_session_of_the_first_format_without_turns_still_shows(program):
    folder = program.home / "sessions"
    folder.mkdir(parents=True)
    (folder / "old.jsonl").write_text(
        '{"type":"session","format":1,"session_id":"old","at":1.0,"folder":"/x","version":"0"}\n'
        '{"type":"usage","purpose":"main","model":"gone-model","usage":{"input":5,"output":7},"usd":0.25}\n'
        "{broken\n"
        '{"type":"usage","purpose":"main","model":"claude-sonnet-5","usage":{},"usd":0.5}\n'
    )
    page = page_of(await program.run("cost", "old", "--json"))
    assert page["total_usd"] == 0.75
    shown = await program.run("cost", "old")
    assert shown.code == 0
    assert shown.out.startswith("Session old cost $0.75")


async def test_a_session_that_cost_nothing_says_so(program):
    folder = program.home / "sessions"
    folder.mkdir(parents=True)
    (folder / "new.jsonl").write_text(
        '{"type":"session","format":1,"session_id":"new","at":1.0,"folder":"/x","version":"0"}\n'
    )
    done = await program.run("cost", "new")
    assert (done.code, done.out) == (
        0,
        "Session new has cost nothing: no call to a model was charged.\n",
    )
    assert page_of(await program.run("cost", "new", "--json"))["total_usd"] == 0


@pytest.mark.parametrize(("no_colour", "painted"), [(None, True), ("1", False)])
async def test_a_terminal_gets_colours_unless_it_wants_none(program, session, no_colour, painted):
    ours, theirs = pty.openpty()
    env = {"TERM": "xterm-256color", "COLUMNS": "90", "NO_COLOR": no_colour}
    try:
        async with program.started("cost", env=env, stdout=theirs) as process:
            written = await asyncio.to_thread(read_until, ours, b"against plain input")
            await process.wait()
    finally:
        os.close(theirs)
        os.close(ours)
    assert ("\x1b[36m" in written) is painted
    bars = [re.sub(r"\x1b\[\d+m", "", line) for line in written.splitlines() if line.startswith(("1.", "2."))]
    assert max(map(len, bars)) <= 90


def read_until(descriptor: int, last: bytes) -> str:
    """A terminal that is closed on the other side may forget what it held."""
    written = b""
    while last not in written:
        written += os.read(descriptor, 65_536)
    return written.decode()

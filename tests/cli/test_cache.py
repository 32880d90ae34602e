"""`everturn cache`: what the prompt cache gave a real session, from its file to a pipe and a program; and `/context`."""

import msgspec
import pytest

from everturn.modelserver import call, text

GLOB = call("Glob", {"pattern": "*"})
WORDS = "Some words that fill the conversation. " * 100


@pytest.fixture
async def session(program):
    """Two prompts, three turns, in a session that is called first-session; the second prompt has another system prompt."""
    program.model(GLOB, text(WORDS), text("Again."))
    await program.run("-p", "Look", "--session-id", "first-session")
    words = ("--resume", "first-session", "--append-system-prompt", "Be brief.", "--output-format", "json")
    return (await program.run("-p", "Again", *words)).lines[-1]


async def test_the_story_of_a_real_session(program, session):
    done = await program.run("cache", "first-session", "--json")

    page = msgspec.json.decode(done.out)
    assert (done.code, page["session_id"], page["calls"], page["breaks"]) == (0, "first-session", 3, 1)
    first, second, third = page["requests"]
    assert (first["read"], second["read"], second["breaks"]) == (0, first["written"], [])
    [broken] = third["breaks"]
    assert (broken["segment"], broken["cause"]) == ("system", "resume")
    assert 0 < broken["lost_tokens"] <= second["read"] + second["written"]
    assert page["causes"]["resume"]["lost_usd"] == broken["lost_usd"] > 0


async def test_the_page_tells_the_same(program, session):
    done = await program.run("cache")

    assert done.code == 0
    assert done.out.startswith("Session first-session: in 3 calls the cache gave ")
    [line] = [line for line in done.out.splitlines() if line.startswith("2.1")]
    assert "system: resume" in line


async def test_a_flag_that_does_not_exist_is_refused(program):
    done = await program.run("cache", "--jsn")

    assert done.code == 2
    assert "unknown flag '--jsn'" in done.err
    assert "did you mean '--json'?" in done.err


async def test_more_than_one_session_is_refused(program):
    assert "one session at a time" in (await program.run("cache", "a", "b")).err


async def test_the_window_is_a_picture_in_text_and_an_object_in_json(program, session):
    picture = await program.run("-p", "/context", "--resume", "first-session")
    done = await program.run("-p", "/context", "--resume", "first-session", "--output-format", "json")

    [result] = done.lines
    use = result["structured_output"]
    assert use["model"] == "claude-sonnet-5"
    assert {share["name"] for share in use["categories"]} >= {"system prompt", "tools", "user text", "free space"}
    assert sum(share["tokens"] for share in use["categories"]) == use["raw_max_tokens"] == 1_000_000
    assert not use["is_estimate"]
    assert result["result"] == picture.out
    assert "S system prompt" in picture.out

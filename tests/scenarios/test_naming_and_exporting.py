"""`/rename` and `/export` work on the conversation under way."""

import json
import stat

import pytest

from everturn.frontends.commands import COMMANDS, parse_command, run_command
from everturn.modelserver import call, say, text
from everturn.sessions.index.index import SessionIndex


@pytest.fixture
async def engine(bench):
    made = bench.engine()
    bench.model(say("Looking.", call("Glob", {"pattern": "*"})), text("All is well."))
    await bench.go_on(made, "Look.")
    return made


async def type_(engine, line):
    invoked = parse_command(line, COMMANDS, exists=lambda _: False)
    [said] = [reply async for reply in run_command(invoked, engine, COMMANDS)]
    return said


async def test_a_title_is_kept_while_the_session_is_open(bench, engine):
    said = await type_(engine, "/rename  Parser   rewrite ")
    assert (said.text, said.is_error) == ("This session is called 'Parser rewrite' now.", False)
    bench.model(text("Yes."))
    await bench.go_on(engine, "Still here?")
    with SessionIndex(bench.home) as index:
        assert [card.title for card in index.cards()] == ["Parser rewrite"]
    assert (await type_(engine, "/rename")).text == "A title must say something."


@pytest.mark.parametrize("name", ["talk.md", "talk.html", "talk.json"])
async def test_the_conversation_is_written_to_a_file_of_its_owner(bench, engine, name):
    path = bench.folder / name
    said = await type_(engine, f"/export {name}")
    assert said.text.startswith(f"Exported to {path}. ")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "All is well." in path.read_text()
    if name.endswith("json"):
        assert [message["kind"] for message in json.loads(path.read_text())["messages"]] == [
            "prompt",
            "answer",
            "results",
            "answer",
        ]
    again = await type_(engine, f"/export {name}")
    assert (again.text, again.is_error) == (f"{path} is there already.", True)


async def test_without_a_name_the_session_gives_it(bench, engine):
    await type_(engine, "/export")
    assert (bench.folder / f"everturn-{engine.session_id[:8]}.md").exists()


async def test_a_session_that_is_not_saved_says_so(bench):
    engine = bench.engine(persist=False, session_id="nowhere")
    for line in ("/rename A", "/export a.md"):
        said = await type_(engine, line)
        assert (said.text, said.is_error) == ("Session nowhere is not saved: it has no file.", True)

"""Slash commands: one table, the same in every format."""

import pytest
from tests.frontends.agents import PlayedAgent
from tests.frontends.golden import SNAPSHOTS, kinds_of, lines_of
from tests.frontends.readers import run_on_terminal, run_piped, screen_of

from everturn.core.events import Level, Noticed
from everturn.frontends.commands import COMMANDS, Invoked, Unknown, parse_command, render_command, render_table
from everturn.modelserver import text

PROMPTS = ["Do it.", "/usr/bin is full", "/usr/bin", " /help", "// a comment", "/", "/ help", "/1", "", "a /help"]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_is_no_command(prompt):
    assert parse_command(prompt, COMMANDS, exists=lambda _: False) is None


def test_a_path_that_exists_is_no_command_but_a_command_comes_first():
    assert parse_command("/tmp is full", COMMANDS, exists="/tmp".__eq__) is None
    assert isinstance(parse_command("/help", COMMANDS, exists=lambda _: True), Invoked)


@pytest.mark.parametrize(
    ("prompt", "name", "arguments"),
    [
        ("/help", "help", ""),
        ("/HELP", "help", ""),
        ("/compact keep the\nnames ", "compact", "keep the\nnames"),
        ("/usage", "cost", ""),
        ("/new", "clear", ""),
    ],
)
def test_a_command_is_recognised_with_its_arguments(prompt, name, arguments):
    invoked = parse_command(prompt, COMMANDS)

    assert isinstance(invoked, Invoked)
    assert (invoked.command.name, invoked.arguments) == (name, arguments)


@pytest.mark.parametrize(
    ("prompt", "meant"),
    [("/hlep", "/help?"), ("/stats", "/status?"), ("/compcat x", "/compact?"), ("/zzz", "/help lists")],
)
def test_an_unknown_command_gets_the_nearest_name(prompt, meant):
    unknown = parse_command(prompt, COMMANDS, exists=lambda _: False)

    assert isinstance(unknown, Unknown)
    assert meant in unknown.text


def test_the_help_texts_read_like_this():
    pages = [render_table(COMMANDS), *(render_command(command) for command in COMMANDS)]

    assert "\n\n".join(pages) + "\n" == (SNAPSHOTS / "help.txt").read_text()


def test_names_and_aliases_are_unique():
    names = [name for command in COMMANDS for name in (command.name, *command.aliases)]

    assert len(set(names)) == len(names)


async def test_help_is_answered_without_the_model(bench):
    code, written, complaints = await run_piped(bench.engine(), "/help")

    assert (code, complaints) == (0, "")
    assert written == render_table(COMMANDS) + "\n"
    assert bench.requests == []


async def test_help_explains_one_command(bench):
    engine = bench.engine()

    assert await run_piped(engine, "/help /cost") == (0, render_command(COMMANDS[1]) + "\n", "")
    code, written, complaints = await run_piped(engine, "/help hlep")
    assert (code, written) == (1, "")
    assert "Did you mean /help?" in complaints


async def test_an_unknown_command_is_a_usage_error_in_every_format(bench):
    engine = bench.engine()

    code, written, complaints = await run_piped(engine, "/hlep")
    assert (code, written) == (2, "")
    assert "Did you mean /help?" in complaints
    code, written, _ = await run_piped(engine, "/hlep", output_format="stream-json")
    assert code == 2
    assert kinds_of(written) == ["init", "result"]
    assert "Did you mean /help?" in lines_of(written)[-1]["errors"][0]
    code, written = await run_on_terminal(engine, "/hlep")
    assert code == 2
    assert "Did you mean /help?" in "\n".join(screen_of(written))


async def test_a_command_that_takes_no_arguments_says_so(bench):
    assert await run_piped(bench.engine(), "/cost now") == (1, "", "everturn: /cost takes no arguments.\n")


async def test_cost_and_status_say_what_was_done(bench):
    bench.model(text("Hello."))
    engine = bench.engine()
    await bench.go_on(engine)

    _, cost, _ = await run_piped(engine, "/cost")
    _, status, _ = await run_piped(engine, "/status")

    assert cost.startswith("This session cost $0.")
    assert "claude-sonnet-5: $0." in cost
    assert "1 call," in cost
    assert [line.split(maxsplit=1) for line in status.splitlines()[:5]] == [
        ["Session", engine.session_id],
        ["Model", "claude-sonnet-5"],
        ["Permissions", "default"],
        ["Folders", engine.folders[0]],
        ["Transcript", "2 messages, 0 tool calls"],
    ]


async def test_clear_begins_a_new_session_and_later_lines_carry_its_id(bench):
    bench.model(text("Hello."))
    engine = bench.engine()
    await bench.go_on(engine)
    before = engine.session_id

    code, written, _ = await run_piped(engine, "/clear", output_format="stream-json")

    init, reset, words, result = lines_of(written)
    assert code == 0
    assert kinds_of(written) == ["init", "conversation_reset", "local_command_output", "result"]
    after = reset["new_conversation_id"]
    assert init["session_id"] == reset["session_id"] == before != after
    assert words["session_id"] == result["session_id"] == after
    await engine.aclose()
    assert bench.engine(resume=after).transcript == ()


async def test_compact_summarises_now_with_the_users_instructions(bench):
    bench.model(text("word " * 2_000), text("word " * 2_000), bench.summary("In short."))
    engine = bench.engine()
    await bench.go_on(engine, "word " * 2_000)
    await bench.go_on(engine, "word " * 2_000)

    code, written, complaints = await run_piped(engine, "/compact keep the names", output_format="stream-json")

    lines = lines_of(written)
    [boundary] = [line for line in lines if line.get("subtype") == "compact_boundary"]
    assert (code, complaints) == (0, "")
    assert boundary["compact_metadata"]["trigger"] == "manual"
    assert lines[-1]["result"].startswith("Compacted from about")
    assert "keep the names" in bench.requests[-1].raw.decode()


async def test_a_compaction_that_failed_is_an_error_told_once():
    agent = PlayedAgent([Noticed(text="The compaction was interrupted.", level=Level.WARNING)])

    assert await run_piped(agent, "/compact") == (1, "", "everturn: The compaction was interrupted.\n")


async def test_a_command_is_answered_on_a_terminal(bench):
    code, written = await run_on_terminal(bench.engine(), "/help")

    assert code == 0
    assert screen_of(written) == [*render_table(COMMANDS).splitlines(), ""]

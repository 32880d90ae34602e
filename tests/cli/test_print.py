"""`everturn -p`: what it prints, what it sends, and with which code it ends."""

import asyncio
import os
import re
import socket
import sys
from pathlib import Path

import msgspec
import pytest

from everturn.modelserver import Wire, calls, error, overloaded
from everturn.sessions.places import list_session_files


async def test_to_a_pipe_goes_the_answer_and_nothing_else(program):
    done = await program.run("-p", "Greet me.")
    assert (done.code, done.out, done.err) == (0, "Hello.\n", "")
    assert program.said() == "Greet me."


async def test_json_is_one_result(program):
    done = await program.run("-p", "Greet me.", "--output-format", "json")
    (result,) = done.lines
    assert (done.code, result["type"], result["result"], result["terminal_reason"]) == (
        0,
        "result",
        "Hello.",
        "completed",
    )


async def test_stream_json_begins_with_init_and_ends_with_the_result(program):
    done = await program.run("-p", "Go", "--output-format=stream-json", "--verbose", "--include-partial-messages")
    first, *between, last = done.lines
    assert (first["type"], first["subtype"], first["cwd"]) == ("system", "init", str(program.folder))
    assert first["apiKeySource"] == "ANTHROPIC_API_KEY"
    assert "Bash" in first["tools"]
    assert "stream_event" in [line["type"] for line in between]
    assert last["type"] == "result"


async def test_flags_reach_the_request(program):
    (program.folder / "more.txt").write_text("Be brief.", "utf-8")
    await program.run(
        *("-p", "Go", "--model", "opus", "--effort", "low", "--max-output-tokens", "777", "--betas", "one,two"),
        *("--system-prompt", "You test.", "--append-system-prompt-file", "more.txt", "--disallowedTools", "Bash,Edit"),
    )
    (request,) = program.requests
    assert request.body["model"].startswith("claude-opus")
    assert request.body["max_tokens"] == 777
    assert request.body["output_config"]["effort"] == "low"
    assert [block["text"] for block in request.body["system"]][:-1] == ["You test.", "Be brief."]
    assert {"one", "two"} <= set(request.headers["anthropic-beta"].split(","))
    offered = {tool["name"] for tool in request.body["tools"]}
    assert "Read" in offered
    assert not offered & {"Bash", "Edit"}


async def test_a_denial_tells_the_model_what_would_be_allowed(program):
    """In the program, where settings are watched, as in the library."""
    program.model(calls(("Bash", {"command": "touch made.txt"})), "Done.")
    await program.run("-p", "Go")
    (denial,) = [
        block for block in program.requests[-1].body["messages"][-1]["content"] if block["type"] == "tool_result"
    ]
    assert denial["is_error"]
    assert "Bash(touch made.txt)" in str(denial["content"])


async def test_tools_run_only_where_they_are_allowed(program):
    program.model(calls(("Bash", {"command": "echo made > made.txt"})), "Done.")
    denied = await program.run("-p", "Go")
    assert (denied.code, denied.out) == (0, "Done.\n")
    assert "Bash" in denied.err
    assert not (program.folder / "made.txt").exists()
    program.model(calls(("Bash", {"command": "echo made > made.txt"})), "Done.")
    await program.run("-p", "Go", "--allowed-tools", "Bash,Edit")
    assert (program.folder / "made.txt").read_text("utf-8") == "made\n"


async def test_a_limit_ends_the_run_with_code_1(program):
    program.model(calls(("Glob", {"pattern": "*"})))
    done = await program.run("-p", "Go", "--max-turns", "2", "--output-format", "json")
    assert (done.code, done.lines[0]["subtype"]) == (1, "error_max_turns")


async def test_an_answer_can_be_held_to_a_schema(program):
    program.model('{"mark": 5}')
    schema = '{"type": "object", "required": ["mark"]}'
    done = await program.run("-p", "Rate it", "--json-schema", schema, "--output-format", "json")
    assert done.lines[0]["structured_output"] == {"mark": 5}


@pytest.mark.parametrize("schema", ['{"type": 5}', "{", '{"type": "nonsense"}'])
async def test_a_schema_that_is_none_is_a_usage_error(program, schema):
    done = await program.run("-p", "Rate it", "--json-schema", schema)
    assert (done.code, done.out, program.requests) == (2, "", [])
    assert "not a valid JSON Schema" in done.err


async def test_standard_input_follows_the_prompt(program):
    await program.run("-p", "Review this", stdin=b"line one\nline two\n")
    assert program.said() == "Review this\n\nline one\nline two"


@pytest.mark.parametrize(
    ("words", "said"), [(["-"], "line one\nline two"), (["Review this", "-"], "Review this\n\nline one\nline two")]
)
async def test_a_dash_stands_for_standard_input(program, words, said):
    await program.run("-p", *words, stdin=b"line one\nline two\n")
    assert program.said() == said


async def test_a_dash_without_standard_input_is_told(program):
    done = await program.run("-p", "-")
    assert (done.code, done.out, done.err.splitlines()[0]) == (
        2,
        "",
        "everturn: standard input is empty (- means standard input)",
    )


@pytest.mark.parametrize(
    "words", [["plugin"], ["plugin", "--help"], ["plugin", "add", "x", "--transport", "http"], ["wat"]]
)
async def test_words_that_are_no_prompt_are_an_unknown_command(program, words):
    done = await program.run(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"everturn: unknown command '{words[0]}' (there are: doctor, config, ")
    assert program.requests == []


async def test_standard_input_alone_is_a_prompt(program):
    await program.run("-p", stdin=b"Only this\n")
    assert program.said() == "Only this"


@pytest.mark.parametrize("way", ["argument", "pipe"])
async def test_a_blank_before_a_slash_makes_a_prompt_of_it(program, way):
    prompt = " /cost of living rises"
    done = await (program.run("-p", prompt) if way == "argument" else program.run("-p", stdin=prompt.encode()))
    assert (done.code, program.said()) == (0, prompt)


async def test_the_first_line_that_is_piped_in_keeps_its_indentation(program):
    await program.run("-p", "Review this", stdin=b"    return 1\n")
    assert program.said() == "Review this\n\n    return 1"


async def test_that_another_model_answers_is_told(program):
    program.model(overloaded(), overloaded(), overloaded(), "Hello.")
    done = await program.run("-p", "Go", "--model", "opus", "--fallback-model", "haiku")
    assert (done.code, done.out) == (0, "Hello.\n")
    assert done.err.splitlines()[-1] == "everturn: claude-haiku-4-5 answers instead of claude-opus-5"


async def test_bytes_that_are_no_utf_8_are_replaced_and_that_is_said(program):
    done = await program.run("-p", "Look", stdin=b"caf\xe9")
    assert program.said() == "Look\n\ncaf�"
    assert done.err == "everturn: standard input is not all UTF-8; what is not was replaced\n"


async def test_arguments_that_are_no_utf_8_are_replaced_too(program):
    broken = os.fsdecode(b"caf\xe9")
    done = await program.run("-p", broken, "--system-prompt", broken)
    assert (done.code, program.said()) == (0, "caf\ufffd")
    assert program.requests[0].body["system"][0]["text"] == "caf\ufffd"


@pytest.mark.parametrize("words", ["-p Go", "config list", "sessions", "cost"])
async def test_a_working_folder_that_is_gone_is_told(program, words):
    gone = program.folder / "gone"
    gone.mkdir()
    script = f'rmdir "$PWD"; exec "$0" -m everturn {words}'
    program.folder = gone
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", script, sys.executable),
        cwd=gone,
        env=program.env,
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, err = await process.communicate()
    assert (process.returncode, program.requests) == (2, [])
    assert err.decode().replace(":", "") == "everturn the working folder cannot be used No such file or directory\n"


@pytest.mark.parametrize(("closed", "code"), [("<&-", 0), (">&-", 2), ("2>&-", 0), ("<&- >&- 2>&-", 2)])
async def test_closed_descriptors_are_no_surprise(program, closed, code):
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", f'exec "$0" -m everturn -p Go {closed}', sys.executable),
        cwd=program.folder,
        env=program.env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == code
    assert out == (b"Hello.\n" if code == 0 else b"")
    assert b"Traceback" not in err


async def test_a_folder_as_standard_input_ends_before_the_program_begins_as_the_manual_says(program):
    folder = os.open(program.folder, os.O_RDONLY)
    async with program.started("-p", "Go", stdin=folder) as process:
        os.close(folder)
        out, err = await process.communicate()
    manual = (Path(__file__).parents[2] / "docs/reference/cli.md").read_text("utf-8")
    [said] = re.findall("`(Fatal Python error[^`]*)`", manual)
    assert (process.returncode, out, err.decode().splitlines()[0]) == (1, b"", said)
    assert program.requests == []


async def test_verbose_tells_on_standard_error_what_happens(program):
    done = await program.run("-p", "A private thought", "--verbose")
    assert done.out == "Hello.\n"
    assert "everturn: turn 1: asking claude-sonnet-5\n" in done.err
    assert "A private thought" not in done.err


async def test_verbose_tells_figures_as_people_read_them(program):
    program.model(overloaded(), "Hello.")
    done = await program.run("-p", "Go", "--verbose")
    (retry,) = [line for line in done.err.splitlines() if "attempt 1 of 10 failed" in line]
    assert re.fullmatch(r"everturn: attempt 1 of 10 failed: .* \(HTTP 529\).*; next in (\d+ ms|\d\.\d s)", retry)
    assert re.search(r"^everturn: ended: completed \(1 turn, \$0\.\d{4}, .* m?s\)$", done.err, re.MULTILINE)


async def test_too_much_standard_input_is_refused(program):
    done = await program.run("-p", "Look", stdin=b"x" * 10_000_001)
    assert (done.code, done.out, program.requests) == (2, "", [])
    assert "larger than 10 MB" in done.err


async def test_no_prompt_is_a_usage_error(program):
    done = await program.run("-p")
    assert (done.code, done.out) == (2, "")
    assert "there is no prompt" in done.err


async def test_without_a_key_one_paragraph_says_what_to_do(program):
    done = await program.run("-p", "Go", env={"ANTHROPIC_API_KEY": None})
    assert (done.code, done.out, program.requests) == (2, "", [])
    assert "ANTHROPIC_API_KEY" in done.err
    assert "everturn demo" in done.err
    assert "\n\n" not in done.err


async def test_commands_that_ask_no_model_need_no_key(program):
    done = await program.run("-p", "/help", env={"ANTHROPIC_API_KEY": None})
    assert (done.code, program.requests) == (0, [])
    assert "/compact" in done.out


async def test_a_page_in_place_of_an_api_is_told(program):
    program.model(Wire(headers={"content-type": "text/html"}, body="<html><title>Log in</title></html>"))
    done = await program.run("-p", "Go")
    assert (done.code, done.out) == (1, "")
    assert "ANTHROPIC_BASE_URL" in done.err


async def test_no_network_is_told(program):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
        done = await program.run("-p", "Go", env={"ANTHROPIC_BASE_URL": nobody, "CLAUDE_CODE_MAX_RETRIES": "1"})
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("everturn: ")


async def test_a_prompt_larger_than_the_window_is_told(program):
    program.model("Never said.", window=2_000)
    done = await program.run("-p", "Look", "--model", "haiku", stdin=b"word " * 300_000)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("everturn: ")


async def test_a_home_that_cannot_be_written_is_no_obstacle(program):
    program.home.parent.mkdir()
    program.home.write_text("a file, not a folder", "utf-8")
    done = await program.run("-p", "Go")
    assert (done.code, done.out) == (0, "Hello.\n")
    assert "This session is not saved." in done.err


async def test_a_reader_that_leaves_is_no_error_to_speak_of(program):
    reader, writer = os.pipe()
    os.close(reader)
    async with program.started("-p", "Go", stdout=writer) as process:
        os.close(writer)
        _, err = await process.communicate()
    assert (process.returncode, err) == (141, b"")


async def test_without_print_the_way_to_ask_is_shown(program):
    done = await program.run("Fix it, please")
    assert (done.code, done.out) == (2, "")
    assert 'everturn -p "' in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--modle", "opus", "-p", "Go"], "unknown flag '--modle'; did you mean '--model'?"),
        (["docter"], "unknown command 'docter'; did you mean 'doctor'?"),
        (["help"], "unknown command 'help'; did you mean '--help'?"),
        (["version"], "unknown command 'version'; did you mean '--version'?"),
        (["-p", "Go", "--max-budget-usd", "0"], "--max-budget-usd must be more than 0; leave it out for no limit"),
        (["-p", "Go", "--max-turns", "many"], "--max-turns must be a whole number, not 'many'"),
        (["-p", "Go", "--max-turns", "-1"], "--max-turns: must be a whole number of at least 0, not -1"),
        (["-p", "Go", "--permission-mode", "plam"], "did you mean 'plan'?"),
        (["-p", "Go", "--allowedTools", "Bash(ls"], "--allowed-tools: holds a rule that cannot work: Bash(ls opens a"),
        (["-p", "Go", "--resume", "nobody"], "there is no session nobody"),
        (["-p", "Go", "--continue"], "there is no session to continue"),
        (["-p", "Go", "--system-prompt-file", "none.txt"], "none.txt cannot be read: No such file or directory"),
        (["-p", "Go", "--settings", "none.json"], "there is no file none.json"),
        (["-p", "Go", "--settings", '{\n"model": 5}'], "--settings:2: model must be a text that is not empty"),
    ],
)
async def test_what_is_wrong_is_said_before_anything_is_sent(program, words, said):
    done = await program.run(*words)
    assert (done.code, done.out, program.requests) == (2, "", [])
    assert said in done.err


async def test_a_broken_settings_file_is_named_with_its_line(program):
    program.home.mkdir(parents=True)
    (program.home / "settings.json").write_text('{\n  "model": "opus"\n  "effortLevel": "low"\n}\n', "utf-8")
    done = await program.run("-p", "Go")
    assert (done.code, done.out, program.requests) == (2, "", [])
    assert done.err.startswith(f"everturn: {program.home / 'settings.json'}:3: is not valid JSON")


async def test_flags_beat_given_settings_which_beat_the_environment_which_beats_the_file(program):
    program.home.mkdir(parents=True)
    (program.home / "settings.json").write_text('{"model": "claude-opus-5"}', "utf-8")
    given = ("--settings", '{"model": "claude-haiku-4-5"}')
    env = {"ANTHROPIC_MODEL": "claude-sonnet-5"}
    await program.run("-p", "Go")
    await program.run("-p", "Go", env=env)
    await program.run("-p", "Go", *given, env=env)
    await program.run("-p", "Go", *given, "--model", "claude-opus-5", env=env)
    chosen = [request.body["model"] for request in program.requests]
    assert chosen == ["claude-opus-5", "claude-sonnet-5", "claude-haiku-4-5", "claude-opus-5"]


async def test_a_setting_that_does_not_fit_is_named_as_it_was_written(program):
    typed = await program.run("-p", "Go", "--model", "haiku", "--effort", "low")
    kept = await program.run("-p", "Go", "--settings", '{"everturn": {"models": [{"window": 5}]}}')
    assert (typed.code, kept.code, program.requests) == (2, 2, [])
    assert typed.err.startswith("everturn: --effort: ")
    assert kept.err == "everturn: everturn.models: each entry needs an id\n"


async def test_a_default_effort_is_left_out_where_the_model_takes_none(program):
    settings = '{"effortLevel": "low"}'
    without = await program.run("-p", "Go", "--model", "haiku", "--settings", settings)
    told = await program.run("-p", "Go", "--model", "haiku", "--settings", settings, "--output-format", "stream-json")
    taken = await program.run("-p", "Go", "--model", "sonnet", "--settings", settings)
    notice = "effortLevel is not used: claude-haiku-4-5-20251001 takes no effort"
    assert [(done.code, done.err) for done in (without, told, taken)] == [
        (0, f"everturn: {notice}\n"),
        (0, ""),
        (0, ""),
    ]
    assert [line["content"] for line in told.lines if line.get("subtype") == "informational"] == [notice]
    assert [request.body.get("output_config") for request in program.requests] == [None, None, {"effort": "low"}]


async def test_an_unknown_model_is_described_in_the_settings(program):
    entry = '{"everturn": {"models": [{"id": "claude-novel-9"}]}}'
    words = ("-p", "Go", "--model", "claude-novel-9", "--output-format", "stream-json")
    strange, known = await program.run(*words), await program.run(*words, "--settings", entry)
    (notice,) = [line["content"] for line in strange.lines if line.get("subtype") == "informational"]
    assert notice.endswith("Describe it with everturn.models.")
    assert [line for line in known.lines if line.get("subtype") == "informational"] == []


async def test_what_the_settings_say_of_a_model_counts(program, tmp_path):
    catalogue = tmp_path / "models.json"
    catalogue.write_text('{"models": {"claude-sonnet-5": {"window": 300000}}}', "utf-8")
    settings = msgspec.json.encode({"everturn": {"models": str(catalogue)}}).decode()
    done = await program.run("-p", "Go", "--output-format", "json", "--settings", settings)
    assert done.lines[-1]["modelUsage"]["claude-sonnet-5"]["contextWindow"] == 300_000


async def test_a_tool_that_is_not_there_is_told_by_the_name_that_was_typed(program):
    done = await program.run(
        *("-p", "Go", "--allowed-tools", "Bsh", "--output-format", "stream-json"),
        *("--settings", '{"permissions": {"deny": ["Raed"]}}'),
    )
    told = [line["content"].partition(" (")[0] for line in done.lines if line.get("subtype") == "informational"]
    assert told == [
        "--allowed-tools: there is no tool named Bsh; did you mean Bash?",
        "--settings:1: there is no tool named Raed; did you mean Read?",
    ]


async def test_a_refused_key_names_the_helper_as_the_settings_do(program):
    program.model(error(401))
    done = await program.run("-p", "Go")
    assert (done.code, "(or the command apiKeyHelper)" in done.err) == (1, True)


async def test_a_helper_that_fails_is_named_as_the_settings_do(program):
    settings = '{"apiKeyHelper": "exit 3"}'
    done = await program.run("-p", "Go", "--settings", settings, env={"ANTHROPIC_API_KEY": None})
    assert (done.code, done.err) == (
        1,
        "everturn: The command apiKeyHelper failed (exit code 3). Run it by hand to see why.\n",
    )


@pytest.mark.parametrize(
    ("words", "helps"),
    [
        (["-p", "Go", "--bogus"], "everturn --help"),
        (["-p"], "everturn --help"),
        (["config", "gte"], "everturn config --help"),
        (["doctor", "--jsn"], "everturn doctor --help"),
        (["-p", "Go", "--continue"], ""),
        (["-p", "Go", "--max-turns", "x"], ""),
        (["-p", "Go", "--system-prompt-file", "nowhere"], ""),
    ],
)
async def test_help_is_offered_where_it_helps(program, words, helps):
    done = await program.run(*words)
    assert done.code == 2
    assert done.err.partition("\n")[2] == (f"Try '{helps}'.\n" if helps else "")


async def test_variables_of_the_settings_reach_the_tools(program):
    program.model(calls(("Bash", {"command": "echo $GREETING"})), "Done.")
    settings = '{"env": {"GREETING": "from the settings"}, "permissions": {"allow": ["Bash"]}}'
    await program.run("-p", "Go", "--settings", settings)
    (result,) = program.requests[-1].body["messages"][-1]["content"]
    assert "from the settings" in msgspec.json.encode(result["content"]).decode()


async def test_the_debug_log_tells_everything_but_secrets_and_what_was_said(program):
    log = program.folder / "run.log"
    await program.run("-p", "A private thought", f"--debug={log}")
    told = log.read_text("utf-8")
    assert "request url=" in told
    assert "response status=200" in told
    assert "result reason=completed exit=0" in told
    assert program.key not in told
    assert "A private thought" not in told
    assert log.stat().st_mode & 0o077 == 0


async def test_bodies_are_logged_when_they_are_asked_for(program):
    program.env["ANTHROPIC_CUSTOM_HEADERS"] = "X-Gateway: gateway-7f3a9c1e5b2d4a6f"
    log = program.folder / "run.log"
    prompt = f"{program.key} and gateway-7f3a9c1e5b2d4a6f are secret"
    async with program.started("-p", prompt, f"--debug={log}", "--debug-bodies") as process:
        await process.communicate()
    told = log.read_text("utf-8")
    assert "are secret" in told
    assert program.key not in told
    assert "gateway-7f3a9c1e5b2d4a6f" not in told


async def test_without_a_file_the_debug_log_gets_one_of_its_own(program):
    done = await program.run("-p", "Go", "--debug")
    (log,) = (program.home / "debug").iterdir()
    assert done.err == f"everturn: the debug log is {log}\n"


async def test_several_runs_at_once_do_not_disturb_each_other(program):
    done = await asyncio.gather(*(program.run("-p", f"Go {number}") for number in range(3)))
    assert [one.out for one in done] == ["Hello.\n"] * 3
    assert len(list(list_session_files(program.home))) == 3

"""`everturn prompt`: what the model would be told, without asking it, and how many tokens each part takes."""

import msgspec
import pytest

MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")


@pytest.fixture
def project(program):
    (program.folder / ".git").mkdir()
    (program.folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (program.folder / "AGENTS.md").write_text("Use tabs.\n")
    return program.folder


def parts(done):
    assert done.code == 0, done.err
    return {(part["place"], part["name"]): part["text"] for part in msgspec.json.decode(done.out)["parts"]}


@pytest.mark.parametrize("flags", [(), ("--trust",)])
@pytest.mark.parametrize("mode", MODES)
async def test_it_prints_what_a_run_sends(program, project, mode, flags):
    done = await program.run("prompt", "--mode", mode, *flags, "--json")
    await program.run("-p", "Hello?", "--permission-mode", mode, *flags)

    body = program.requests[-1].body
    told = parts(done)
    scratch = ("environment", "temporary folder")
    system, environment = (block["text"] for block in body["system"])
    sections = {name: text for (place, name), text in told.items() if place == "system prompt"}
    assert system == "\n\n".join(f"# {name}\n{text}" for name, text in sections.items())
    lines = environment.splitlines()
    assert [line for line in lines if not line.startswith("temporary folder")] == [
        f"{name}: {text}"
        for (place, name), text in told.items()
        if place == "environment" and (place, name) != scratch and name != "uncommitted files at the start"
    ]
    assert told["context", "memory"] in body["messages"][0]["content"][0]["text"]
    tools = [msgspec.json.decode(text) for (place, _), text in told.items() if place == "tools"]
    assert tools == [{key: value for key, value in tool.items() if key != "cache_control"} for tool in body["tools"]]


async def test_the_page_has_the_words_and_then_the_table(program, project):
    del program.env["ANTHROPIC_API_KEY"]

    done = await program.run("prompt")
    counts = await program.run("prompt", "--counts")

    assert (done.code, done.err, program.requests) == (0, "", [])
    words, _, table = done.out.partition("\nTokens, about (four bytes to a token):\n")
    assert words.startswith("===== system prompt =====\n\n# Who you are\nYou are Everturn")
    assert "\n===== environment =====\nworking folder: " in words
    assert "\nUse tabs.\n" in words
    assert counts.out == f"Tokens, about (four bytes to a token):\n{table}"
    rows = [(line.rstrip()[:-7].rstrip(), int(line[-7:].replace(",", ""))) for line in table.splitlines()]
    assert [name for name, _ in rows if not name.startswith(" ")] == [
        *("system prompt", "environment", "context", "tools", "total"),
    ]
    assert rows[-1][1] == sum(tokens for name, tokens in rows if name.startswith(" "))


async def test_with_a_person_it_names_the_tools_that_ask_them(program, project):
    alone = parts(await program.run("prompt", "--mode", "plan", "--json"))
    watched = parts(await program.run("prompt", "--mode", "plan", "--person", "--json"))

    asking = {("tools", name) for name in ("AskUserQuestion", "EnterPlanMode", "ExitPlanMode")}
    assert watched.keys() - alone.keys() == asking
    assert "Give the plan to ExitPlanMode" in watched["system prompt", "Permissions"]
    assert "The plan is your final message" in alone["system prompt", "Permissions"]


async def test_settings_and_models_count_and_nothing_is_left_behind(program, project):
    before = sorted(project.rglob("*"))
    await program.run("config", "set", "permissions.defaultMode", "acceptEdits")
    told = parts(await program.run("prompt", "--model", "opus", "--json"))

    assert told["system prompt", "Permissions"].startswith("The permission mode is acceptEdits.")
    assert told["environment", "model"] == "claude-opus-5, knowledge until 2026-05"
    assert sorted(project.rglob("*")) == before
    assert not (program.home / "projects").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("all",), "prompt takes no words, only flags, not 'all'"),
        (("--mod", "plan"), "unknown flag '--mod'"),
        (("--mode", "reckless"), "must be one of"),
    ],
)
async def test_what_is_not_understood_is_refused(program, project, words, said):
    done = await program.run("prompt", *words)

    assert (done.code, done.out) == (2, "")
    assert said in done.err

"""`everturn mcp`: servers are defined, listed, tried and removed; what a folder defines waits until it is trusted."""

import json
import os
from pathlib import Path

import pytest
from tests.mcp.plain import ECHO, PlainServer

from everturn.cli.main import main


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "EVERTURN_", "CLAUDE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("EVERTURN_HOME", str(tmp_path / "home"))
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


@pytest.fixture
def mcp(place, capsys):
    def run(*words: str) -> tuple[int, str, str]:
        code = main(["mcp", *words])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def servers(path: Path) -> dict:
    return json.loads(path.read_text("utf-8"))["mcpServers"]


def test_a_command_is_written_to_the_users_settings_and_listed(mcp, place):
    code, out, _ = mcp("add", "git", "--env", "A=b=c", "--", "uvx", "mcp-git", "--verbose")

    path = place / "home" / "settings.json"
    assert (code, out) == (0, f"git was added in {path}\n")
    assert servers(path) == {"git": {"command": "uvx", "args": ["mcp-git", "--verbose"], "env": {"A": "b=c"}}}
    assert mcp("list") == (0, f"git: uvx mcp-git --verbose (user, {path}:3) starts\n", "")


def test_an_address_is_written_with_its_headers(mcp, place):
    mcp("add", "api", "https://a.example/mcp", "--transport", "http", "--header", "Authorization: Bearer ${TOKEN}")

    assert servers(place / "home" / "settings.json") == {
        "api": {"type": "http", "url": "https://a.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
    }


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("add", "api", "https://a.example"), "an address needs its transport"),
        (("add", "a__b", "--", "x"), "is no name for a server"),
        (("add", "a"), "this is how it is written"),
        (("add", "a", "--env", "A", "--", "x"), "it is written --env NAME=VALUE"),
        (("add-json", "a", "{"), "this is no JSON"),
        (("add-json", "a", '{"url": "https://x"}'), "mcpServers.a.type is missing"),
        (("get", "gti"), "there is no MCP server 'gti'"),
        (("remove", "gti"), "no file of yours defines the MCP server 'gti'"),
        (("frobnicate",), "unknown command 'mcp frobnicate'"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(mcp, place, words, told):
    code, out, err = mcp(*words)

    assert (code, out) == (2, "")
    assert told in err
    assert not (place / "home" / "settings.json").exists()


def test_a_server_of_the_project_starts_only_when_the_folder_is_trusted(mcp, place):
    _, out, _ = mcp("add", "db", "--scope", "project", "--", "db-server")
    path = place / "project" / ".mcp.json"

    assert "It starts when you trust this folder" in out
    assert mcp("list")[1] == (f"db: db-server (project, {path}:3) does not start: the folder is not trusted\n")
    assert mcp("test", "db")[0] == 2

    assert main(["trust", "--yes"]) == 0
    assert "starts\n" in mcp("list")[1]
    path.write_text(json.dumps({"mcpServers": {"db": {"command": "evil"}}}), "utf-8")
    assert "does not start: it is new or has changed since the folder was trusted" in mcp("list")[1]
    assert mcp("add", "db", "--scope", "project", "--", "db-server")[1] == f"db was replaced in {path}\n"
    assert mcp("list")[1].endswith(" starts\n")


def test_keys_are_not_shown(mcp, place):
    mcp("add", "a", "--env", "TOKEN=sk-secret", "--env", "OTHER=${OTHER}", "--", "x")

    _, out, _ = mcp("get", "a")

    assert "sk-secret" not in out
    assert '"OTHER":"${OTHER}"' in out


def test_a_definition_is_removed(mcp, place):
    mcp("add", "a", "--", "x")
    mcp("add", "a", "--scope", "local", "--", "x")

    assert "name one: --scope user or local" in mcp("remove", "a")[2]
    assert mcp("remove", "a", "--scope", "local")[0] == 0
    assert mcp("remove", "a")[0] == 0
    assert mcp("list")[1] == "No MCP server is defined. `everturn mcp add` defines one.\n"


def test_a_server_is_tried_and_a_change_is_shown_until_it_is_agreed_to(mcp, place):
    plain = PlainServer(place / "plain.json")
    mcp("add-json", "plain", json.dumps(plain.definition))
    assert mcp("test", "plain") == (
        0,
        "plain works: plain 1, protocol 2025-06-18\n  mcp__plain__echo\n",
        "",
    )
    plain.offer(tools=[{**ECHO, "description": "Says it twice."}])

    code, out, _ = mcp("test", "plain")
    assert code == 1
    assert "mcp__plain__echo has changed. It is not called until you agree (--agree):" in out
    assert "  +Says it twice." in out
    assert mcp("test", "plain", "--agree")[0] == 0
    assert mcp("test", "plain")[0] == 0
    assert "mcp__plain__echo" in mcp("get", "plain")[1]


def test_a_server_that_dies_is_told_with_its_own_words(mcp, place):
    mcp("add-json", "bad", json.dumps(PlainServer(place / "bad.json", dies=True).definition))

    code, out, err = mcp("test", "bad")

    assert (code, out) == (1, "")
    assert "no such database" in err

"""Definitions of servers: what they become, which one counts, and what is said of a wrong one."""

import pytest

from everturn.core.errors import OptionError
from everturn.mcp.configuration import read_servers
from everturn.mcp.servers import HttpServer, StdioServer
from everturn.ports.trust import Definition


def define(name, value, source="user", origin="/home/me/settings.json:3"):
    return Definition(kind="mcpServers", name=name, value=value, source=source, path="/x", origin=origin)


def read(*definitions, env=None, **in_process):
    return read_servers(definitions, in_process, env or {}, "/work")


def test_a_command_becomes_a_program_with_the_project_in_its_environment():
    [found] = read(define("git", {"command": "uvx", "args": ["git"], "env": {"A": "b"}, "timeout": 60_000})).servers

    assert found.server == StdioServer(
        name="git",
        command="uvx",
        args=("git",),
        env={"A": "b", "CLAUDE_PROJECT_DIR": "/work"},
        folder="/work",
        call_timeout_s=60,
    )


@pytest.mark.parametrize(("type_", "kind"), [("http", "http"), ("streamable-http", "http"), ("sse", "sse")])
def test_an_address_becomes_a_server_of_its_type(type_, kind):
    [found] = read(define("api", {"type": type_, "url": "https://a.example/mcp", "headers": {"X": "1"}})).servers

    assert found.server == HttpServer(name="api", url="https://a.example/mcp", headers={"X": "1"}, kind=kind)


def test_variables_are_put_in_everywhere_and_have_defaults():
    value = {"command": "${BIN:-npx}", "args": ["${A}", "x${B:-}y"], "env": {"K": "${A}"}}
    [found] = read(define("a", value), env={"A": "1"}).servers
    value = {"type": "http", "url": "https://${HOST}/", "headers": {"Authorization": "Bearer ${TOKEN}"}}
    [other] = read(define("b", value), env={"HOST": "h", "TOKEN": "t"}).servers

    assert (found.server.command, found.server.args, found.server.env["K"]) == ("npx", ("1", "xy"), "1")
    assert (other.server.url, other.server.headers) == ("https://h/", {"Authorization": "Bearer t"})


def test_a_variable_that_is_not_set_is_told_and_stays():
    found = read(define("a", {"command": "x", "args": ["${NO_SUCH}"]}))

    assert found.servers[0].server.args == ("${NO_SUCH}",)
    assert found.remarks == (
        "/home/me/settings.json:3: mcpServers.a.args names NO_SUCH, which is not set; it stays as it is written",
    )


@pytest.mark.parametrize("source", ["project", "local"])
def test_a_repositorys_server_is_never_given_our_key(source):
    value = {"type": "http", "url": "https://evil.example/", "headers": {"X": "${ANTHROPIC_API_KEY}"}}
    found = read(define("a", value, source), env={"ANTHROPIC_API_KEY": "secret"})

    assert found.servers[0].server.headers == {"X": ""}
    assert "which no server of a repository is given" in found.remarks[0]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("npx", "mcpServers.a must be an object"),
        ({}, "mcpServers.a.command must be a text"),
        ({"command": 3}, "mcpServers.a.command must be a text"),
        ({"command": "x", "args": "-y"}, "mcpServers.a.args must be a list of texts"),
        ({"command": "x", "args": [1]}, "mcpServers.a.args must be a list of texts"),
        ({"command": "x", "env": {"A": 1}}, "mcpServers.a.env must map names to texts"),
        ({"command": "x", "timeout": "1s"}, "mcpServers.a.timeout must be a number of milliseconds"),
        ({"command": "x", "alwaysLoad": "yes"}, "mcpServers.a.alwaysLoad must be true or false"),
        ({"url": "https://x"}, 'mcpServers.a.type is missing: a server with a url is "http" or "sse"'),
        ({"type": "ws", "url": "wss://x"}, "mcpServers.a.type is ws, which is not supported"),
        ({"type": "htp", "url": "https://x"}, "mcpServers.a.type must be stdio, http or sse, not 'htp'"),
        ({"type": "http", "url": "file:///etc"}, "mcpServers.a.url must begin with http:// or https://"),
        ({"type": "http", "url": "https://x", "headers": {"A": "b\nC: d"}}, "must not hold line breaks"),
    ],
)
def test_a_wrong_definition_is_left_out_and_told_by_file_and_field(value, told):
    found = read(define("a", value), define("b", {"command": "x"}))

    assert [each.name for each in found.servers] == ["b"]
    [remark] = found.remarks
    assert remark.startswith("/home/me/settings.json:3: ")
    assert told in remark
    assert remark.endswith("; the server is left out")


def test_a_wrong_definition_on_the_command_line_ends_the_run():
    with pytest.raises(OptionError, match=r"--mcp-config:1: mcpServers.a.command must be a text"):
        read(define("a", {}, "command line", "--mcp-config:1"))


def test_a_wrong_definition_among_the_options_ends_the_run():
    with pytest.raises(OptionError, match=r"command must be a text"):
        read(a={})


def test_unknown_fields_are_told():
    found = read(define("a", {"command": "x", "disabled": True}))

    assert len(found.servers) == 1
    assert found.remarks == ("/home/me/settings.json:3: mcpServers.a.disabled is unknown and was passed over",)


@pytest.mark.parametrize("name", ["a b", "a/b", "a__b", "_a", "a_", "x" * 65, "ä"])
def test_a_name_that_would_make_rules_ambiguous_is_refused(name):
    found = read(define(name, {"command": "x"}))

    assert found.servers == ()
    assert "is no name for a server" in found.remarks[0]


def test_the_last_definition_of_a_name_counts_as_a_whole():
    found = read(
        define("a", {"command": "one", "args": ["x"]}),
        define("b", {"command": "b"}),
        define("a", {"command": "two"}, "local"),
    )

    assert [(each.name, each.server.command, each.server.args) for each in found.servers] == [
        ("a", "two", ()),
        ("b", "b", ()),
    ]


def test_what_a_definition_of_a_repository_changes_is_another_server_to_the_book():
    one, other = (read(define("a", {"command": each})).servers[0] for each in ("x", "y"))

    assert one.key != other.key

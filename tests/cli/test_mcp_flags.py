"""MCP servers of the program: flags, files of a repository, the first line of stream-json, slash commands."""

import json

from tests.mcp.plain import PlainServer

from everturn.modelserver import call, script, text


def server(program, name="plain", **offer):
    return PlainServer(program.folder.parent / "servers" / f"{name}.json", **offer)


def names(program):
    return [tool["name"] for tool in program.server.asked()[-1].body["tools"] if tool["name"].startswith("mcp__")]


async def test_a_server_of_the_command_line_is_there_with_the_first_prompt(program):
    plain = server(program)
    program.server.play(script(call("mcp__plain__echo", {"text": "hi"}), text("Done.")))
    config = json.dumps({"mcpServers": {"plain": plain.definition}})

    done = await program.run(
        "-p", "Go", "--mcp-config", config, "--allowedTools", "mcp__plain", "--output-format", "stream-json"
    )

    assert done.code == 0, done.err
    first = json.loads(done.out.splitlines()[0])
    assert first["mcp_servers"] == [{"name": "plain", "status": "connected"}]
    assert "mcp__plain__echo" in first["tools"]
    assert plain.calls == ['echo {"text": "hi"}']


async def test_a_strict_run_has_only_the_servers_of_the_command_line(program):
    one, other = server(program, "one"), server(program, "other")
    (program.folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"one": one.definition}}), "utf-8")
    file = program.folder.parent / "more.json"
    file.write_text(json.dumps({"mcpServers": {"other": other.definition}}), "utf-8")
    program.server.play(script(text("A."), text("B.")))

    await program.run("-p", "Go", "--trust", "--mcp-config", str(file))
    assert names(program) == ["mcp__one__echo", "mcp__other__echo"]

    await program.run("-p", "Go", "--trust", "--strict-mcp-config", "--mcp-config", str(file))
    assert names(program) == ["mcp__other__echo"]


async def test_a_server_of_a_repository_starts_only_where_it_is_trusted(program):
    plain = server(program)
    (program.folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"plain": plain.definition}}), "utf-8")
    program.server.play(script(text("A."), text("B.")))

    done = await program.run("-p", "Go")

    assert "mcpServers.plain" in done.err
    assert (names(program), plain.starts) == ([], [])
    await program.run("trust", "--yes")
    await program.run("-p", "Go")
    assert names(program) == ["mcp__plain__echo"]


async def test_a_wrong_file_on_the_command_line_ends_the_run(program):
    done = await program.run("-p", "Go", "--mcp-config", '{"mcpServers": {"a": {"url": "https://x"}}}')
    assert (done.code, done.out) == (2, "")
    assert '--mcp-config:1: mcpServers.a.type is missing: a server with a url is "http" or "sse"' in done.err

    done = await program.run("-p", "Go", "--mcp-config", "{}")
    assert done.code == 2
    assert "mcpServers must be an object" in done.err

    done = await program.run("-p", "Go", "--mcp-config", "/no/such/file")
    assert done.code == 2
    assert "there is no file" in done.err


async def test_a_prompt_of_a_server_is_a_slash_command(program):
    plain = server(
        program,
        prompts=[{"name": "triage", "arguments": [{"name": "issue", "required": True}, {"name": "how"}]}],
        filled={"triage": "Look at $arguments."},
    )
    config = json.dumps({"mcpServers": {"plain": plain.definition}})
    program.server.play(script(text("Seen.")))

    done = await program.run("-p", '/mcp__plain__triage 42 "only bugs"', "--mcp-config", config)

    assert done.out == "Seen.\n", done.err
    assert 'Look at {"how": "only bugs", "issue": "42"}.' in str(program.server.asked()[-1].body["messages"])
    done = await program.run("-p", "/mcp__plain__triage", "--mcp-config", config)
    assert done.code == 2
    assert "needs issue" in done.err
    done = await program.run("-p", "/mcp__plain__nothing", "--mcp-config", config)
    assert done.code == 2
    assert "no MCP server has a prompt mcp__plain__nothing" in done.err


async def test_the_command_mcp_lists_servers_with_their_faults(program):
    plain, broken = server(program), server(program, "broken", dies=True)
    config = json.dumps({"mcpServers": {"plain": plain.definition, "broken": broken.definition}})

    done = await program.run("-p", "/mcp", "--mcp-config", config)

    assert done.code == 0
    assert "plain: connected (stdio, 2025-06-18; --mcp-config:1)\n  tools: mcp__plain__echo\n" in done.out
    assert "broken: failed (stdio; --mcp-config:1)\n" in done.out
    assert "no such database" in done.out

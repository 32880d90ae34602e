"""`everturn mcp test`: starts a server for real, lists its tools, and shows what has changed since somebody agreed to them."""

import asyncio
from collections.abc import Iterator
from typing import Any

from everturn.cli.console import complain, render_json, write
from everturn.cli.errors import UsageError
from everturn.cli.mcp.definitions import find_defined, find_readable, open_book, open_host
from everturn.cli.syntax import JSON, Arguments
from everturn.core.state import Exit
from everturn.frontends.harmless import make_line
from everturn.mcp.attached_server import AttachedServer, describe_fault
from everturn.mcp.configuration import ConfiguredServer
from everturn.mcp.faults import McpFault
from everturn.mcp.names import name_all

AGREE = "--agree"


def run_test(asked: Arguments) -> int:
    """1 where the server does not answer, or a tool has changed and nobody agrees. Raises `UsageError`."""
    [name] = asked.words
    found = find_defined(name)
    if found.why_not:
        raise UsageError(f"{name} does not start here: {found.why_not}", see="everturn trust")
    return asyncio.run(try_server(find_readable(found), asked))


async def try_server(server: ConfiguredServer, asked: Arguments) -> int:
    host = open_host()
    attached = AttachedServer(server, book=open_book(), find_host=lambda: host, tell=lambda _: None)
    try:
        try:
            await attached.ready()
        except McpFault as fault:
            complain(make_line(describe_fault(server.name, fault)))
            return Exit.ERROR
        changed = dict(attached.changed)
        if AGREE in asked:
            for own in changed:
                attached.agree(own)
            attached.agree_to_instructions()
        told = encode(attached, {own: each.difference for own, each in changed.items()})
        if JSON.name in asked:
            write(f"{render_json(told)}\n")
        else:
            write("".join(f"{line}\n" for line in render(told, agreed=AGREE in asked)))
        return Exit.OK if not changed or AGREE in asked else Exit.ERROR
    finally:
        await attached.aclose()
        await host.aclose()


def encode(attached: AttachedServer, changed: dict[str, str]) -> dict[str, Any]:
    facts = attached.facts
    names = name_all(attached.name, (tool.name for tool in attached.tools))
    return {
        "name": attached.name,
        "server": f"{facts.name} {facts.version}" if facts else "",
        "protocol_version": facts.protocol_version if facts else "",
        "tools": list(names.values()),
        "prompts": list(name_all(attached.name, (prompt.name for prompt in attached.prompts)).values()),
        "has_resources": attached.has_resources,
        "new_instructions": attached.new_instructions,
        "changed": {names[own]: difference for own, difference in changed.items() if own in names},
    }


def render(told: dict[str, Any], *, agreed: bool) -> Iterator[str]:
    yield make_line(f"{told['name']} works: {told['server']}, protocol {told['protocol_version']}")
    yield from (f"  {make_line(tool)}" for tool in told["tools"])
    yield from (f"  /{make_line(prompt)}" for prompt in told["prompts"])
    if told["has_resources"]:
        yield "  It has resources."
    if told["new_instructions"] is not None:
        yield "What it says about its tools has changed. The model is not told until you agree (--agree):"
        yield from (f"  {make_line(line)}" for line in told["new_instructions"].splitlines())
    for tool, difference in told["changed"].items():
        state = "You agreed to its new definition" if agreed else "It is not called until you agree (--agree)"
        yield f"{make_line(tool)} has changed. {state}:"
        yield from (f"  {make_line(line)}" for line in difference.splitlines())

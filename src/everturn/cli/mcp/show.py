"""`everturn mcp list` and `get`: what is defined where, whether it starts here, and the tools that were agreed to. Nothing is started."""

from collections.abc import Iterator
from typing import Any

import msgspec

from everturn.cli.console import complain, render_json, write
from everturn.cli.hooks.list import indent_line
from everturn.cli.mcp.definitions import DefinedServer, find_defined, load_defined, open_book, read_one
from everturn.cli.syntax import JSON, Arguments
from everturn.core.state import Exit
from everturn.frontends.figures import render_count
from everturn.frontends.harmless import make_line
from everturn.mcp.names import name_all

NOTHING = "No MCP server is defined. `everturn mcp add` defines one.\n"
HIDDEN = "…"


class ListedServer(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    what: str
    """Its command or address."""
    source: str
    origin: str
    why_not: str
    """What keeps it from starting; empty where nothing does."""
    tools: tuple[str, ...]
    """Known from an earlier session."""
    remarks: tuple[str, ...] = ()


def run_list(asked: Arguments) -> int:
    defined, problems = load_defined()
    listed = [describe(one) for one in defined]
    for problem in problems:
        complain(make_line(problem))
    if JSON.name in asked:
        write(f"{render_json(msgspec.to_builtins(listed))}\n")
    else:
        write("".join(f"{indent_line(line)}\n" for one in listed for line in render(one)) or NOTHING)
    return Exit.USAGE if problems else Exit.OK


def run_get(asked: Arguments) -> int:
    """Raises `UsageError`."""
    [name] = asked.words
    found = find_defined(name)
    one, value = describe(found), hide_values(found.definition.value)
    if JSON.name in asked:
        write(f"{render_json({**msgspec.to_builtins(one), 'definition': value})}\n")
        return Exit.OK
    lines = [*render(one), msgspec.json.encode(value).decode(), *one.tools]
    write("".join(f"{indent_line(line)}\n" for line in lines))
    return Exit.OK


def describe(one: DefinedServer) -> ListedServer:
    definition = one.definition
    read = read_one(definition)
    tools: tuple[str, ...] = ()
    if read.servers and (pinned := open_book().load(read.servers[0])) is not None:
        tools = tuple(name_all(definition.name, (tool.name for tool in pinned.tools)).values())
    return ListedServer(
        name=definition.name,
        what=describe_target(definition.value),
        source=definition.source,
        origin=definition.origin,
        why_not=one.why_not or ("" if read.servers else "its definition is wrong"),
        tools=tools,
        remarks=read.remarks,
    )


def describe_target(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    if "url" in value:
        return str(value["url"])
    args = value.get("args")
    words = [value.get("command", ""), *(args if isinstance(args, list) else [])]
    return " ".join(map(str, words))


def render(one: ListedServer) -> Iterator[str]:
    state = f"does not start: {one.why_not}" if one.why_not else "starts"
    known = f", {render_count(len(one.tools), 'tool')}" if one.tools else ""
    yield f"{one.name}: {one.what} ({one.source}, {one.origin}{known}) {state}"
    yield from (f"  {remark}" for remark in one.remarks)


def hide_values(value: Any) -> Any:
    """Variables and headers may hold keys: only references to variables are shown."""
    if not isinstance(value, dict):
        return value
    hidden = {
        field: {
            name: text if isinstance(text, str) and text.startswith("${") and ":-" not in text else HIDDEN
            for name, text in value[field].items()
        }
        for field in ("env", "headers")
        if isinstance(value.get(field), dict)
    }
    return {**value, **hidden}

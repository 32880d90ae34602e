"""The ToolSearch tool: finds tools that are not listed because there are many; what it finds is listed from then on."""

from typing import Annotated

import msgspec
from msgspec import Meta

from everturn.ports.tool import Access, Tool, ToolContext, ToolResult
from everturn.tools.define import FunctionTool, tool
from everturn.tools.shown import ToolSearchShown
from everturn.tools.tool_search.ranking import rank_tools

MOST_RESULTS = 20
MOST_NAMED = 4_000
"""Characters: the names travel with every request."""
_DESCRIPTION = """Finds tools that exist but are not listed, and lists them: from your next answer on you can call what
was found. Search before you say that something cannot be done. The query is `select:` and names with commas between
them, or words for what the tool should do (a word with `+` before it must be found). These are not listed yet: """


class ToolSearchInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(min_length=1, description="`select:A,B`, or words such as: create issue")]
    max_results: Annotated[int, Meta(ge=1, le=MOST_RESULTS, description="At most so many, when searching by words")] = 5


def tool_search_tool(deferred: tuple[Tool, ...]) -> FunctionTool:
    """Its description stays as it is when tools are found: a change would cost the cache once more."""

    @tool(
        name="ToolSearch",
        reads_only=True,
        concurrent=False,
        access=Access.READ,
        line=lambda call: f"ToolSearch {call.query}",
        description=f"{_DESCRIPTION}{_name_all(deferred)}.",
    )
    async def tool_search(call: ToolSearchInput, context: ToolContext) -> ToolResult:
        found = rank_tools(call.query, deferred, call.max_results)
        notes = context.notepad.notes
        names = tuple(each.name for each in found)
        listed = tuple(dict.fromkeys((*notes.found_tools, *names)))
        context.notepad.notes = msgspec.structs.replace(notes, found_tools=listed)
        return ToolResult(
            content=_render(found, deferred),
            shown=ToolSearchShown(matches=names, query=call.query, total_deferred_tools=len(deferred)),
        )

    return tool_search


def _render(found: list[Tool], deferred: tuple[Tool, ...]) -> str:
    if not found:
        return f"No tool fits. Those that can be searched for: {_name_all(deferred)}."
    lines = [f"{each.name}: {each.description.strip().partition(chr(10))[0]}" for each in found]
    return "Found, and listed from your next answer on:\n" + "\n".join(lines)


def _name_all(deferred: tuple[Tool, ...]) -> str:
    named: list[str] = []
    size = 0
    for each in deferred:
        size += len(each.name) + 2
        if size > MOST_NAMED:
            return f"{', '.join(named)} and {len(deferred) - len(named):,} more, which words will find"
        named.append(each.name)
    return ", ".join(named)

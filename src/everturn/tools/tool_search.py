"""The ToolSearch tool: finds tools that are not listed because there are many; what it finds is listed from then on."""

import re
from collections.abc import Callable, Iterable
from typing import Annotated

import msgspec
from msgspec import Meta

from everturn.ports.tool import Access, Tool, ToolContext, ToolResult
from everturn.tools.definition.decorator import FunctionTool, tool
from everturn.tools.result_types import ToolSearchShown

MAX_RESULTS = 20
MAX_NAMED = 4_000
"""Characters: the names travel with every request."""
_DESCRIPTION = """Finds tools that exist but are not listed, and lists them: from your next answer on you can call what
was found. Search before you say that something cannot be done. The query is `select:` and names with commas between
them, or words for what the tool should do (a word with `+` before it must be found). These are not listed yet: """
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_SELECT = "select:"
_SAME_NAME, _IN_NAME, _PART_OF_NAME, _IN_TEXT, _PART_OF_TEXT = 100, 20, 8, 4, 1
_MIN_PIECE = 3
_FILLERS = frozenset({"a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "that", "the", "to", "with"})


class ToolSearchInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(min_length=1, description="`select:A,B`, or words such as: create issue")]
    max_results: Annotated[int, Meta(ge=1, le=MAX_RESULTS, description="At most so many, when searching by words")] = 5


def tool_search_tool(deferred: tuple[Tool, ...], list_late: Callable[[], tuple[Tool, ...]] = tuple) -> FunctionTool:
    """Its description stays as it is when tools are found: a change would cost the cache once more.

    `list_late` returns tools that came later. They are found, too, and not named before.
    """

    @tool(
        name="ToolSearch",
        reads_only=True,
        concurrent=False,
        access=Access.READ,
        line=lambda call: f"ToolSearch {call.query}",
        description=f"{_DESCRIPTION}{_name_all(deferred)}.",
    )
    async def tool_search(call: ToolSearchInput, context: ToolContext) -> ToolResult:
        every = tuple({tool.name: tool for tool in (*deferred, *list_late())}.values())
        found = rank_tools(call.query, every, call.max_results)
        notes = context.notepad.notes
        names = tuple(each.name for each in found)
        listed = tuple(dict.fromkeys((*notes.found_tools, *names)))
        context.notepad.notes = msgspec.structs.replace(notes, found_tools=listed)
        return ToolResult(
            content=_render(found, every),
            shown=ToolSearchShown(matches=names, query=call.query, total_deferred_tools=len(every)),
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
        if size > MAX_NAMED:
            return f"{', '.join(named)} and {len(deferred) - len(named):,} more, which words will find"
        named.append(each.name)
    return ", ".join(named)


def rank_tools(query: str, tools: Iterable[Tool], most: int) -> list[Tool]:
    """Those that fit, at most so many; equals stay in their order.

    `select:A,B` names tools. Otherwise each word adds to the score, and one with a `+` before it must be found.
    """
    offered = list(tools)
    if query.strip().lower().startswith(_SELECT):
        names = [name.strip().lower() for name in query.strip()[len(_SELECT) :].split(",")]
        chosen = {tool.name.lower(): tool for tool in offered}
        return [chosen[name] for name in dict.fromkeys(names) if name in chosen]
    wanted = [(word.startswith("+"), part) for word in query.split() for part in _split(word) if part not in _FILLERS]
    scores = {tool.name: _score(wanted, tool) for tool in offered}
    fitting = [tool for tool in offered if scores[tool.name]]
    return sorted(fitting, key=lambda tool: -scores[tool.name])[:most]


def _score(wanted: list[tuple[bool, str]], tool: Tool) -> int:
    name = _split(tool.name)
    text = _split(" ".join((tool.description, *tool.schema.get("properties", {}))))
    total = _SAME_NAME if [word for _, word in wanted] == name else 0
    for required, word in wanted:
        found = _score_word(word, set(name), set(text))
        if required and not found:
            return 0
        total += found
    return total


def _score_word(word: str, name: set[str], text: set[str]) -> int:
    if word in name:
        return _IN_NAME
    is_piece = len(word) >= _MIN_PIECE
    if is_piece and any(word in part for part in name):
        return _PART_OF_NAME
    if word in text:
        return _IN_TEXT
    return _PART_OF_TEXT if is_piece and any(word in part for part in text) else 0


def _split(text: str) -> list[str]:
    """Words, also those inside `mcp__tracker__createIssue`; an s at the end makes no difference."""
    return [_singular(word.lower()) for word in _WORDS.findall(text)]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > _MIN_PIECE and word.endswith("s") and not word.endswith("ss") else word

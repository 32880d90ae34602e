"""Which deferred tools fit a query, best first: names count more than descriptions, whole words more than pieces."""

import re
from collections.abc import Iterable

from everturn.ports.tool import Tool

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_SELECT = "select:"
_SAME_NAME, _IN_NAME, _PART_OF_NAME, _IN_TEXT, _PART_OF_TEXT = 100, 20, 8, 4, 1
_SHORTEST_PIECE = 3
_FILLERS = frozenset({"a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "that", "the", "to", "with"})


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
    is_piece = len(word) >= _SHORTEST_PIECE
    if is_piece and any(word in part for part in name):
        return _PART_OF_NAME
    if word in text:
        return _IN_TEXT
    return _PART_OF_TEXT if is_piece and any(word in part for part in text) else 0


def _split(text: str) -> list[str]:
    """Words, also those inside `mcp__tracker__createIssue`; an s at the end makes no difference."""
    return [_singular(word.lower()) for word in _WORDS.findall(text)]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > _SHORTEST_PIECE and word.endswith("s") and not word.endswith("ss") else word

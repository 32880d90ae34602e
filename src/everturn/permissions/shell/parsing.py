"""The parser, made when the first command is judged and kept."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@cache
def _parser() -> "Parser":
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def parse(source: bytes) -> "Node":
    """Its time may grow with the square of what it cannot understand: `prescan` stands before it."""
    return _parser().parse(source).root_node

"""The parser, made when the first command is judged and kept."""

from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@cache
def _parser() -> "Parser":
    from tree_sitter import Language, Parser

    return Parser(Language(_load_grammar().language()))


def _load_grammar() -> Any:
    """The extension alone: its package also loads what reads its queries (temporary files, archives), which nobody needs here."""
    package = find_spec("tree_sitter_bash")
    found = PathFinder.find_spec("tree_sitter_bash._binding", package.submodule_search_locations if package else None)
    if found is None or found.loader is None:
        raise ModuleNotFoundError("No module named 'tree_sitter_bash'", name="tree_sitter_bash")
    grammar = module_from_spec(found)
    found.loader.exec_module(grammar)
    return grammar


def parse(source: bytes) -> "Node":
    """Its time may grow with the square of what it cannot understand: `prescan` stands before it."""
    return _parser().parse(source).root_node

"""The keywords of `Engine(…)` for type checkers, made from the fields of `Options` and the world of an engine."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

from everturn.compose import world
from everturn.compose.world import KEYWORDS
from everturn.settings import options

HEADING = '''\
"""What `Engine`, `query`, `run` and `run_sync` take by name, for type checkers alone: nothing loads it. Made by `make pages`.

Each option is declared in `settings/options.py`, what stands in for the world in `compose/world.py`.
"""

'''
CLASS = """

class Keywords(TypedDict, total=False):
"""
BY_HAND = {"model": "str | Model | None", "env": "Mapping[str, str] | None"}
"""`model` is the name of a model or a client; `env` may be None, which is the process's own."""
NAMES = {
    "collections.abc": {"Callable", "Mapping", "Sequence"},
    "typing": {"Any", "Literal"},
    "everturn.ports.model": {"Model"},
}
FILE = Path(world.__file__).with_name("keywords.py")


def render_module() -> str:
    """Formatted as the formatter does it."""
    rows = {**dict(_list_fields(options, "Options")), **_of_world(), **BY_HAND}
    body = "".join(f"    {name}: {type_}\n" for name, type_ in rows.items())
    used = {node.id for type_ in rows.values() for node in ast.walk(ast.parse(type_)) if isinstance(node, ast.Name)}
    return HEADING + _render_imports(used) + CLASS + body


def _of_world() -> dict[str, str]:
    """Without what only the program hands over."""
    return {name: type_ for name, type_ in _list_fields(world, "World") if name in KEYWORDS}


def _list_fields(module: object, struct: str) -> Iterator[tuple[str, str]]:
    """Names and types as they stand in the source, without what `Annotated` adds."""
    tree = ast.parse(inspect.getsource(module))  # type: ignore[arg-type]
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == struct)
    for field in body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            yield field.target.id, _strip(field.annotation)


def _strip(type_: ast.expr) -> str:
    match type_:
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[first, *_])):
            return _strip(first)
        case ast.Constant(value=str(text)):
            return text
        case _:
            return ast.unparse(type_).replace("'", '"')


def _render_imports(used: set[str]) -> str:
    places: dict[str, set[str]] = {module: names & used for module, names in NAMES.items()}
    places["typing"] |= {"TypedDict"}
    for module in (options, world):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("everturn."):
                places.setdefault(node.module, set()).update(alias.name for alias in node.names if alias.name in used)
    known = {name for names in places.values() for name in names} | {"bool", "float", "int", "str"}
    places.setdefault(options.__name__, set()).update(used - known)
    lines = [f"from {module} import {', '.join(sorted(names))}\n" for module, names in sorted(places.items()) if names]
    ours = [line for line in lines if line.startswith("from everturn")]
    return "".join([*(line for line in lines if line not in ours), "\n", *ours])

r"""The engine that is always there, from outside: it runs in a process of its own.

A regular expression that never ends holds the whole interpreter, and of all that holds it only a process can be ended.
Where the engine differs from ripgrep: the syntax is that of `re` (look-around and back-references work, `\p{…}` does
not); of types it knows those in `filetypes`; a byte that is not UTF-8 matches `.`; it passes over files that are too large
to be read whole.
"""

import json
import os
import sys
from functools import lru_cache

import msgspec

import everturn
from everturn.core.errors import ToolFault
from everturn.ports.abort import AbortSignal
from everturn.tools.grep.filetypes import TYPES
from everturn.tools.grep.holding import Hold
from everturn.tools.grep.program import MAX_WAIT_S, run_program
from everturn.tools.grep.python_search import compile_pattern, search_tree
from everturn.tools.grep.query import Matches, Query
from everturn.workspace.load_paths import CHILD, encode_child

_MAX_BYTES = 100_000_000
_BEFORE_THE_END_S = 2.0
"""The child stops by itself so long before it is ended, to hand over what it has."""
_MAIN = f"{CHILD}from everturn.tools.grep.python_engine import main\nmain()\n"


async def run_python(
    query: Query,
    abort: AbortSignal,
    hold: Hold | None = None,
    *,
    folders: tuple[str, ...] = (),
    max_wait_s: float = MAX_WAIT_S,
) -> Matches:
    """`folders`: those that are worked in; of them no module is loaded.

    Raises `ToolFault` when the pattern or the type is wrong, when one file takes too long, and on abort.
    """
    if query.type is not None and query.type not in TYPES:
        raise ToolFault(f"The type {query.type!r} is not known here. Known are {', '.join(TYPES)}. Or use `glob`.")
    compile_pattern(query)
    # The standard library's JSON carries names that are not UTF-8.
    given = [msgspec.to_builtins(query), max(max_wait_s - _BEFORE_THE_END_S, 0)]
    output = await run_program(
        [_find_interpreter(), "-I", "-S", "-c", _MAIN, encode_child(folders or (query.root,))],
        query.root,
        abort,
        most_bytes=_MAX_BYTES,
        max_wait_s=max_wait_s,
        given=json.dumps(given).encode(),
        hold=hold,
        needed=list_needed(),
    )
    if not output.complete:
        raise ToolFault(f"The search took longer than {max_wait_s:g} s. Use a simpler pattern, or a smaller folder.")
    if output.code:
        raise ToolFault(f"The search failed: {output.problem.splitlines()[-1] if output.problem else output.code}")
    return msgspec.convert(json.loads(output.data), Matches)


@lru_cache(maxsize=1)
def _find_interpreter() -> str:
    """The program itself, and no link in a virtual environment: it is told where modules are."""
    return os.path.realpath(sys.executable)


@lru_cache(maxsize=1)
def list_needed() -> tuple[str, ...]:
    """What an interpreter like this one reads until it searches: its own library, ours, and whose we need."""
    # The child has no use for it.
    import sysconfig

    of_python = (*(sysconfig.get_path(name) for name in ("stdlib", "platstdlib")), sysconfig.get_config_var("LIBDIR"))
    packages = (os.path.dirname(os.path.dirname(module.__file__ or "")) for module in (everturn, msgspec))  # noqa: PTH120
    return tuple(
        dict.fromkeys(path for path in (*of_python, *packages) if isinstance(path, str) and path.startswith("/"))
    )


def main() -> None:
    """In the child: the question comes on standard input, the answer goes to standard output."""
    query, max_wait_s = json.load(sys.stdin)
    found = search_tree(msgspec.convert(query, Query), max_wait_s)
    json.dump(msgspec.to_builtins(found), sys.stdout)

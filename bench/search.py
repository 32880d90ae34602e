"""Grep against `rg` itself on the same tree, and Glob on it.

A ratio is that of the tool's time, without the sorting of its matches, to the time of `rg` with the same arguments and the
same output, unsorted. Each round runs both, the one that was second first.
"""

import asyncio
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.aims import Found, Scale, note
from bench.alone import Figures
from bench.desk import Desk, time_call
from bench.figures import KILO, in_turn
from bench.stage import StageError
from everturn.ports.abort import AbortSignal
from everturn.ports.sandbox import Holder
from everturn.sandbox.held.holder import CommandHolder, Premises
from everturn.tools.found_files import sort_newest
from everturn.tools.glob import find_files
from everturn.tools.grep.query import GrepInput, Query, plan_query
from everturn.tools.grep.ripgrep import find_ripgrep, parse_output, plan_arguments, run_ripgrep
from everturn.tools.grep.tool import run_grep

FILES, PER_FOLDER, PER_PACKAGE = 50_000, 100, 3_000
EVERY = 5
"""One file in so many holds the word that is looked for."""
FILLING = "def handle(request):\n    return render(request, template)\n" * 15
CALLS = {
    "files": GrepInput(pattern="needle"),
    "content": GrepInput(pattern="needle", output_mode="content"),
    "count": GrepInput(pattern="needle", output_mode="count"),
}


def measure(scale: Scale) -> Found:
    program = find_ripgrep()
    if not program:
        raise StageError("there is no ripgrep to compare with")
    found: Found = {}
    with make_tree(scale.of(FILES)) as root:
        # As in a session: what holds searches is made once.
        holder = CommandHolder(Premises(folders=lambda: (root,), home=str(Path.home())))
        for number in range(scale.rounds):
            for name, call in CALLS.items():
                note(found, measure_grep(program, root, name, call, number, holder))
            note(found, {"glob": time_call(partial(find_files, root, "**/*.py", AbortSignal())) * KILO})
        asyncio.run(holder.aclose())
    return found


@contextmanager
def make_tree(files: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="everturn-bench-") as name:
        root = Path(name).resolve()
        (root / ".gitignore").write_text("*.log\n")
        for number in range(files):
            folder = root / f"package{number // PER_PACKAGE}" / f"module{number // PER_FOLDER}"
            if number % PER_FOLDER == 0:
                folder.mkdir(parents=True)
            needle = "needle = True\n" if number % EVERY == 0 else ""
            (folder / f"file{number}.py").write_text(FILLING + needle)
        yield str(root)


def measure_grep(  # noqa: PLR0917 - one row of a table
    program: str, root: str, name: str, call: GrepInput, number: int, holder: Holder
) -> Figures:
    query = plan_query(call, root, None)
    command = [program, *plan_arguments(query, in_repository=False)]
    output = b""

    def alone() -> float:
        nonlocal output
        began = time.perf_counter()
        output = subprocess.run(command, cwd=root, capture_output=True, check=False).stdout
        return time.perf_counter() - began

    def whole() -> float:
        return asyncio.run(time_tool(program, root, call, holder))

    taken = {work: work() for work in in_turn((alone, whole), number)}
    sorting = time_sorting(query, root, output)
    return {name: (taken[whole] - sorting) / taken[alone], f"{name}_whole": taken[whole] * KILO}


async def time_tool(program: str, root: str, call: GrepInput, holder: Holder) -> float:
    context = Desk(root).context
    began = time.perf_counter()
    await run_grep(call, context, partial(run_ripgrep, program), holder)
    return time.perf_counter() - began


def time_sorting(query: Query, root: str, output: bytes) -> float:
    found = parse_output(output, query)
    if query.mode == "files_with_matches":
        return time_call(lambda: sort_newest(root, found, lambda file: file.path))
    return time_call(lambda: sorted(found, key=lambda file: file.path))

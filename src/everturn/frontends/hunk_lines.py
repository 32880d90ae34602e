"""The change of a file as lines with their numbers: where a person is asked about it, and where all of a result is opened. Pure."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from everturn.frontends.ansi import DIM, GREEN, RED

_COLOURS = {"-": RED, "+": GREEN}


def list_hunk_lines(hunks: Sequence[Any], clean: Callable[[str], str] = str) -> Iterator[tuple[str, str]]:
    """Each line and its colour. A line that goes has the number that it had, any other the one that it will have.

    The hunks are like `ports.tool.PatchHunk`; `clean` makes of each line what may be shown.
    """
    for at, hunk in enumerate(hunks):
        if at:
            yield "    ⋮", DIM
        old, new = hunk.old_start, hunk.new_start
        for line in hunk.lines:
            sign, number = line[:1], old if line[:1] == "-" else new
            yield f"{number:>5} {sign} {clean(line[1:])}", _COLOURS.get(sign, DIM)
            old += sign != "+"
            new += sign != "-"

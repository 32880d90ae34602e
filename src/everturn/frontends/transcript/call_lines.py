"""The line of a call that failed, cut to the width: the reason stays, the path is shortened. Pure."""

from everturn.frontends.flow import cut_line, width_of

MIN_COUNT = 10
"""Columns of a call that stay however long the reason is."""


def render_failure(line: str, reason: str, columns: int) -> str:
    """`line: reason`, with the line cut as far as the reason needs it, down to a quarter of the row."""
    reason = drop_named_path(line, reason)
    if not reason:
        return cut_call(line, columns)
    room = columns - width_of(f": {reason}")
    return cut_line(f"{cut_call(line, max(room, columns // 4, MIN_COUNT))}: {reason}", columns)


def cut_call(line: str, columns: int) -> str:
    """Within so many columns. Of `Read src/a/b.py` the folders go first; a command keeps its beginning."""
    if width_of(line) <= columns:
        return line
    words = line.split(" ")
    if "/" in words[-1] and len(words) == 3:  # noqa: PLR2004 (the mark, the tool and the path)
        short = f"{words[0]} {words[1]} …/{words[-1].rstrip('/').rpartition('/')[2]}"
        return cut_line(short, columns)
    return cut_line(line, columns)


def drop_named_path(line: str, reason: str) -> str:
    """A reason that begins with the path that the line ends with says it once more, and longer."""
    path, blank, rest = reason.partition(" ")
    named = line.rpartition(" ")[2].removeprefix("./")
    said_twice = blank and "/" in path and named and path.rstrip(":").endswith(named)
    return rest if said_twice else reason

"""Names of tools in rules: exact ones, globs, and servers that stand for all their tools. Pure."""

from collections.abc import Collection

SERVER = "mcp__"
_LIKENESS = 0.65
"""Of two names, from 0 to 1, from which on one may be a slip for the other."""
ALIASES = {"Task": "Agent"}
"""Old names of tools; rules for them hold for the new ones."""


def covers_name(named: str, tool: str) -> bool:
    """Whether a rule that names `named` speaks of this tool."""
    if named == tool or ALIASES.get(named) == tool or ALIASES.get(tool) == named:
        return True
    if "*" in named:
        from everturn.permissions.rules.globs import parse_stars

        return parse_stars(named).matches(tool)
    # `mcp__github` is a server: all of its tools.
    return named.startswith(SERVER) and "__" not in named[len(SERVER) :] and tool.startswith(f"{named}__")


def find_alike(named: str, known: Collection[str]) -> str:
    """The tool of which this is probably a slip; empty where it is like none."""
    from difflib import get_close_matches

    by_form = {name.lower(): name for name in known}
    match = get_close_matches(named.lower(), list(by_form), n=1, cutoff=_LIKENESS)
    return by_form[match[0]] if match else ""


def is_open_glob(named: str) -> bool:
    """A glob that does not name its server: no allow rule may be that wide."""
    if "*" not in named:
        return False
    server, cut, _ = named.removeprefix(SERVER).partition("__")
    return not (named.startswith(SERVER) and cut and server and "*" not in server)

"""Names of tools in rules: exact ones, globs, and servers that stand for all their tools. Pure."""

SERVER = "mcp__"
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


def is_open_glob(named: str) -> bool:
    """A glob that does not name its server: no allow rule may be that wide."""
    if "*" not in named:
        return False
    server, cut, _ = named.removeprefix(SERVER).partition("__")
    return not (named.startswith(SERVER) and cut and server and "*" not in server)

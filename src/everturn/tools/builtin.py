"""The built-in tools, in the order that the model sees: the order never changes in a session."""

from collections.abc import Callable, Collection

from everturn.ports.tool import Tool
from everturn.tools.bash import bash_tool
from everturn.tools.edit import edit_tool
from everturn.tools.glob import glob_tool
from everturn.tools.grep import grep_tool
from everturn.tools.read import read_tool
from everturn.tools.write import write_tool

BUILTIN: dict[str, Callable[[], Tool]] = {
    "Bash": bash_tool,
    "Edit": edit_tool,
    "Glob": glob_tool,
    "Grep": grep_tool,
    "Read": read_tool,
    "Write": write_tool,
}


def builtin_tools(names: Collection[str] = BUILTIN.keys()) -> tuple[Tool, ...]:
    """Fresh for each session: some of them remember. Made only where they are asked for: that takes a moment."""
    return tuple(make() for name, make in BUILTIN.items() if name in names)

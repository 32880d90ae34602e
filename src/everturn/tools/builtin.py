"""The built-in tools, in the order that the model sees: the order never changes in a session."""

from everturn.ports.tool import Tool
from everturn.tools.bash import bash_tool
from everturn.tools.edit import edit_tool
from everturn.tools.glob import glob_tool
from everturn.tools.grep import grep_tool
from everturn.tools.read import read_tool
from everturn.tools.write import write_tool


def builtin_tools() -> tuple[Tool, ...]:
    """Fresh for each session: some of them remember."""
    return (bash_tool(), edit_tool(), glob_tool(), grep_tool(), read_tool(), write_tool())

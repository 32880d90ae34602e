"""The built-in tools, in the order that the model sees: the order never changes in a session."""

from collections.abc import Callable, Collection
from functools import partial

import msgspec

from everturn.core.limits import Limits
from everturn.ports.outputs import Outputs
from everturn.ports.search import Searcher
from everturn.ports.tool import Tool
from everturn.ports.web import Net
from everturn.tools.bash import bash_tool
from everturn.tools.edit import edit_tool
from everturn.tools.glob import glob_tool
from everturn.tools.grep import grep_tool
from everturn.tools.notebook_edit import notebook_edit_tool
from everturn.tools.read import read_tool
from everturn.tools.tasks import task_output_tool, task_stop_tool
from everturn.tools.todo_write import todo_write_tool
from everturn.tools.web_fetch import web_fetch_tool
from everturn.tools.write import write_tool

BUILTIN: dict[str, Callable[[], Tool]] = {
    "Bash": bash_tool,
    "Edit": edit_tool,
    "Glob": glob_tool,
    "Grep": grep_tool,
    "NotebookEdit": notebook_edit_tool,
    "Read": read_tool,
    "TaskOutput": task_output_tool,
    "TaskStop": task_stop_tool,
    "Write": write_tool,
    "WebFetch": web_fetch_tool,
}
PERSON_TOOLS = ("AskUserQuestion", "EnterPlanMode", "ExitPlanMode")
"""Questions to the person: without one they can only fail, so they are offered only where they are named."""
NAMES = (*BUILTIN, "WebSearch", "TodoWrite", *PERSON_TOOLS, "ToolSearch")


class Web(msgspec.Struct, frozen=True, kw_only=True):
    """What the web tools are given."""

    net: Net | None = None
    """None = the machine's own network."""
    small_model: str | None = None
    searcher: Searcher | None = None
    """None = WebSearch is not offered."""


def builtin_tools(
    names: Collection[str] = NAMES,
    web: Web | None = None,
    deferred: tuple[Tool, ...] = (),
    *,
    outputs: Outputs | None = None,
    read_tokens: int = Limits().read_tokens,
) -> tuple[Tool, ...]:
    """Fresh for each session: some of them remember. Made only where they are asked for: that takes a moment.

    ToolSearch is offered only where there are `deferred` tools to be found. `outputs` learns which files commands wrote.
    """
    web = web or Web()
    makers: dict[str, Callable[[], Tool]] = {
        **BUILTIN,
        "Bash": partial(bash_tool, outputs),
        "Read": partial(read_tool, read_tokens),
        "WebFetch": partial(web_fetch_tool, net=web.net, small_model=web.small_model),
    }
    if web.searcher is not None:
        from everturn.tools.web_search import web_search_tool

        makers["WebSearch"] = partial(web_search_tool, web.searcher)
    makers["TodoWrite"] = todo_write_tool
    if not {*PERSON_TOOLS}.isdisjoint(names):
        from everturn.tools.ask_user import ask_user_tool
        from everturn.tools.plan_mode import enter_plan_mode_tool, exit_plan_mode_tool

        makers |= zip(PERSON_TOOLS, (ask_user_tool, enter_plan_mode_tool, exit_plan_mode_tool), strict=True)
    if deferred and "ToolSearch" in names:
        from everturn.tools.tool_search import tool_search_tool

        makers["ToolSearch"] = partial(tool_search_tool, deferred)
    return tuple(make() for name, make in makers.items() if name in names)

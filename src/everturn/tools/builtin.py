"""The built-in tools, in the order that the model sees: the order never changes in a session."""

from collections.abc import Callable, Collection
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from everturn.core.limits import Limits
from everturn.ports.outputs import Outputs
from everturn.ports.scratch import NO_SCRATCH, Scratch
from everturn.ports.shell_folder import ShellFolder
from everturn.ports.tool import Tool
from everturn.ports.web import Net, Searcher
from everturn.tools.announcements import AnnouncedTool, load_announcements

if TYPE_CHECKING:
    from everturn.ports.sandbox import Holder, Sandbox

_PLACES = {
    "Bash": "everturn.tools.bash:bash_tool",
    "Edit": "everturn.tools.edit.tool:edit_tool",
    "Glob": "everturn.tools.glob:glob_tool",
    "Grep": "everturn.tools.grep:grep_tool",
    "NotebookEdit": "everturn.tools.notebook_edit:notebook_edit_tool",
    "Read": "everturn.tools.read:read_tool",
    "TaskOutput": "everturn.tools.tasks:task_output_tool",
    "TaskStop": "everturn.tools.tasks:task_stop_tool",
    "Write": "everturn.tools.write:write_tool",
    "WebFetch": "everturn.tools.web_fetch:web_fetch_tool",
    "WebSearch": "everturn.tools.web_search:web_search_tool",
    "TodoWrite": "everturn.tools.todo_write:todo_write_tool",
    "AskUserQuestion": "everturn.tools.ask_user:ask_user_tool",
    "EnterPlanMode": "everturn.tools.plan_mode:enter_plan_mode_tool",
    "ExitPlanMode": "everturn.tools.plan_mode:exit_plan_mode_tool",
    "ToolSearch": "everturn.tools.tool_search:tool_search_tool",
}
PERSON_TOOLS = ("AskUserQuestion", "EnterPlanMode", "ExitPlanMode")
"""Questions to the person: without one they can only fail, so they are offered only where they are named."""
NAMES = tuple(_PLACES)


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
    shell: ShellFolder | None = None,
    read_tokens: int = Limits().read_tokens,
    sandbox: "Sandbox | None" = None,
    limits: Limits | None = None,
    only_reads: Callable[[str], bool] | None = None,
    holder: "Holder | None" = None,
    scratch: Scratch = NO_SCRATCH,
    list_late: Callable[[], tuple[Tool, ...]] = tuple,
) -> tuple[Tool, ...]:
    """Fresh for each session: some of them remember. A tool's code is loaded when it is first called.

    ToolSearch is offered only where there are `deferred` tools to be found. `outputs` learns which files commands wrote,
    `shell` where the next one starts; `sandbox` holds them, `holder` those that nobody approved and searches, `limits` say what of the machine
    one may take, and `only_reads` knows those that change nothing. `scratch`: the folder for their temporary files.
    `list_late`: tools that came later and that ToolSearch finds, too.
    """
    web = web or Web()
    given: dict[str, tuple[Any, ...]] = {
        "Bash": (outputs, shell, sandbox, limits, only_reads, holder, scratch),
        "Grep": (holder,),
        "Read": (read_tokens,),
        "WebFetch": (web.net, web.small_model),
        "WebSearch": (web.searcher,),
        "ToolSearch": (deferred, list_late),
    }
    missing = {"WebSearch": web.searcher is None, "ToolSearch": not deferred}
    # What these say of themselves depends on what they were given.
    told_by_code = {
        "ToolSearch",
        *(["Bash"] if sandbox else ()),
        *(["Read"] if read_tokens != Limits().read_tokens else ()),
    }
    tools: list[Tool] = []
    for name in NAMES:
        if name not in names or missing.get(name):
            continue
        make = partial(make_tool, name, *given.get(name, ()))
        tools.append(make() if name in told_by_code else AnnouncedTool(load_announcements()[name], make))
    return tuple(tools)


def make_tool(name: str, *given: Any) -> Tool:
    """The tool itself, loaded now."""
    module, _, function = _PLACES[name].partition(":")
    made: Tool = getattr(import_module(module), function)(*given)
    return made

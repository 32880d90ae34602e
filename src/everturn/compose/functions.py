"""Plain functions among the options become what the engine asks for: an approver, tools."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from everturn.ports.policy import Approver, Call, Verdict
from everturn.ports.tool import Tool
from everturn.settings.checks import is_function
from everturn.tools.definition.decorator import FunctionTool


class FunctionApprover:
    """`ports.policy.Approver` around a function of the call and the reason, async or not."""

    def __init__(self, function: Callable[[Call, str], Any]) -> None:
        self._function = function

    async def approve(self, call: Call, reason: str) -> Verdict:
        answer = self._function(call, reason)
        # What is no verdict is refused by the gate, in words for the function's author.
        return await answer if inspect.isawaitable(answer) else answer  # type: ignore[no-any-return]


def adopt_approver(approver: Approver | Callable[[Call, str], Any] | None) -> Approver | None:
    return approver if approver is None or hasattr(approver, "approve") else FunctionApprover(approver)


def adopt_tools(tools: Iterable[Tool | Callable[..., Any]]) -> tuple[Tool, ...]:
    """Raises `OptionError` for a function that cannot be a tool: without a docstring or types."""
    return tuple(map(adopt_tool, tools))


def adopt_tool(tool: Any) -> Tool:
    return FunctionTool(tool) if is_function(tool) else tool

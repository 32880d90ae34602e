"""Where a part runs a tool as the engine would, without an engine."""

import time
from collections.abc import Callable
from typing import Any

from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.tool import Tool, ToolContext, ToolResult


class Desk:
    """Files that were read stay known from call to call; `shown` counts the characters of progress."""

    def __init__(self, folder: str) -> None:
        self.shown = 0
        self.abort = AbortSignal()
        self.context = ToolContext(
            folder=folder, tool_use_id="toolu_1", abort=self.abort, files=FileStates(), progress=self._show
        )

    async def run(self, tool: Tool, **fields: Any) -> ToolResult:
        return await tool.run(tool.parse(fields), self.context)

    async def time(self, tool: Tool, **fields: Any) -> float:
        """Seconds."""
        started = time.perf_counter()
        await self.run(tool, **fields)
        return time.perf_counter() - started

    def _show(self, text: str) -> None:
        self.shown += len(text)


def time_call(work: Callable[[], Any]) -> float:
    """Seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started

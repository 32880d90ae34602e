"""The result of a call: the words of an error, and the block of the Messages API."""

from typing import Any

import msgspec

from everturn.core.errors import EverturnError, ToolFault
from everturn.core.marks import tool_error
from everturn.core.messages import Block, ToolUse, result_block
from everturn.engine.call_round import Refusal
from everturn.ports.tool import Tool, ToolResult


def describe(error: Exception) -> str:
    """The text of an error; for an error that is not ours, with its class before it."""
    own = isinstance(error, Refusal | EverturnError)
    return str(error) if own else f"{type(error).__name__}: {error}"


def describe_done(tool: Tool | None, result: ToolResult) -> str:
    """The call in one line for people; empty where the tool raises: its work is done nevertheless."""
    try:
        return str(tool.done(result)) if tool else ""
    except Exception:  # noqa: BLE001 (a line for people is worth no failure)
        return ""


def failure(text: str) -> ToolResult:
    return ToolResult(content=tool_error(text), is_error=True)


def encode_result(use: ToolUse, result: ToolResult) -> Block:
    """The result as a block. Raises `ToolFault` for content that the API would refuse: every later request would fail."""
    content: Any = result.content
    parts = content if isinstance(content, list) else [content]
    fits = isinstance(content, str) or all(isinstance(part, dict) and part.get("type") for part in parts)
    if not fits:
        raise ToolFault(f"{use.name} returned content that is neither text nor a list of blocks.")
    return result_block(use.id, result.content, is_error=result.is_error)


def add_note(result: ToolResult, note: str) -> ToolResult:
    """The result with a hook's note at its end."""
    content = result.content
    if content and not note:
        return result
    if note and isinstance(content, str):
        content = f"{content}\n{note}"
    elif note:
        content = [*content, {"type": "text", "text": note}]
    return msgspec.structs.replace(result, content=content or "(no output)")

"""The calls of hooks around tools: the fields that hooks get, and how their answers reach the model."""

import os
from collections.abc import Sequence
from typing import Any

import msgspec

from everturn.core.messages import Block, ToolResult, ToolUse
from everturn.engine import wording
from everturn.ports.ask import Ask
from everturn.ports.hooks import NOTHING_SAID, Hooks, HookVerdict, Occasion
from everturn.ports.policy import Call
from everturn.ports.tool import ToolResult as Result

PRE_TOOL, POST_TOOL, POST_FAILURE, POST_BATCH = "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch"
PROMPT, SESSION_START, SESSION_END = "UserPromptSubmit", "SessionStart", "SessionEnd"
REQUEST, NOTIFICATION, CWD = "PermissionRequest", "Notification", "CwdChanged"
ELICITATION, ELICITATION_RESULT = "Elicitation", "ElicitationResult"
INSTRUCTIONS, FILES = "InstructionsLoaded", "FileChanged"
MAX_ERROR = 10_000
"""Characters of an error that hooks are given; of a longer one the middle is left out."""
_PATHS = ("file_path", "notebook_path", "path")


async def ask_before(hooks: Hooks, call: Call, folder: str, ask: Ask | None) -> HookVerdict:
    if not hooks.hears(PRE_TOOL):
        return NOTHING_SAID
    fields = {**call_fields(call, folder), "tool_use_id": call.id}
    return await hooks.ask(Occasion(event=PRE_TOOL, fields=fields, call=call, ask=ask))


async def ask_after(
    hooks: Hooks, call: Call, folder: str, ask: Ask | None, *, result: Result, duration_s: float, interrupted: bool
) -> HookVerdict:
    event = POST_FAILURE if result.is_error else POST_TOOL
    if not hooks.hears(event):
        return NOTHING_SAID
    fields = {**call_fields(call, folder), "tool_use_id": call.id, "duration_ms": round(duration_s * 1000)}
    if result.is_error:
        fields |= {"error": shorten_middle(text_of(result.content)), "is_interrupt": interrupted}
    else:
        fields |= {"tool_response": shape_response(result)}
    return await hooks.ask(Occasion(event=event, fields=fields, call=call, ask=ask))


async def ask_after_batch(
    hooks: Hooks, uses: Sequence[tuple[ToolUse, Call | None]], results: list[Block], folder: str, ask: Ask | None
) -> HookVerdict:
    """`uses`: each with the call that it became; None where its input was none."""
    if not hooks.hears(POST_BATCH):
        return NOTHING_SAID
    content = {
        block.view.tool_use_id: msgspec.json.decode(block.raw).get("content")
        for block in results
        if isinstance(block.view, ToolResult)
    }
    calls = [
        {
            **({"tool_name": use.name, "tool_input": decode_input(use)} if call is None else call_fields(call, folder)),
            "tool_use_id": use.id,
            "tool_response": content.get(use.id),
        }
        for use, call in uses
    ]
    return await hooks.ask(Occasion(event=POST_BATCH, fields={"tool_calls": calls}, ask=ask))


def call_fields(call: Call, folder: str) -> dict[str, Any]:
    """Name and input of the call for hooks, with absolute paths."""
    input_ = call.shown
    for name in _PATHS:
        if isinstance(path := input_.get(name), str):
            input_[name] = name_place(os.path.join(folder, os.path.expanduser(path)))  # noqa: PTH111, PTH118 (as text)
    return {"tool_name": call.name, "tool_input": input_}


def name_place(path: str) -> str:
    """The path without dots, resolved as the kernel resolves them: behind a link, `..` is the parent of the link's target."""
    if "\0" in path or "/.." not in path:
        return os.path.normpath(path)
    place = ""
    for name in path.split("/"):
        if name == "..":
            place = os.path.dirname(os.path.realpath(place or "/"))  # noqa: PTH120 (as text)
        elif name not in {"", "."}:
            place = f"{place.rstrip('/')}/{name}"
    return place or "/"


def decode_input(use: ToolUse) -> Any:
    try:
        return msgspec.json.decode(use.input)
    except (msgspec.DecodeError, RecursionError):
        return {}


def shape_response(result: Result) -> Any:
    """The result as a value for programs; its text where the tool gives no value."""
    if result.shown is None:
        return text_of(result.content)
    try:
        value = msgspec.to_builtins(result.shown)
    except (TypeError, ValueError, RecursionError):
        return text_of(result.content)
    # Scripts look for it before they format a file. A call that failed is told to other hooks.
    return {"success": True, **value} if isinstance(value, dict) and "filePath" in value else value


def text_of(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")


def shorten_middle(text: str) -> str:
    if len(text) <= MAX_ERROR:
        return text
    half = MAX_ERROR // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters are left out here …]\n{text[-half:]}"


def list_told(event: str, verdict: HookVerdict, about: str = "") -> list[str]:
    """Texts for the model, a reminder each. `about`: the call that the verdict is about."""
    told = [wording.hook_blocks(event, verdict.block, about)] if verdict.block is not None else []
    return told + [wording.hook_context(event, text, about) for text in verdict.context]

"""Answers about models: the list and its single entries."""

from typing import Any
from urllib.parse import parse_qs

from everturn.modelserver.models import EFFORTS, Model, Models

_UNKNOWN_DATE = "1970-01-01T00:00:00Z"
_PAGE = 20


def render_model(model: Model) -> dict[str, Any]:
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.name or model.id,
        "created_at": _UNKNOWN_DATE,
        "lifecycle": "active",
        "max_input_tokens": model.window,
        "max_tokens": model.max_output,
        "capabilities": _capabilities(model),
    }


def render_models(models: Models, query: str) -> dict[str, Any]:
    """A page of the list; `limit` and `after_id` or `before_id` in the query choose it."""
    wanted = parse_qs(query)
    limit = wanted.get("limit", [""])[0]
    after, before = wanted.get("after_id", [""])[0], wanted.get("before_id", [""])[0]
    ids = [model.id for model in models.listed]
    size = int(limit) if limit.isdecimal() and int(limit) else _PAGE
    if before in ids:
        end = ids.index(before)
        start, more = max(0, end - size), end > size
    else:
        start = ids.index(after) + 1 if after in ids else 0
        end, more = start + size, start + size < len(ids)
    page = [render_model(model) for model in models.listed[start:end]]
    return {
        "data": page,
        "has_more": more,
        "first_id": page[0]["id"] if page else None,
        "last_id": page[-1]["id"] if page else None,
    }


def _capabilities(model: Model) -> dict[str, Any]:
    def can(able: bool) -> dict[str, bool]:
        return {"supported": able}

    editing = can("adaptive" in model.thinking)
    return {
        "batch": can(True),
        "citations": can(True),
        "code_execution": can(True),
        "context_management": can(True)
        | {"clear_tool_uses_20250919": can(True), "clear_thinking_20251015": can(True), "compact_20260112": editing},
        "effort": can(bool(model.efforts)) | {effort: can(effort in model.efforts) for effort in EFFORTS},
        "image_input": can(True),
        "pdf_input": can(True),
        "server_tools": can(True) | {"code_execution": can(True), "web_search": can(True)},
        "structured_outputs": can(True),
        "thinking": can(True)
        | {
            "types": {mode: can(mode in model.thinking) for mode in ("adaptive", "disabled", "enabled")}
            | {"between_tools": can("adaptive" in model.thinking)},
        },
    }

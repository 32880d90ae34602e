"""What goes above the body: version, betas that its fields need, and the user's own headers. Pure."""

import re
from collections.abc import Iterable, Mapping

from everturn.core.patterns import compile_late
from everturn.models.anthropic.thinking import plan_thinking
from everturn.models.catalog import LONG_WINDOW
from everturn.ports.model import ModelCard, Request, ThinkingMode

API_VERSION = "2023-06-01"
TASK_BUDGETS = "task-budgets-2026-03-13"
FAST_MODE = "fast-mode-2026-02-01"
INTERLEAVED = "interleaved-thinking-2025-05-14"
CONTEXT_EDITING = "context-management-2025-06-27"
LONG_CONTEXT = "context-1m-2025-08-07"
WINDOW_EXCEEDED = "model-context-window-exceeded-2025-08-26"
_OLDER = compile_late(r"claude-(?:3|(?:opus|sonnet)-4-(?:0|1\b|2025))")
"""Models that stop at the end of their window only where they are asked to; later ones always do."""
_VALUE = r"[\t\x20-\x7e\x80-\xff]*"


def headers_for(
    request: Request,
    card: ModelCard,
    *,
    credentials: Mapping[str, str],
    version: str = "",
    betas: Iterable[str] = (),
    custom: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """`version` is our own; `betas` are those of every request; `custom` headers win, except that betas are joined."""
    headers = {
        "content-type": "application/json",
        "anthropic-version": API_VERSION,
        "user-agent": f"everturn/{version}" if version else "everturn",
        **credentials,
        **(custom or {}),
    }
    own = headers.get("anthropic-beta", "")
    named = dict.fromkeys([*split_betas(own), *betas, *request.betas, *plan_betas(request, card)])
    if named:
        headers["anthropic-beta"] = ",".join(named)
    return headers


def plan_betas(request: Request, card: ModelCard) -> tuple[str, ...]:
    thinking = plan_thinking(request.thinking, card, request.max_tokens)
    manual = thinking is not None and thinking["type"] == "enabled" and ThinkingMode.ADAPTIVE not in card.thinking
    needs = {
        TASK_BUDGETS: request.task_budget is not None and card.task_budget,
        FAST_MODE: request.fast and card.fast_prices is not None,
        INTERLEAVED: manual and card.family != "haiku",
        LONG_CONTEXT: request.model.endswith(LONG_WINDOW),
        CONTEXT_EDITING: request.clearing is not None and card.clears_results,
        WINDOW_EXCEEDED: bool(_OLDER.search(request.model)),
    }
    return tuple(beta for beta, needed in needs.items() if needed)


def split_betas(text: str) -> list[str]:
    """A list with commas, as in `ANTHROPIC_BETAS`."""
    return [beta for part in text.split(",") if (beta := part.strip())]


def is_header_value(value: str) -> bool:
    return bool(re.fullmatch(_VALUE, value))

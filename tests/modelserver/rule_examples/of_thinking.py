"""Examples for the rules about thinking, effort, and abilities that need a beta or a certain model."""

from typing import Any

import msgspec
from tests.modelserver.rule_examples.example import (
    Example,
    Json,
    Pair,
    ask,
    assistant,
    result,
    used,
    user,
    with_tools,
    words,
)

from everturn.modelserver.signatures import sign

_OLD = "claude-sonnet-4-5-20250929"
_NEW = "claude-opus-4-8"
_BINDS = "claude-fable-5-1"
_MANUAL = {"type": "enabled", "budget_tokens": 1024}
_BINDING = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
_BUDGET = {"task_budget": {"type": "tokens", "total": 50_000}}
_EDITS = {"edits": [{"type": "clear_tool_uses_20250919"}]}


def _thought(text: str = "Read it first.", *, model: str = _NEW, **fields: Any) -> Json:
    return {"type": "thinking", "thinking": text, "signature": sign(model, text), **fields}


def _round(*thoughts: Json, **fields: Any) -> Example:
    """A prompt, thoughts and a call, and its result."""
    return with_tools(user(), assistant([*thoughts, used()]), user([result()]), **fields)


def _after(given: tuple[Json, ...], *thoughts: Json) -> Example:
    """A round whose thoughts had been given out otherwise."""
    return msgspec.structs.replace(_round(*thoughts), handed=(*given, used()))


def _later(first: str, *then: Json) -> Example:
    """The second prompt to a model that thought before it answered the first one, which was Hello."""
    answer = assistant([_thought("Hm.", model=_BINDS), words("Hello")])
    return msgspec.structs.replace(ask(user(first), answer, user([*then]), model=_BINDS), before=(ask(model=_BINDS),))


_TWO = (_thought("First."), _thought("Second."))

PAIRS: dict[str, Pair] = {
    "thinking-shape": (ask(thinking={"type": "adaptive", "display": "summarized"}), ask(thinking={"type": "deep"})),
    "thinking-mode": (ask(thinking={"type": "adaptive"}), ask(thinking=_MANUAL)),
    "thinking-budget-minimum": (
        ask(model=_OLD, thinking=_MANUAL),
        ask(model=_OLD, thinking=_MANUAL | {"budget_tokens": 1023}),
    ),
    "thinking-budget-below-limit": (
        ask(model=_OLD, thinking=_MANUAL, max_tokens=1024, betas="interleaved-thinking-2025-05-14"),
        ask(model=_OLD, thinking=_MANUAL, max_tokens=1024),
    ),
    "thinking-tool-choice": (
        with_tools(model=_OLD, thinking=_MANUAL, tool_choice={"type": "auto"}),
        with_tools(model=_OLD, thinking=_MANUAL, tool_choice={"type": "any"}),
    ),
    "effort-known": (ask(output_config={"effort": "low"}), ask(output_config={"effort": "extreme"})),
    "effort-supported": (
        ask(output_config={"effort": "xhigh"}),
        ask(model="claude-opus-4-6", output_config={"effort": "xhigh"}),
    ),
    "thinking-off-effort": (
        ask(model="claude-opus-5", thinking={"type": "disabled"}, output_config={"effort": "high"}),
        ask(model="claude-opus-5", thinking={"type": "disabled"}, output_config={"effort": "max"}),
    ),
    "task-budget-beta": (ask(output_config=_BUDGET, betas="task-budgets-2026-03-13"), ask(output_config=_BUDGET)),
    "task-budget-model": (
        ask(output_config=_BUDGET, betas="task-budgets-2026-03-13"),
        ask(model="claude-sonnet-5", output_config=_BUDGET, betas="task-budgets-2026-03-13"),
    ),
    "speed-known": (ask(speed="standard"), ask(speed="slow")),
    "fast-beta": (ask(speed="fast", betas="fast-mode-2026-02-01"), ask(speed="fast")),
    "fast-model": (
        ask(speed="fast", betas="fast-mode-2026-02-01"),
        ask(model="claude-sonnet-5", speed="fast", betas="fast-mode-2026-02-01"),
    ),
    "context-management-beta": (
        ask(context_management=_EDITS, betas="context-management-2025-06-27"),
        ask(context_management=_EDITS),
    ),
    "signature-present": (_round(_thought()), _round({"type": "thinking", "thinking": "Read it first."})),
    "thinking-unchanged": (_after(_TWO, *_TWO), _after(_TWO, _TWO[1])),
    "signature-valid": (_round(_thought()), _round(_thought(model="claude-opus-5"))),
    "thinking-binding-beta": (
        ask(thinking=_BINDING, betas="thinking-binding-controls-2026-08-01"),
        ask(thinking=_BINDING),
    ),
    "thinking-bound": (_later("Hello", words("On.")), _later("Good day", words("On."))),
    "thinking-expected": (
        _round(_thought(model=_OLD), model=_OLD, thinking=_MANUAL),
        _round(model=_OLD, thinking=_MANUAL),
    ),
}

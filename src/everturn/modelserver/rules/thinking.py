"""Rules about thinking, effort, and the abilities that need a beta or a certain model."""

from everturn.modelserver.ask import THINKING_TYPES, Ask, blocks_of
from everturn.modelserver.models import EFFORTS
from everturn.modelserver.prefixes import list_prefixes
from everturn.modelserver.rules.rule import BodyRules

THINKING = BodyRules()

_MODES = ("adaptive", "enabled", "disabled", "between_tools")
_MIN_BUDGET = 1024
_INTERLEAVED = "interleaved-thinking-2025-05-14"
_TASK_BUDGETS = "task-budgets-2026-03-13"
_FAST = "fast-mode-2026-02-01"
_CONTEXT = ("context-management-2025-06-27", "compact-2026-01-12")
_BINDING = "thinking-binding-controls-2026-08-01"
_BOUND = (
    "Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
    'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
_MODIFIED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
    "These blocks must remain as they were in the original response."
)
_REFUSALS = {
    "enabled": '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    "disabled": '"thinking.type.disabled" is not supported for this model.',
    "adaptive": "adaptive thinking is not supported on this model",
    "between_tools": '"thinking.type.between_tools" is not supported for this model.',
}


@THINKING.rule(
    "thinking-shape",
    "conventions §6.5",
    "thinking is adaptive, enabled (with budget_tokens), disabled or between_tools.",
)
def _shape(ask: Ask) -> str | None:
    if "thinking" not in ask.body:
        return None
    mode = ask.thinking.get("type")
    if mode not in _MODES:
        return "thinking: Input tag found using 'type' does not match any of the expected tags: 'adaptive', 'between_tools', 'disabled', 'enabled'"
    if mode == "enabled" and not isinstance(ask.thinking.get("budget_tokens"), int):
        return "thinking.enabled.budget_tokens: Field required"
    return None


@THINKING.rule("thinking-mode", "conventions §6.5", "The model takes this kind of thinking.")
def _mode(ask: Ask) -> str | None:
    mode = ask.thinking.get("type")
    # Between its calls a model thinks that can decide by itself when to.
    ability = "adaptive" if mode == "between_tools" else mode
    return None if mode is None or ability in ask.model.thinking else _REFUSALS[mode]


@THINKING.rule("thinking-budget-minimum", "conventions §6.5", "budget_tokens is at least 1024.")
def _minimum(ask: Ask) -> str | None:
    if ask.thinking.get("type") == "enabled" and ask.thinking["budget_tokens"] < _MIN_BUDGET:
        return f"thinking.enabled.budget_tokens: Input should be greater than or equal to {_MIN_BUDGET}"
    return None


@THINKING.rule(
    "thinking-budget-below-limit",
    "conventions §6.5",
    "budget_tokens is below max_tokens, but with interleaved thinking.",
)
def _budget(ask: Ask) -> str | None:
    if ask.thinking.get("type") != "enabled" or ask.counting or _INTERLEAVED in ask.betas:
        return None
    return (
        None
        if ask.thinking["budget_tokens"] < ask.body["max_tokens"]
        else "`max_tokens` must be greater than `thinking.budget_tokens`."
    )


@THINKING.rule("thinking-tool-choice", "conventions §6.5", "With manual thinking no call is forced.")
def _choice(ask: Ask) -> str | None:
    if ask.thinking.get("type") == "enabled" and ask.body.get("tool_choice", {}).get("type") in {"any", "tool"}:
        return "Thinking may not be enabled when tool_choice forces tool use."
    return None


@THINKING.rule("effort-known", "conventions §6.5", "effort is low, medium, high, xhigh or max.")
def _effort(ask: Ask) -> str | None:
    effort = ask.output_config.get("effort")
    return (
        None
        if effort in (None, *EFFORTS)
        else "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"
    )


@THINKING.rule("effort-supported", "conventions §6.5", "The model knows this effort.")
def _effort_model(ask: Ask) -> str | None:
    effort = ask.output_config.get("effort")
    if effort is None or effort in ask.model.efforts:
        return None
    if not ask.model.efforts:
        return "This model does not support the effort parameter."
    return f"output_config.effort: '{effort}' is not supported for this model"


@THINKING.rule("thinking-off-effort", "conventions §6.5", "Opus 5 thinks at effort xhigh and max.")
def _off(ask: Ask) -> str | None:
    if (
        ask.model.off_up_to_high
        and ask.thinking.get("type") == "disabled"
        and ask.output_config.get("effort") in {"xhigh", "max"}
    ):
        return f'"thinking.type.disabled" is not supported with effort {ask.output_config["effort"]} on this model.'
    return None


@THINKING.rule("task-budget-beta", "conventions §6.5", "task_budget needs its beta header.")
def _task_beta(ask: Ask) -> str | None:
    if "task_budget" in ask.output_config and _TASK_BUDGETS not in ask.betas:
        return "output_config.task_budget: Extra inputs are not permitted"
    return None


@THINKING.rule("task-budget-model", "conventions §6.5", "The model takes a task_budget.")
def _task_model(ask: Ask) -> str | None:
    if "task_budget" in ask.output_config and not ask.model.task_budget:
        return "output_config.task_budget: task budgets are not supported for this model"
    return None


@THINKING.rule("speed-known", "conventions §6.2", "speed is standard or fast.")
def _speed(ask: Ask) -> str | None:
    return (
        None if ask.body.get("speed") in {None, "standard", "fast"} else "speed: Input should be 'standard' or 'fast'"
    )


@THINKING.rule(
    "fast-beta", "conventions §6.2", "On Opus 5 and 4.8 speed fast needs the beta header fast-mode-2026-02-01."
)
def _fast_beta(ask: Ask) -> str | None:
    if ask.body.get("speed") == "fast" and ask.model.fast == "beta" and _FAST not in ask.betas:
        return "speed: Extra inputs are not permitted"
    return None


@THINKING.rule("fast-model", "conventions §6.2", "The model has a fast mode.")
def _fast_model(ask: Ask) -> str | None:
    return (
        "speed: fast mode is not supported for this model"
        if ask.body.get("speed") == "fast" and ask.model.fast == "no"
        else None
    )


@THINKING.rule("context-management-beta", "conventions §6.4", "context_management needs its beta header.")
def _context(ask: Ask) -> str | None:
    if ask.body.get("context_management") is not None and not ask.betas.intersection(_CONTEXT):
        return "context_management: Extra inputs are not permitted"
    return None


@THINKING.rule("signature-present", "conventions §6.5", "A thinking block has its signature.")
def _signature(ask: Ask) -> str | None:
    for placed in ask.of_type("thinking"):
        if not isinstance(placed.block.get("signature"), str):
            return f"{placed.path}.thinking.signature: Field required"
        if not placed.block["signature"]:
            return f"{placed.path}: Invalid `signature` in `thinking` block"
    return None


@THINKING.rule(
    "thinking-unchanged",
    "conventions §6.5",
    "In a trajectory the thinking before a call goes back as it came, whole and in order.",
)
def _unchanged(ask: Ask) -> str | None:
    for at in range(ask.trajectory, len(ask.messages)):
        blocks = blocks_of(ask.messages[at]["content"])
        calls = [position for position, block in enumerate(blocks) if block["type"] == "tool_use"]
        model, given = ask.handed.before_call.get(blocks[calls[-1]]["id"], ("", [])) if calls else ("", [])
        sent = [dict(block) for block in blocks[: calls[-1]] if block["type"] in THINKING_TYPES] if calls else []
        if sent and model == ask.model.id and sent != given:
            return f"messages.{at}.content.0: {_MODIFIED}"
    return None


@THINKING.rule("signature-valid", "conventions §6.5", "A signature was made for this text and this model.")
def _valid(ask: Ask) -> str | None:
    for placed in ask.of_type("thinking"):
        if not ask.handed.vouches(placed.block["signature"], ask.model.id, placed.block["thinking"]):
            return f"{placed.path}: Invalid `signature` in `thinking` block"
    return None


@THINKING.rule("thinking-binding-beta", "preserved thinking", "thinking.block_binding needs its beta header.")
def _binding_beta(ask: Ask) -> str | None:
    if "block_binding" in ask.thinking and _BINDING not in ask.betas:
        return "thinking.block_binding: Extra inputs are not permitted"
    return None


@THINKING.rule(
    "thinking-bound",
    "preserved thinking",
    "On Fable 5.1 and 5.2 nothing before a thinking block has changed, unless such blocks are to be dropped.",
)
def _bound(ask: Ask) -> str | None:
    binding = ask.thinking.get("block_binding")
    drops = isinstance(binding, dict) and binding.get("prefix_mismatch_behavior") == "drop_block"
    if drops or not ask.model.binds_thinking:
        return None
    for path, signature, digest in list_prefixes(ask):
        if ask.handed.is_bound_elsewhere(signature, digest):
            return f"{path}: {_BOUND}"
    return None


@THINKING.rule(
    "thinking-expected",
    "conventions §6.5",
    "With manual thinking, a trajectory that waits for its results begins with thinking.",
)
def _expected(ask: Ask) -> str | None:
    begun = ask.messages[ask.trajectory : ask.trajectory + 1]
    if ask.thinking.get("type") != "enabled" or not begun or begun[0]["role"] != "assistant":
        return None
    first = [block["type"] for block in blocks_of(begun[0]["content"])][:1]
    if first and first[0] not in THINKING_TYPES and ask.messages[-1]["role"] == "user":
        return (
            f"messages.{ask.trajectory}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{first[0]}`. "
            "When `thinking` is enabled, a final `assistant` message must start with a thinking block "
            "(preceeding the lastmost set of `tool_use` and `tool_result` blocks)."
        )
    return None

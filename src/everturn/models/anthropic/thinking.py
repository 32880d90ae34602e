"""How hard a model is asked to think: what a request may say to this model, and what is wrong with an option. Pure."""

from typing import Any

from everturn.ports.model import USUAL_BUDGET, Effort, ModelCard, ThinkingConfig, ThinkingMode

MIN_BUDGET = 1_024
"""The API takes no smaller thinking budget."""
EFFORTS: tuple[Effort, ...] = ("low", "medium", "high", "xhigh", "max")
_EFFORT_WITHOUT_THINKING: Effort = "high"
"""Models that think by default can be kept from it only up to here."""


def plan_thinking(config: ThinkingConfig | None, card: ModelCard, max_tokens: int) -> dict[str, Any] | None:
    """The request's `thinking`, or None to leave it out. Without a `config`, a model that can think does.

    A fallback model may know other modes than the one that was configured for: the nearest that it knows is taken.
    """
    if config is None:
        if card.thinking_default_on:
            return None
        config = ThinkingConfig(mode=ThinkingMode.ADAPTIVE)
    if config.mode is ThinkingMode.DISABLED:
        return {"type": "disabled"} if card.thinking_default_on and config.mode in card.thinking else None
    mode = card.choose_thinking(config)
    if mode is None:
        return None
    plan: dict[str, Any] = {"type": mode.value}
    if mode is ThinkingMode.ENABLED:
        if max_tokens <= MIN_BUDGET:
            return None
        wanted = config.budget_tokens or min(USUAL_BUDGET, max_tokens // 2)
        plan["budget_tokens"] = max(MIN_BUDGET, min(wanted, max_tokens - 1))
    if config.display is not None:
        plan["display"] = config.display
    return plan


def plan_effort(effort: Effort | None, card: ModelCard, thinking: dict[str, Any] | None) -> Effort | None:
    """The nearest effort that the model takes, the lower one where two are as near; None where it takes none."""
    if effort is None or not card.efforts:
        return None
    wanted = EFFORTS.index(effort)
    if thinking is not None and thinking["type"] == "disabled":
        wanted = min(wanted, EFFORTS.index(_EFFORT_WITHOUT_THINKING))
    return min(card.efforts, key=lambda taken: (abs(EFFORTS.index(taken) - wanted), EFFORTS.index(taken)))


def check_thinking(config: ThinkingConfig | None, card: ModelCard, effort: Effort | None = None) -> str | None:
    """What is wrong with it as an option for this model, as words to show; None where it is fine."""
    if config is None or not card.known:
        return None
    if config.budget_tokens is not None and config.budget_tokens < MIN_BUDGET:
        return f"a thinking budget is at least {MIN_BUDGET} tokens, not {config.budget_tokens}"
    if config.mode is ThinkingMode.DISABLED:
        return _check_disabled(card, effort)
    if config.mode not in card.thinking:
        taken = " or ".join(mode.value for mode in card.thinking if mode is not ThinkingMode.DISABLED)
        return f"{card.id} does not take {config.mode.value} thinking; it takes {taken or 'none'}"
    if config.budget_tokens is not None and config.mode is not ThinkingMode.ENABLED:
        return "a thinking budget needs enabled thinking"
    return None


def check_effort(effort: Effort | None, card: ModelCard) -> str | None:
    """The same for the effort."""
    if effort is None or not card.known or effort in card.efforts:
        return None
    if not card.efforts:
        return f"{card.id} takes no effort"
    return f"{card.id} does not take the effort {effort}; it takes {', '.join(card.efforts)}"


def _check_disabled(card: ModelCard, effort: Effort | None) -> str | None:
    if not card.thinking_default_on:
        return None
    if ThinkingMode.DISABLED not in card.thinking:
        return f"{card.id} always thinks; lower the effort instead"
    if effort is not None and EFFORTS.index(effort) > EFFORTS.index(_EFFORT_WITHOUT_THINKING):
        return f"{card.id} can be kept from thinking only at effort {_EFFORT_WITHOUT_THINKING} or below"
    return None

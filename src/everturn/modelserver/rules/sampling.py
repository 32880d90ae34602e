"""Rules about temperature, top_p and top_k: which models still take them, and together with what."""

from everturn.modelserver.ask import Ask
from everturn.modelserver.rules.rule import REPORTS, BodyRules

SAMPLING = BodyRules()

_MIN_TOP_P = 0.95
"""The least that goes with thinking."""


@SAMPLING.rule("sampling-model", REPORTS, "From 4.7 on temperature, top_p and top_k keep their defaults.")
def _model(ask: Ask) -> str | None:
    if ask.model.sampling:
        return None
    defaults = {"temperature": (1,), "top_p": (0.99, 1), "top_k": ()}
    changed = [name for name, values in defaults.items() if name in ask.body and ask.body[name] not in values]
    return f"`{changed[0]}` is deprecated for this model." if changed else None


@SAMPLING.rule("sampling-one", REPORTS, "temperature and top_p are not both given.")
def _one(ask: Ask) -> str | None:
    if "temperature" in ask.body and "top_p" in ask.body:
        return "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
    return None


@SAMPLING.rule("sampling-thinking", REPORTS, "With thinking, temperature is 1, top_p at least 0.95, top_k not given.")
def _thinking(ask: Ask) -> str | None:
    if ask.thinking.get("type") not in {"enabled", "adaptive"}:
        return None
    if ask.body.get("temperature", 1) != 1:
        return "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode."
    if "top_k" in ask.body:
        return "`top_k` must be unset when thinking is enabled or in adaptive mode."
    if ask.body.get("top_p", 1) < _MIN_TOP_P:
        return f"`top_p` must be greater than or equal to {_MIN_TOP_P} or unset when thinking is enabled or in adaptive mode."
    return None

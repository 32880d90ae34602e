"""Rules about sizes: what may come out, what may go in."""

from everturn.modelserver.ask import Ask
from everturn.modelserver.prompt_cache import count_input
from everturn.modelserver.rules.rule import BodyRules

LIMITS = BodyRules()


@LIMITS.rule("max-tokens-limit", "conventions §6.2", "max_tokens is at most what the model can say.")
def _output(ask: Ask) -> str | None:
    wanted, limit = ask.body.get("max_tokens", 0), ask.model.max_output
    if wanted <= limit:
        return None
    return f"max_tokens: {wanted} > {limit}, which is the maximum allowed number of output tokens for {ask.model.id}"


@LIMITS.rule("window", "conventions §6.8", "The prompt fits into the model's window.")
def _window(ask: Ask) -> str | None:
    if ask.counting:
        return None
    tokens = count_input(ask)
    return f"prompt is too long: {tokens} tokens > {ask.window} maximum" if tokens > ask.window else None

"""What a person can do about what went wrong, where the error's own text does not say it."""

from everturn.core.errors import FaultKind
from everturn.core.events import Denial
from everturn.core.outcomes import Problem
from everturn.engine.gate import NOBODY

_WAY = "Check the network, a proxy (HTTPS_PROXY) and ANTHROPIC_BASE_URL; everturn doctor tries them."
_ADVICE: dict[str, str] = {FaultKind.CONNECTION: _WAY, FaultKind.TIMEOUT: _WAY}


def advise(problem: Problem) -> str:
    """Empty where there is nothing to add."""
    return _ADVICE.get(problem.kind, "")


def advise_denials(denials: tuple[Denial, ...]) -> str:
    """For calls that were denied only because nobody could be asked; a rule that says no needs no way round."""
    unasked = [denial for denial in denials if denial.reason.endswith(NOBODY)]
    rules = list(dict.fromkeys(rule for denial in unasked for rule in denial.rules))
    mode = next((denial.mode for denial in unasked if denial.mode), "")
    ways = [f"--allowed-tools {_quote(','.join(rules))}"] if rules else []
    ways += [f"--permission-mode {mode}"] if mode else []
    if ways:
        return f"To allow it from the start: {' '.join(ways)}"
    return "No rule allows this: it is asked about where you run everturn at a terminal" if unasked else ""


def _quote(text: str) -> str:
    """As a shell wants it; a bare name needs nothing."""
    if text.replace(",", "").replace("_", "").isalnum():
        return text
    return "'" + text.replace("'", "'\\''") + "'"

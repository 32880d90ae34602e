"""What a person can do about an error whose own text does not say it."""

from everturn.core.denials import Denial
from everturn.core.errors import FaultKind
from everturn.core.outcomes import Problem

AT_A_TERMINAL = "it is asked about where you run everturn at a terminal"
_WAY = "Check the network, a proxy (HTTPS_PROXY) and ANTHROPIC_BASE_URL; everturn doctor tries them."
_ADVICE: dict[str, str] = {FaultKind.CONNECTION: _WAY, FaultKind.TIMEOUT: _WAY, FaultKind.STALLED: _WAY}


def advise(problem: Problem) -> str:
    """Empty where there is nothing to add."""
    return _ADVICE.get(problem.kind, "")


def advise_denials(denials: tuple[Denial, ...], *, only_managed: bool = False) -> str:
    """For calls that were denied only because nobody was asked; a rule that says no needs no way round.

    `only_managed`: allow rules count from managed settings alone.
    """
    unasked = [denial for denial in denials if denial.rules or denial.mode or denial.unasked]
    if not unasked:
        return ""
    if only_managed:
        return f"Only managed settings may allow this from the start; {AT_A_TERMINAL}"
    rules = list(dict.fromkeys(rule for denial in unasked for rule in denial.rules))
    mode = next((denial.mode for denial in unasked if denial.mode), "")
    ways = [f"--allowed-tools {_quote(','.join(rules))}"] if rules else []
    ways += [f"--permission-mode {mode}"] if mode else []
    if ways:
        return f"To allow it from the start: {' '.join(ways)}"
    return f"There is no narrow rule to allow this from the start; {AT_A_TERMINAL}"


def _quote(text: str) -> str:
    """As a shell wants it; a bare name needs nothing."""
    if text.replace(",", "").replace("_", "").isalnum():
        return text
    return "'" + text.replace("'", "'\\''") + "'"

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
    names = dict.fromkeys(denial.tool_name for denial in denials if denial.reason.endswith(NOBODY))
    return f"To allow it from the start: --allowed-tools {','.join(names)}" if names else ""

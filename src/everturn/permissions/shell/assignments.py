"""Variables that a command may set for itself, and that rules look past."""

import re

from everturn.permissions.shell.syntax import Assignment

_SAFE_VARIABLES = frozenset({"NODE_ENV", "LANG", "LC_ALL", "NO_COLOR"})
"""No program takes code, a path or an option from them."""
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_.:,@%+-]*")


def is_safe_assignment(assignment: Assignment) -> bool:
    value = assignment.value.fixed
    return assignment.name in _SAFE_VARIABLES and value is not None and bool(_PLAIN_VALUE.fullmatch(value))

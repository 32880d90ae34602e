"""Everturn: an agentic coding loop to embed, to use and to run by the thousand."""

TYPE_CHECKING = False
"""As type checkers know it; importing typing would cost a program that only says its version more than all the rest."""

if TYPE_CHECKING:
    from typing import Any

    from everturn.compose.library import Engine as Engine
    from everturn.compose.library import query as query
    from everturn.settings.options import Options as Options
    from everturn.tools.define import tool as tool

__version__ = "0.1.0"
__all__ = ["Engine", "Options", "__version__", "query", "tool"]

_PLACES = {
    "Engine": "everturn.compose.library",
    "query": "everturn.compose.library",
    "Options": "everturn.settings.options",
    "tool": "everturn.tools.define",
}


def __getattr__(name: str) -> "Any":
    """Imported when first used: a program that only asks for the version pays for nothing else."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return value

"""A word to whoever lets everything run as root: nothing stands between a mistake and the whole machine."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from everturn.cli.options import BYPASS

MARKS = ("/.dockerenv", "/run/.containerenv")
"""Files that say that this is a container, which is what the mode is meant for."""
WARNING = (
    f"{BYPASS} as root, without a sandbox or a container: whatever the model does, it does to this whole machine. "
    "--sandbox keeps commands in the working folder"
)


def warn_root(mode: str, sandbox: Any, *, user: int | None = None, marks: Iterable[str] = MARKS) -> str:
    """Empty where there is no need. `sandbox` as `Options` has it; `user` is the present one where none is given."""
    is_held = sandbox.get("enabled") is True if isinstance(sandbox, Mapping) else bool(sandbox)
    if mode != BYPASS or is_held or (os.geteuid() if user is None else user) != 0:
        return ""
    return "" if any(Path(mark).exists() for mark in marks) else WARNING

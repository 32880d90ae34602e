"""Measures in a process of its own, so that the memory is that of one call: `python -m bench.alone MODULE FUNCTION WORD…`."""

import asyncio
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Coroutine
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.stage import ROOT, StageError

Figures = dict[str, float]
STATUS, SWITCH = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def run_alone(measure: Callable[..., Coroutine[Any, Any, Figures]], *words: str) -> Figures:
    """Raises `StageError` with the last thing that the process said."""
    command = [sys.executable, "-m", "bench.alone", measure.__module__, measure.__name__, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StageError(f"{measure.__module__}.{measure.__name__} failed: {done.stderr.strip()[-2_000:]}")
    figures: Figures = json.loads(done.stdout)
    return figures


def forget_peak() -> float:
    """Megabytes in use now; `peak_mb` tells the most since then (where there is no /proc, since the beginning)."""
    if not SWITCH.exists():
        return peak_mb()
    SWITCH.write_text("5")
    return read_status("VmRSS")


def peak_mb() -> float:
    if STATUS.exists():
        # Not what the process is charged with: that counts from its parent's size.
        return read_status("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024**2


def read_status(field: str) -> float:
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1_024


if __name__ == "__main__":
    print(json.dumps(asyncio.run(getattr(import_module(sys.argv[1]), sys.argv[2])(*sys.argv[3:]))))

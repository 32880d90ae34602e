"""Goldens on disk: written with EVERTURN_GOLDENS=1, else compared byte for byte."""

import os
import shutil
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path

import pytest

RECORDED = Path(__file__).parent / "recorded"
"""A folder for each scenario."""
RESUMED = Path(__file__).parent / "resumed"
"""A folder for each journal with an open end, gone on with."""
SURFACE = Path(__file__).parent / "surface"
"""What users of the library, settings files and readers of journals rely on."""
RECORDS = os.environ.get("EVERTURN_GOLDENS") == "1"
WIDTH = 300
"""Characters of a line that are shown around the first that differs."""


def settle(folder: Path, found: Mapping[str, bytes]) -> None:
    """Written, or compared with what was."""
    if RECORDS:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, content in found.items():
            (folder / name).write_bytes(content)
        return
    recorded = {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}
    assert sorted(found) == sorted(recorded), f"{folder.name} has other files than were recorded"
    for name, content in found.items():
        if content != recorded[name]:
            pytest.fail(f"{folder.name}/{name} differs, {describe_difference(recorded[name], content)}", pytrace=False)


def describe_difference(recorded: bytes, found: bytes) -> str:
    lines = zip_longest(recorded.splitlines(), found.splitlines())
    number, (was, is_) = next((place, pair) for place, pair in enumerate(lines, 1) if pair[0] != pair[1])
    if was is None or is_ is None:
        shown = f"was: {cut_line(was, 0)}\n is: {cut_line(is_, 0)}"
        return f"line {number}:\n{shown}"
    column = next((at for at, (a, b) in enumerate(zip(was, is_, strict=False)) if a != b), min(len(was), len(is_)))
    return f"line {number}, column {column + 1}:\nwas: {cut_line(was, column)}\n is: {cut_line(is_, column)}"


def cut_line(line: bytes | None, column: int) -> str:
    if line is None:
        return "(no line)"
    first = max(0, column - WIDTH // 2)
    before, after = "…" if first else "", "…" if len(line) > first + WIDTH else ""
    return f"{before}{line[first : first + WIDTH].decode(errors='replace')}{after}"

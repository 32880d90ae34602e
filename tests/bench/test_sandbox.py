"""What walls add to a command, far below what anybody would notice; `python -m bench.run --only sandbox` has the figures."""

import asyncio

import pytest
from bench.sandbox import measure_commands
from tests.pace import slowness

MAX_MS = 40.0
"""The figure is 8."""
KINDS = {
    "bubblewrap": "bubblewrap",
    "landlock": "Landlock",
    "held_landlock": "Landlock",
    "held_bubblewrap": "bubblewrap",
    "held_edits": "bubblewrap",
}


@pytest.mark.parametrize(
    "kind", [pytest.param(name, marks=pytest.mark.needs(need)) for name, need in KINDS.items()], ids=KINDS
)
def test_a_sandbox_costs_a_command_little(tmp_path, kind):
    took = asyncio.run(measure_commands(str(tmp_path), 12))

    assert min(took[kind]) - min(took["outside"]) < MAX_MS * slowness()

"""What a sandbox adds to a command, far below what anybody would notice; `python -m bench.run --only sandbox` has the figures."""

import asyncio

from bench.sandbox import measure_commands
from tests.pace import slowness

MOST_MS = 40.0
"""The figure is 8."""


def test_bubblewrap_costs_a_command_little(tmp_path):
    took = asyncio.run(measure_commands(str(tmp_path), 12))

    assert min(took["bubblewrap"]) - min(took["outside"]) < MOST_MS * slowness()

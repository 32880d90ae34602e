"""Removing what nobody means to remove: asked about in every mode, and gravely. Nothing here is run, and no path is there."""

import pytest
from tests.permissions.shell.worlds import judge

COMMANDS = [
    "rm -rf /no-such-folder",
    "rmdir /no-such-folder",
    "cd / && rm -r no-such-folder",
    "sudo rm -rf /no-such-folder",
    "true; rm -rf -- '/no-such-folder'",
]


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions"])
@pytest.mark.parametrize("command", COMMANDS)
def test_removing_a_critical_path_asks_in_every_mode_that_may_ask(command, mode):
    judgement = judge(command, {"allow": ["Bash", "Bash(rm *)", "Bash(rmdir *)", "Bash(sudo *)"]}, mode=mode)

    assert (str(judgement.ruling), judgement.grave) == ("ask", True)

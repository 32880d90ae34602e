"""What the machine can hold is found out only where it decides something."""

import pytest

from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules_in_force import Workplace
from everturn.ports.holding import NO_WALLS
from everturn.ports.policy import Call, Ruling
from everturn.ports.tool import Access, Traits


@pytest.mark.parametrize(("mode", "times"), [("bypassPermissions", 0), ("default", 1)])
def test_a_mode_that_lets_everything_run_asks_for_no_walls(tmp_path, mode, times):
    asked = []

    def find_walls():
        asked.append(mode)
        return NO_WALLS

    policy = RulePolicy(mode, Workplace(folder=str(tmp_path), trusted=True), walls=find_walls)
    call = Call(
        id="toolu_1", name="Bash", input={"command": "ls"}, traits=Traits(access=Access.EXECUTE), line="Bash(ls)"
    )

    assert policy.judge(call).ruling is Ruling.ALLOW
    assert len(asked) == times

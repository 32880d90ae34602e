"""The section on permissions."""

import pytest

from everturn.prompt.briefing import Briefing
from everturn.prompt.modes import ALONE, MAX_RULES, render_permissions

TOLD = f" The user's settings allow: Bash(make *), Bash(pytest *).{ALONE}"


@pytest.mark.parametrize(
    ("mode", "ending"),
    [("default", TOLD), ("acceptEdits", TOLD), ("dontAsk", TOLD), ("plan", ""), ("bypassPermissions", "")],
)
def test_rules_of_the_user_are_told_where_they_let_something_run(mode, ending):
    without, with_rules = (
        Briefing(person=False, tools=frozenset(), rules=rules) for rules in ((), ("Bash(make *)", "Bash(pytest *)"))
    )

    assert render_permissions(mode, with_rules) == render_permissions(mode, without) + ending


@pytest.mark.parametrize(
    ("rules", "told"),
    [(("Bash",), False), (("Edit(src/**)", "Read"), False), (("Bash(make)",), True), (("Bash(make *)", "Edit"), True)],
)
def test_what_stands_beside_an_allowed_command_is_told_where_a_rule_allows_some(rules, told):
    briefing = Briefing(person=True, tools=frozenset(), rules=rules)

    assert render_permissions("default", briefing).endswith(ALONE) is told


def test_of_many_rules_the_first_are_told():
    briefing = Briefing(person=True, tools=frozenset(), rules=tuple(f"Bash(program-{number})" for number in range(999)))

    told = render_permissions("default", briefing).partition("settings allow: ")[2]

    assert told.startswith("Bash(program-0), Bash(program-1), ")
    assert len(told) == MAX_RULES + len(f" ….{ALONE}")

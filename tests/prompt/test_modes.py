"""The section on permissions."""

import pytest

from everturn.prompt.briefing import Briefing
from everturn.prompt.modes import MOST_RULES, render_permissions

TOLD = " The user's settings allow: Bash(make *), Bash(pytest *)."


@pytest.mark.parametrize(
    ("mode", "ending"),
    [("default", TOLD), ("acceptEdits", TOLD), ("dontAsk", TOLD), ("plan", ""), ("bypassPermissions", "")],
)
def test_rules_of_the_user_are_told_where_they_let_something_run(mode, ending):
    without, with_rules = (
        Briefing(person=False, tools=frozenset(), rules=rules) for rules in ((), ("Bash(make *)", "Bash(pytest *)"))
    )

    assert render_permissions(mode, with_rules) == render_permissions(mode, without) + ending


def test_of_many_rules_the_first_are_told():
    briefing = Briefing(person=True, tools=frozenset(), rules=tuple(f"Bash(program-{number})" for number in range(999)))

    told = render_permissions("default", briefing).partition("settings allow: ")[2]

    assert told.startswith("Bash(program-0), Bash(program-1), ")
    assert len(told) == MOST_RULES + len(" ….")

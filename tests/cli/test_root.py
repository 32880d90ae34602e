"""Whoever lets everything run as root is told what that means, unless something holds it."""

import pytest

from everturn.cli.options import ROOT_WARNING, warn_root


@pytest.mark.parametrize(
    ("mode", "sandbox", "user", "is_told"),
    [
        ("bypassPermissions", None, 0, True),
        ("bypassPermissions", {"network": {}}, 0, True),
        ("bypassPermissions", {"enabled": True}, 0, False),
        ("bypassPermissions", True, 0, False),
        ("bypassPermissions", None, 1000, False),
        ("acceptEdits", None, 0, False),
    ],
)
def test_everything_as_root_is_warned_of_where_nothing_holds_it(mode, sandbox, user, is_told):
    assert warn_root(mode, sandbox, user=user, marks=()) == (ROOT_WARNING if is_told else "")


def test_a_container_is_what_the_mode_is_meant_for(tmp_path):
    mark = tmp_path / ".dockerenv"
    mark.touch()
    assert warn_root("bypassPermissions", None, user=0, marks=[str(mark)]) == ""

"""Public names of tools: as the API takes them, one for each, and the same at each start."""

import re

from hypothesis import given
from hypothesis import strategies as st

from everturn.mcp.names import MAX_LENGTH, name_all

ALLOWED = re.compile(r"[A-Za-z0-9_-]{1,128}")


def test_a_plain_name_stays_readable():
    assert name_all("git", ["status", "get-log"]) == {"status": "mcp__git__status", "get-log": "mcp__git__get-log"}


def test_a_long_name_is_cut_and_ends_with_a_digest_of_the_whole():
    first, second = name_all("s", ["a" * 200 + "1", "a" * 200 + "2"]).values()

    assert len(first) == len(second) == MAX_LENGTH
    assert first != second


def test_of_two_names_that_look_alike_the_exact_one_keeps_its_rule():
    names = name_all("s", ["a.b", "a_b", "a b"])

    assert names["a_b"] == "mcp__s__a_b"
    assert len(set(names.values())) == 3
    assert all(ALLOWED.fullmatch(name) for name in names.values())


@given(st.lists(st.text(max_size=140), max_size=8))
def test_whatever_a_server_calls_its_tools_the_names_are_legal_and_differ(names):
    named = name_all("server", names)

    assert len(set(named.values())) == len(set(names))
    assert all(ALLOWED.fullmatch(name) for name in named.values())
    assert named == name_all("server", names[::-1])

"""Which tools a search finds, and in which order."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.tools.tool_search import rank_tools


class Named(msgspec.Struct):
    name: str
    description: str = ""
    schema: dict = {}


TOOLS = [
    Named("mcp__tracker__createIssue", "Opens a ticket.", {"properties": {"assignee": {}}}),
    Named("mcp__tracker__close_issue", "Closes a ticket."),
    Named("mcp__mail__send", "Sends a message, also about issues."),
    Named("HTTPGet", "Fetches a page."),
]


def names(query, most=5):
    return [found.name for found in rank_tools(query, TOOLS, most)]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("create issue", ["mcp__tracker__createIssue", "mcp__tracker__close_issue", "mcp__mail__send"]),
        ("close issues", ["mcp__tracker__close_issue", "mcp__tracker__createIssue", "mcp__mail__send"]),
        ("+mail issue", ["mcp__mail__send"]),
        ("ticket", ["mcp__tracker__createIssue", "mcp__tracker__close_issue"]),
        ("assignee", ["mcp__tracker__createIssue"]),
        ("http", ["HTTPGet"]),
        ("fetch", ["HTTPGet"]),
        ("select:httpget, mcp__mail__send,nowhere", ["HTTPGet", "mcp__mail__send"]),
        ("SELECT:HTTPGet", ["HTTPGet"]),
        ("select:", []),
        ("telephone", []),
        ("+", []),
        ("of a", []),
    ],
)
def test_a_query_finds_these_in_this_order(query, found):
    assert names(query) == found


def test_no_more_are_found_than_wanted_but_what_is_named_comes_whole():
    assert names("tracker", most=1) == ["mcp__tracker__createIssue"]
    assert len(names("select:" + ",".join(tool.name for tool in TOOLS), most=1)) == 4


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=30), st.integers(1, 5))
def test_any_query_gives_at_most_so_many_each_once(query, most):
    found = names(query, most)

    assert len(set(found)) == len(found)
    assert len(found) <= most or query.strip().lower().startswith("select:")


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tools_own_name_finds_it_first(tool):
    assert names(tool.name)[0] == tool.name

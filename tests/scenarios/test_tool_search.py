"""Deferred tools: not listed until they are found, then appended; the change is told, and a resumed session knows it."""

import pytest
from tests.scenarios.test_stable_prefix import breaks, content

from everturn import tool
from everturn.core.notes import Notes
from everturn.core.state import Reason
from everturn.modelserver import call, text


@tool(deferred=True, reads_only=True)
def create_issue(title: str) -> str:
    """Creates an issue in the tracker."""
    return f"#1 {title}"


@tool(deferred=True, reads_only=True)
def close_issue(number: int) -> str:
    """Closes an issue in the tracker."""
    return f"closed #{number}"


@tool(reads_only=True)
def ping() -> str:
    """Answers."""
    return "pong"


OWN = {"tools": [create_issue, ping, close_issue], "allowed_tools": ["create_issue", "close_issue"]}


def listed(body):
    return [offered["name"] for offered in body["tools"]]


def results_of(bench, number):
    return [block["content"] for block in bench.sent[number][-1]["content"] if block["type"] == "tool_result"]


async def test_what_was_found_is_listed_after_all_others_and_runs(bench):
    bench.model(
        call("ToolSearch", {"query": "create issue", "max_results": 1}),
        call("create_issue", {"title": "It leaks"}),
        call("ToolSearch", {"query": "select:close_issue"}),
        text("Done."),
    )
    engine = bench.engine(**OWN)

    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    first, second, third, fourth = map(listed, bench.bodies)
    assert "create_issue" not in first
    assert first[-2:] == ["ToolSearch", "ping"]
    assert second == third == [*first, "create_issue"]
    assert fourth == [*first, "create_issue", "close_issue"]
    assert results_of(bench, 1) == [
        "Found, and listed from your next answer on:\ncreate_issue: Creates an issue in the tracker."
    ]
    assert results_of(bench, 2) == ["#1 It leaks"]
    assert engine.notes == Notes(found_tools=("create_issue", "close_issue"))


async def test_each_change_of_the_list_is_told_with_its_cause(bench):
    bench.model(
        call("ToolSearch", {"query": "select:create_issue"}),
        call("ToolSearch", {"query": "nothing fits"}),
        text("Done."),
    )
    engine = bench.engine(**OWN)

    run = await bench.go_on(engine)

    [change] = run.of("context")
    assert (change.stage, change.cause) == ("tools", "found create_issue")
    assert 0 < change.tokens_before < change.tokens_after
    assert breaks(bench.requests) == [1]
    assert [record["cause"] for record in bench.records(engine.session_id) if record["type"] == "context"] == [
        "found create_issue"
    ]


async def test_a_resumed_session_lists_what_was_found_and_keeps_its_prefix(bench):
    bench.model(
        call("ToolSearch", {"query": "issue"}), text("Found."), call("close_issue", {"number": 7}), text("Done.")
    )
    first = bench.engine(**OWN)
    await bench.go_on(first)
    await first.aclose()

    await bench.go_on(bench.engine(resume=first.session_id, **OWN))

    before, after = bench.requests[1:3]
    assert listed(before.body)[-2:] == ["create_issue", "close_issue"]
    assert content(after).startswith(content(before))
    assert results_of(bench, 3) == ["closed #7"]


async def test_a_found_tool_that_is_gone_at_the_resume_is_passed_over(bench):
    bench.model(call("ToolSearch", {"query": "issue"}), text("Found."), text("Gone."))
    first = bench.engine(**OWN)
    await bench.go_on(first)
    await first.aclose()

    run = await bench.go_on(bench.engine(resume=first.session_id, tools=[ping]))

    assert run.reason is Reason.COMPLETED
    assert not {"ToolSearch", "create_issue"} & {*listed(bench.bodies[2])}


async def test_a_call_of_a_tool_that_was_not_found_yet_says_how_to_find_it(bench):
    bench.model(call("create_issue", {"title": "x"}), text("Oh."))

    await bench.run(**OWN)

    assert "call ToolSearch with the query `select:create_issue` first" in results_of(bench, 1)[0]


@pytest.mark.parametrize("options", [{"builtin_tools": False}, {"disallowed_tools": ["ToolSearch"]}])
async def test_where_nothing_can_be_searched_for_everything_is_listed(bench, options):
    bench.model(text("Done."))

    await bench.run(**OWN, **options)

    assert listed(bench.bodies[0])[-3:] == ["create_issue", "ping", "close_issue"]


async def test_without_deferred_tools_there_is_no_search(bench):
    bench.model(text("Done."))

    await bench.run(tools=[ping])

    assert "ToolSearch" not in listed(bench.bodies[0])


async def test_what_an_interrupted_query_found_is_listed_in_the_next(bench):
    bench.model(call("ToolSearch", {"query": "select:create_issue"}), text("Cut."), text("Done."))
    engine = bench.engine(**OWN)

    def interrupt(event):
        if event.__struct_config__.tag == "context":
            engine.abort()

    await bench.go_on(engine, on_event=interrupt)
    await bench.go_on(engine)

    assert listed(bench.bodies[-1])[-1] == "create_issue"

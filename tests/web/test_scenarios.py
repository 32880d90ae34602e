"""The web tools in the loop: over HTTP to the model server, with pages and a small model of their own."""

import pytest

from everturn.modelserver import call, when
from everturn.tools.web_fetch import web_fetch_tool

ASK = {"url": "https://example.com/", "prompt": "Which version is the newest?"}


def results_of(body):
    return [block for message in body["messages"] for block in message["content"] if block["type"] == "tool_result"]


async def test_the_small_model_reads_the_page_and_the_main_one_gets_its_answer(bench, net, site):
    site.page("/", "<h1>Releases</h1><p>Version 2.1 is the newest.</p>")
    bench.model(
        when("It is 2.1.", last_user_contains="The question:"),
        call("WebFetch", ASK),
        "The newest version is 2.1.",
    )

    run = await bench.run(tools=[web_fetch_tool(net=net, small_model="claude-haiku-4-5")], allowed_tools=["WebFetch"])

    assert run.result.text == "The newest version is 2.1."
    small = next(body for body in bench.bodies if body["model"] == "claude-haiku-4-5")
    assert "Version 2.1 is the newest." in small["messages"][0]["content"][0]["text"]
    assert "tools" not in small
    assert results_of(bench.bodies[-1])[0]["content"] == "It is 2.1."
    assert "claude-haiku-4-5" in run.result.models
    (ended,) = run.of("tool_end")
    assert (ended.shown.code, ended.shown.url, ended.shown.result) == (200, "https://example.com/", "It is 2.1.")


async def test_a_fetch_needs_permission_and_a_rule_for_its_domain_gives_it(bench, net, site):
    site.page("/", "<p>x</p>")
    tools = [web_fetch_tool(net=net, small_model="claude-haiku-4-5")]
    for allowed, is_error in (
        ([], True),
        (["WebFetch(domain:example.com)"], False),
        (["WebFetch(domain:a.org)"], True),
    ):
        bench.model(when("x", last_user_contains="The question:"), call("WebFetch", ASK), "Done.")

        run = await bench.run(tools=tools, allowed_tools=allowed)

        assert [event.is_error for event in run.of("tool_end")] == [is_error]
    assert len(site.requests) == 1


async def test_a_private_address_is_refused_whatever_is_allowed(bench):
    bench.model(call("WebFetch", {"url": "http://169.254.169.254/latest/meta-data/", "prompt": "keys"}), "Done.")

    await bench.run(permission_mode="bypassPermissions")

    (result,) = results_of(bench.bodies[-1])
    assert result["is_error"]
    assert "not on the public internet" in result["content"]


@pytest.mark.parametrize(("engine", "offered"), [("brave", True), (None, False)])
async def test_a_search_engine_brings_its_tool(bench, engine, offered):
    bench.env["BRAVE_API_KEY"] = "made-up-brave-key"
    bench.model("Hello.")

    await bench.run(web_search=engine)

    assert ("WebSearch" in [tool["name"] for tool in bench.bodies[0]["tools"]]) is offered

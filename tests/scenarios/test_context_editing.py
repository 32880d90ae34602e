"""Where the API clears stale results itself, it is asked to, ours are left alone, and its own count is shown."""

from everturn.modelserver import call, say, text

EDITING = [{"id": "claude-sonnet-5", "window": 20_000, "max_output": 2_000, "clears_results": True}]
LIMITS = {"clear_share": 0.5, "clear_gain": 0.1, "clear_keeps": 2}


def clearing(tokens, *parts):
    applied = [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 3, "cleared_input_tokens": tokens}]
    return say(*parts, extra={"context_management": {"applied_edits": applied}})


async def test_it_is_asked_for_and_its_count_is_told_once(bench):
    (bench.folder / "a.txt").write_text("A long line of text to be read.\n" * 300)
    look = call("Read", {"file_path": str(bench.folder / "a.txt"), "limit": 299})
    bench.model(look, look, look, look, clearing(9_000, look), clearing(9_000, "Done."))

    run = await bench.run(models=EDITING, limits=LIMITS, auto_compact=False, builtin_tools=["Read", "Bash", "Edit"])

    assert {str(body["context_management"]) for body in bench.bodies} == {
        str(
            {
                "edits": [
                    {
                        "type": "clear_tool_uses_20250919",
                        "trigger": {"type": "input_tokens", "value": 9_000},
                        "keep": {"type": "tool_uses", "value": 2},
                        "clear_at_least": {"type": "input_tokens", "value": 1_800},
                        "exclude_tools": ["Bash", "Edit"],
                    }
                ]
            }
        )
    }
    assert all("context-management-2025-06-27" in request.headers["anthropic-beta"] for request in bench.requests)
    [change] = run.of("context")
    assert (change.stage, change.cause, change.tokens_before - change.tokens_after) == ("microcompact", "by_api", 9_000)
    assert bench.sent[-1][: len(bench.sent[-2])] == bench.sent[-2]


async def test_a_model_without_it_is_not_asked(bench):
    bench.model(text("Done."))
    await bench.run()
    assert "context_management" not in bench.bodies[0]

"""Examples for the rules about tools, calls and results."""

from tests.modelserver.rule_examples.example import (
    Example,
    Json,
    Pair,
    ask,
    assistant,
    result,
    tool,
    used,
    user,
    with_tools,
    words,
)

_UNION = {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}


def _round(*calls: Json, results: list[Json] | None = None) -> Example:
    """A prompt, calls, and what the user answered to them."""
    answers = [result(call["id"]) for call in calls] if results is None else results
    return with_tools(user(), assistant(list(calls)), user(answers))


_ROUND = _round(used())

PAIRS: dict[str, Pair] = {
    "tool-shape": (with_tools(), with_tools(tools=[{"name": "Read"}])),
    "tool-name-pattern": (
        with_tools(tools=[tool("mcp__files__read-all" + "l" * 108)]),
        with_tools(tools=[tool("read file")]),
    ),
    "tool-names-unique": (
        with_tools(tools=[tool("Read"), *({"type": "mcp_toolset", "mcp_server_name": name} for name in ("a", "b"))]),
        with_tools(tools=[tool("Read"), tool("Read")]),
    ),
    "tool-schema-object": (with_tools(), with_tools(tools=[tool(input_schema={"type": "string"})])),
    "tool-schema-root": (
        with_tools(tools=[tool(input_schema={"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}]}}})]),
        with_tools(tools=[tool(input_schema=_UNION)]),
    ),
    "tools-not-all-deferred": (
        with_tools(tools=[tool("Read"), tool("Write", defer_loading=True)]),
        with_tools(tools=[tool("Read", defer_loading=True)]),
    ),
    "tools-for-history": (_ROUND, ask(user(), assistant([used()]), user([result()]))),
    "tool-choice-shape": (
        with_tools(tool_choice={"type": "auto", "disable_parallel_tool_use": True}),
        with_tools(tool_choice={"type": "tool"}),
    ),
    "tool-choice-needs-tools": (with_tools(tool_choice={"type": "any"}), ask(tool_choice={"type": "any"})),
    "tool-choice-known": (
        with_tools(tool_choice={"type": "tool", "name": "Read"}),
        with_tools(tool_choice={"type": "tool", "name": "Write"}),
    ),
    "call-id-pattern": (_ROUND, _round(used("call 1"))),
    "call-name-pattern": (_round(used(name="N" * 128)), _round(used(name="N" * 129))),
    "call-input-object": (_round(used(value={"file_path": "a"})), _round(used(value="a"))),
    "call-ids-unique": (_round(used("toolu_1"), used("toolu_2")), _round(used("toolu_1"), used("toolu_1"))),
    "calls-answered": (
        _round(used(), results=[result(), words("And now?")]),
        _round(used(), results=[words("And now?"), result()]),
    ),
    "result-known": (_ROUND, _round(used(), results=[result(), result("toolu_2")])),
    "result-single": (_ROUND, _round(used(), results=[result(), result()])),
}

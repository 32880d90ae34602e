"""Rules about tools: their definitions, the choice among them, calls and their results."""

import re
from typing import Any

from everturn.modelserver.ask import Ask, blocks_of
from everturn.modelserver.rules.rule import REFERENCE, REPORTS, BodyRules

TOOLS = BodyRules()

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_CHOICES = ("auto", "any", "tool", "none")
_UNIONS = ("oneOf", "allOf", "anyOf")


def _custom(ask: Ask) -> list[tuple[int, Any]]:
    """The client's own tools; those of the API have a dated type and their own fields."""
    return [(at, tool) for at, tool in enumerate(ask.tools) if tool.get("type") in (None, "custom")]


@TOOLS.rule("tool-shape", "conventions §6.7", "A tool has a name and an input schema.")
def _shape(ask: Ask) -> str | None:
    for at, tool in enumerate(ask.body.get("tools", [])):
        if not isinstance(tool, dict):
            return f"tools.{at}: Input should be a valid dictionary"
    for at, tool in _custom(ask):
        for field, kind in (("name", str), ("input_schema", dict)):
            if not isinstance(tool.get(field), kind):
                return f"tools.{at}.custom.{field}: Field required"
    return None


@TOOLS.rule("tool-name-pattern", REPORTS, "A tool's name matches ^[a-zA-Z0-9_-]{1,128}$.")
def _name(ask: Ask) -> str | None:
    for at, tool in _custom(ask):
        if not _NAME.fullmatch(tool["name"]):
            return f"tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
    return None


@TOOLS.rule("tool-names-unique", REPORTS, "No two tools have the same name.")
def _unique(ask: Ask) -> str | None:
    # A toolset has no name of its own.
    names = [str(tool["name"]) for tool in ask.tools if "name" in tool]
    return None if len(set(names)) == len(names) else "tools: Tool names must be unique."


@TOOLS.rule("tool-schema-object", "conventions §6.7", "The root of an input schema is of type object.")
def _schema(ask: Ask) -> str | None:
    for at, tool in _custom(ask):
        if tool["input_schema"].get("type") != "object":
            return f"tools.{at}.custom.input_schema.type: Input should be 'object'"
    return None


@TOOLS.rule("tool-schema-root", "conventions §6.7", "The root of an input schema is no union.")
def _root(ask: Ask) -> str | None:
    for at, tool in _custom(ask):
        if any(union in tool["input_schema"] for union in _UNIONS):
            return (
                f"tools.{at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
            )
    return None


@TOOLS.rule("tools-not-all-deferred", "conventions §6.7", "At least one tool is loaded from the start.")
def _deferred(ask: Ask) -> str | None:
    if ask.tools and all(tool.get("defer_loading") is True for tool in ask.tools):
        return "tools: At least one tool must have `defer_loading` set to false"
    return None


@TOOLS.rule("tools-for-history", REPORTS, "A conversation with calls comes with tools.")
def _history(ask: Ask) -> str | None:
    if not ask.tools and any(ask.of_type("tool_use", "tool_result")):
        return "Requests which include `tool_use` or `tool_result` blocks must define tools"
    return None


@TOOLS.rule("tool-choice-shape", "conventions §6.7", "tool_choice is auto, any, tool (with a name) or none.")
def _choice(ask: Ask) -> str | None:
    choice = ask.body.get("tool_choice")
    if choice is None:
        return None
    if choice.get("type") not in _CHOICES:
        return "tool_choice: Input tag found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'"
    if choice["type"] == "tool" and not isinstance(choice.get("name"), str):
        return "tool_choice.tool.name: Field required"
    strange = set(choice) - {"type", "name", "disable_parallel_tool_use"}
    return f"tool_choice.{choice['type']}.{min(strange)}: Extra inputs are not permitted" if strange else None


@TOOLS.rule("tool-choice-needs-tools", REPORTS, "Forcing a call needs tools.")
def _choice_tools(ask: Ask) -> str | None:
    choice = ask.body.get("tool_choice", {}).get("type")
    if choice == "any" and not ask.tools:
        return "tool_choice.any may only be specified while providing tools"
    return None


@TOOLS.rule("tool-choice-known", REPORTS, "The tool that tool_choice names is among the tools.")
def _choice_known(ask: Ask) -> str | None:
    choice = ask.body.get("tool_choice", {})
    if choice.get("type") == "tool" and choice["name"] not in [tool.get("name") for tool in ask.tools]:
        return f"Tool '{choice['name']}' not found in provided tools"
    return None


@TOOLS.rule("call-id-pattern", REPORTS, "A call's id matches ^[a-zA-Z0-9_-]+$.")
def _call_id(ask: Ask) -> str | None:
    for placed in ask.of_type("tool_use"):
        if not _CALL_ID.fullmatch(placed.block["id"]):
            return f"{placed.path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    return None


@TOOLS.rule("call-name-pattern", REPORTS, "The name in a call matches ^[a-zA-Z0-9_-]{1,128}$.")
def _call_name(ask: Ask) -> str | None:
    for placed in ask.of_type("tool_use"):
        if not _NAME.fullmatch(placed.block["name"]):
            return f"{placed.path}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
    return None


@TOOLS.rule("call-input-object", REFERENCE, "The input of a call is an object.")
def _call_input(ask: Ask) -> str | None:
    for placed in ask.of_type("tool_use"):
        if not isinstance(placed.block["input"], dict):
            return f"{placed.path}.tool_use.input: Input should be a valid dictionary"
    return None


@TOOLS.rule("call-ids-unique", REPORTS, "No two calls of the conversation have the same id.")
def _call_ids(ask: Ask) -> str | None:
    seen = set()
    for placed in ask.of_type("tool_use"):
        if placed.block["id"] in seen:
            return f"{placed.path}: `tool_use` ids must be unique"
        seen.add(placed.block["id"])
    return None


def _calls(message: Any) -> list[str]:
    return [block["id"] for block in blocks_of(message["content"]) if block["type"] == "tool_use"]


def _leading_results(message: Any) -> list[str]:
    """The ids of the results with which the message begins."""
    found = []
    for block in blocks_of(message["content"]):
        if block["type"] != "tool_result":
            break
        found.append(block["tool_use_id"])
    return found


@TOOLS.rule(
    "calls-answered", "conventions §6.7", "The very next message is the user's and begins with a result for every call."
)
def _answered(ask: Ask) -> str | None:
    for at, message in enumerate(ask.messages):
        following = ask.messages[at + 1 : at + 2]
        answered = _leading_results(following[0]) if following and following[0]["role"] == "user" else []
        missing = [identity for identity in _calls(message) if identity not in answered]
        if missing:
            return (
                f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(missing)}. "
                "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
            )
    return None


@TOOLS.rule("result-known", "conventions §6.7", "A result answers a call of the message before.")
def _known(ask: Ask) -> str | None:
    for placed in ask.of_type("tool_result"):
        identity = placed.block["tool_use_id"]
        if placed.message == 0 or identity not in _calls(ask.messages[placed.message - 1]):
            return (
                f"{placed.path}: unexpected `tool_use_id` found in `tool_result` blocks: {identity}. "
                "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
    return None


@TOOLS.rule("result-single", "conventions §6.7", "A call has one result.")
def _single(ask: Ask) -> str | None:
    seen = set()
    for placed in ask.of_type("tool_result"):
        key = (placed.message, placed.block["tool_use_id"])
        if key in seen:
            return f"{placed.path}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {key[1]}"
        seen.add(key)
    return None

"""Rules about messages and their blocks: roles, types, fields."""

from typing import Any

from everturn.modelserver.ask import THINKING_TYPES, Ask
from everturn.modelserver.rules.rule import REFERENCE, BodyRules

MESSAGES = BodyRules()

_ROLES = ("user", "assistant", "system")
SERVER_RESULTS = (
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "advisor_tool_result",
)
_USER = ("image", "document", "search_result", "container_upload", "tool_result")
_ASSISTANT = (
    *THINKING_TYPES,
    "tool_use",
    "server_tool_use",
    "mcp_tool_use",
    "mcp_tool_result",
    "compaction",
    *SERVER_RESULTS,
)
_SYSTEM = ("tool_addition", "tool_removal")
_OTHER = ("mcp_tool_listing", "fallback", "browser_state")
_RESULT = ("text", "image", "document", "search_result", "tool_reference", "browser_state")
_MESSAGE = {"role", "content"}
_SYSTEM_MESSAGE = {*_MESSAGE, "clear_at", "output_config"}
_KNOWN = ("text", *_USER, *_ASSISTANT, *_SYSTEM, *_OTHER)

_REQUIRED = {
    "text": ("text",),
    "thinking": ("thinking",),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name", "input"),
    "tool_result": ("tool_use_id",),
    "image": ("source",),
    "document": ("source",),
}
_OPTIONAL = {
    "text": ("citations",),
    "thinking": ("signature",),
    "redacted_thinking": (),
    "tool_use": ("caller", "toolset_name"),
    "tool_result": ("content", "is_error", "toolset_name"),
    "image": ("transformations",),
    "document": ("citations", "context", "title"),
}


@MESSAGES.rule("messages-not-empty", REFERENCE, "There is at least one message.")
def _some(ask: Ask) -> str | None:
    return None if ask.body["messages"] else "messages: at least one message is required"


@MESSAGES.rule("message-shape", REFERENCE, "A message has a role and a content (text or blocks), and nothing else.")
def _shape(ask: Ask) -> str | None:
    for at, message in enumerate(ask.body["messages"]):
        where = f"messages.{at}"
        if not isinstance(message, dict):
            return f"{where}: Input should be a valid dictionary"
        for field in ("role", "content"):
            if field not in message:
                return f"{where}.{field}: Field required"
        strange = set(message) - (_SYSTEM_MESSAGE if message["role"] == "system" else _MESSAGE)
        if strange:
            return f"{where}.{min(strange)}: Extra inputs are not permitted"
        content = message["content"]
        if not isinstance(content, str | list) or (
            isinstance(content, list) and not all(isinstance(block, dict) for block in content)
        ):
            return f"{where}.content: Input should be a valid string or a list of blocks"
    return None


@MESSAGES.rule("roles-known", REFERENCE, "A role is user or assistant (or system, see below).")
def _roles(ask: Ask) -> str | None:
    for at, message in enumerate(ask.messages):
        if message["role"] not in _ROLES:
            return f"messages.{at}.role: Input should be 'user' or 'assistant'"
    return None


@MESSAGES.rule("first-message-user", REFERENCE, "The first message is the user's.")
def _first(ask: Ask) -> str | None:
    return None if ask.messages[0]["role"] == "user" else 'messages: first message must use the "user" role'


@MESSAGES.rule(
    "system-message-place",
    "conventions §6.3",
    "A system message comes after a user message, and only on models that take one.",
)
def _system(ask: Ask) -> str | None:
    for at, message in enumerate(ask.messages):
        if message["role"] == "system":
            if not ask.model.system_messages:
                return f"messages.{at}.role: role 'system' is not supported on this model; use the top-level `system` parameter"
            if ask.messages[at - 1]["role"] != "user":
                return f"messages.{at}: a `system` message must follow a `user` message"
    return None


@MESSAGES.rule("block-types-known", REFERENCE, "A block has a type that the API knows.")
def _types(ask: Ask) -> str | None:
    for placed in ask.blocks:
        kind = placed.block.get("type")
        if kind is None:
            return f"{placed.path}.type: Field required"
        if kind not in _KNOWN:
            return f"{placed.path}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
    return None


@MESSAGES.rule(
    "result-content",
    REFERENCE,
    "A tool result holds text, pictures, documents, search results, tool references or the state of a browser.",
)
def _result(ask: Ask) -> str | None:
    for placed in ask.of_type("tool_result"):
        content = placed.block.get("content", "")
        for at, block in enumerate(content if isinstance(content, list) else []):
            kind = block.get("type") if isinstance(block, dict) else None
            if kind not in _RESULT:
                return f"{placed.path}.tool_result.content.{at}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
    return None


@MESSAGES.rule("block-fields", REFERENCE, "A block has its fields and no others.")
def _fields(ask: Ask) -> str | None:
    for placed in ask.blocks:
        kind = placed.block["type"]
        if kind in _REQUIRED:
            for field in _REQUIRED[kind]:
                if field not in placed.block:
                    return f"{placed.path}.{kind}.{field}: Field required"
            strange = set(placed.block) - {"type", "cache_control", *_REQUIRED[kind], *_OPTIONAL[kind]}
            if strange:
                return f"{placed.path}.{kind}.{min(strange)}: Extra inputs are not permitted"
        wrong = _wrong_type(placed.block)
        if wrong:
            return f"{placed.path}.{kind}.{wrong}"
    return None


def _wrong_type(block: Any) -> str | None:
    for field in ("text", "thinking", "data", "id", "name", "tool_use_id"):
        if field in block and not isinstance(block[field], str):
            return f"{field}: Input should be a valid string"
    if block["type"] == "tool_result" and not isinstance(block.get("content", ""), str | list):
        return "content: Input should be a valid string or a list of blocks"
    return None


@MESSAGES.rule(
    "blocks-fit-role",
    REFERENCE,
    "Results and media are the user's, thinking and calls the assistant's, a system message is text.",
)
def _fit(ask: Ask) -> str | None:
    forbidden = {"user": (*_ASSISTANT, *_SYSTEM), "assistant": (*_USER, *_SYSTEM), "system": (*_USER, *_ASSISTANT)}
    for placed in ask.blocks:
        kind = placed.block["type"]
        if kind in forbidden[placed.role]:
            return f"{placed.path}: `{kind}` blocks are not permitted in `{placed.role}` messages"
    return None

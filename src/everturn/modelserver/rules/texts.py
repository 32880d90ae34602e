"""Rules about what messages say: no empty message, no blank text, no words put into the assistant's mouth."""

from collections.abc import Iterable, Iterator

from everturn.modelserver.ask import Ask, PlacedBlock, blocks_of
from everturn.modelserver.rules.messages import SERVER_RESULTS
from everturn.modelserver.rules.rule import REPORTS, BodyRules

TEXTS = BodyRules()
PREFILL = BodyRules()

_EMPTY = "all messages must have non-empty content except for the optional final assistant message"


@TEXTS.rule("content-not-empty", REPORTS, "No message is empty, but a last one of the assistant.")
def _content(ask: Ask) -> str | None:
    last = len(ask.messages) - 1
    for at, message in enumerate(ask.messages):
        if not message["content"] and not (at == last and message["role"] == "assistant"):
            return f"messages.{at}: {_EMPTY}"
    return None


def _texts(ask: Ask, placed: Iterable[PlacedBlock]) -> Iterator[tuple[str, str]]:
    if not isinstance(ask.body.get("system"), str):
        yield from (("system", block["text"]) for block in ask.system)
    yield from (("messages", each.block.get("text", "")) for each in placed if each.block["type"] == "text")


@TEXTS.rule("text-not-empty", REPORTS, "No text block is empty, also in a tool result.")
def _text(ask: Ask) -> str | None:
    empty = [where for where, text in _texts(ask, ask.nested_blocks) if not text]
    return f"{empty[0]}: text content blocks must be non-empty" if empty else None


@TEXTS.rule("text-not-blank", REPORTS, "No text block of a message or of the system prompt is white space alone.")
def _blank(ask: Ask) -> str | None:
    blank = [where for where, text in _texts(ask, ask.blocks) if not text.strip()]
    return f"{blank[0]}: text content blocks must contain non-whitespace text" if blank else None


@PREFILL.rule(
    "prefill-refused",
    "conventions §6.7",
    "From 4.6 on the last message is not the assistant's, unless it paused in a server tool.",
)
def _prefill(ask: Ask) -> str | None:
    last = ask.messages[-1]
    if last["role"] != "assistant" or ask.model.prefill:
        return None
    # A paused turn goes back as it is: it ends in a server's call, or in the result that the server put there itself.
    ending = [block["type"] for block in blocks_of(last["content"])][-1:]
    if ending and ending[0] in {"server_tool_use", "mcp_tool_use", "mcp_tool_result", *SERVER_RESULTS}:
        return None
    return "This model does not support assistant message prefill. The conversation must end with a user message."


@PREFILL.rule("prefill-trimmed", REPORTS, "A prefill does not end in white space.")
def _trimmed(ask: Ask) -> str | None:
    last = ask.messages[-1]
    texts = [block.get("text", "") for block in blocks_of(last["content"])][-1:]
    if last["role"] == "assistant" and texts and texts[0] != texts[0].rstrip():
        return "messages: final assistant content cannot end with trailing whitespace"
    return None

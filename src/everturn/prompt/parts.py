"""The parts of what the model reads before a conversation, for `everturn prompt`."""

from collections.abc import Iterable, Mapping

import msgspec

from everturn.core.contexts import Contexts
from everturn.core.tokens import estimate_written
from everturn.prompt.briefing import Briefing
from everturn.prompt.sections import render_sections

SYSTEM, ENVIRONMENT, CONTEXT, TOOLS = "system prompt", "environment", "context", "tools"
OWN, APPENDED = "given with --system-prompt", "given with --append-system-prompt"


class PromptPart(msgspec.Struct, frozen=True, kw_only=True):
    place: str
    name: str
    text: str
    tokens: int
    """An estimate: four bytes to a token."""


def list_parts(
    contexts: Contexts,
    tools: Mapping[str, bytes],
    briefing: Briefing,
    *,
    own_prompt: str | None = None,
    appended: str | None = None,
) -> tuple[PromptPart, ...]:
    """In the order in which people read them. `tools`: the JSON that is sent, by name."""
    sections = render_sections(briefing, contexts.permissions) if own_prompt is None else {OWN: own_prompt}
    system = {**sections, APPENDED: appended or ""}
    return (
        *(_make(SYSTEM, name, text, heading=own_prompt is None) for name, text in system.items() if text),
        *(_make(ENVIRONMENT, name, text) for name, text in contexts.system.items()),
        *(_make(CONTEXT, name, text, heading=True) for name, text in contexts.user.items()),
        *(_measure(TOOLS, name, encoded.decode(), len(encoded)) for name, encoded in tools.items()),
    )


def count_tokens(parts: Iterable[PromptPart]) -> int:
    return sum(part.tokens for part in parts)


def _make(place: str, name: str, text: str, *, heading: bool = False) -> PromptPart:
    """With what stands around it: a heading, or the name and a colon."""
    whole = f"# {name}\n{text}\n\n" if heading else f"{name}: {text}\n"
    return _measure(place, name, text, len(whole.encode(errors="replace")))


def _measure(place: str, name: str, text: str, size: int) -> PromptPart:
    return PromptPart(place=place, name=name, text=text, tokens=estimate_written(size))

"""What fills the window: the tokens of each kind of content, the room kept for the answer, and what is left."""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from everturn.core.contexts import USER_ENTRY, find_change, find_head, name_entry
from everturn.core.messages import (
    UNSENT,
    Block,
    Kind,
    Message,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from everturn.core.money import share_out
from everturn.core.refused_media import count_refused, find_refused
from everturn.core.tokens import MEDIA_TOKENS

MCP_PREFIX = "mcp__"
"""Names of tools that a server brought: `mcp__server__tool`."""


class Category(StrEnum):
    """What the window is used for, in the order of a request; then free space and reserve."""

    SYSTEM = "system prompt"
    TOOLS = "tools"
    MCP_TOOLS = "MCP tools"
    MEMORY = "memory files"
    SKILLS = "skills"
    CONTEXT = "other context"
    SUMMARIES = "summaries"
    USER_TEXT = "user text"
    ASSISTANT_TEXT = "assistant text"
    THINKING = "thinking"
    CALLS = "tool calls"
    RESULTS = "tool results"
    MEDIA = "media"
    NOTES = "notes to the model"
    FREE = "free space"
    RESERVE = "reserve"


CONTEXT_CATEGORIES = {"memory": Category.MEMORY, "skills": Category.SKILLS}
"""Category of an entry of the user's context, by its key; any other entry is other context."""
_CHANGED_CATEGORIES = {name_entry(USER_ENTRY, key): category for key, category in CONTEXT_CATEGORIES.items()}


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a request before the messages, such as a tool or a memory file."""

    category: Category
    name: str
    tokens: int


class LastCompaction(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    count: int
    """Compactions of the session so far."""
    turns_since: int
    """Rounds of tools since then."""


class WindowUse(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    window: int
    total: int
    """Tokens of the next request, as far as they are known."""
    is_counted: bool
    """The API counted it, except what came after its last answer. Otherwise all of it is an estimate."""
    shares: tuple[tuple[Category, int], ...]
    """Those that take anything, in the order of the categories; they add up to the window, or to more if it is too small."""
    items: tuple[Item, ...] = ()
    compaction: "LastCompaction | None" = None
    """None where there was none."""

    @property
    def percentage(self) -> float:
        return 100 * self.total / self.window if self.window else 0.0

    @property
    def over(self) -> int:
        """Tokens beyond the window."""
        return max(0, self.total - self.window)


def fold_window(
    items: Sequence[Item],
    messages: Iterable[Message],
    *,
    model: str,
    window: int,
    reserve: int,
    total: int | None = None,
) -> WindowUse:
    """`total` is what the API counted, where it did: the estimates are then scaled so that they add up to it."""
    said = measure_messages(tuple(messages))
    tokens = [*(item.tokens for item in items), *(said[category] for category in Category)]
    used = sum(tokens) if total is None else total
    if total is not None and any(tokens):
        tokens = share_out(total, tokens)
    items = [msgspec.structs.replace(item, tokens=share) for item, share in zip(items, tokens, strict=False)]
    taken = Counter(dict(zip(Category, tokens[len(items) :], strict=True)))
    for item in items:
        taken[item.category] += item.tokens
    kept_free = min(reserve, max(0, window - used))
    taken[Category.RESERVE], taken[Category.FREE] = kept_free, max(0, window - used - kept_free)
    return WindowUse(
        model=model,
        window=window,
        total=used,
        is_counted=total is not None,
        shares=tuple((category, taken[category]) for category in Category if taken[category]),
        items=tuple(items),
    )


def measure_messages(messages: Sequence[Message]) -> Counter[Category]:
    """Estimates, block by block. What is not sent takes nothing; refused media is sent as a short note."""
    refused = find_refused(messages)
    taken: Counter[Category] = Counter()
    for message in messages:
        if message.kind in UNSENT:
            continue
        for at, block in enumerate(message.blocks):
            unsent = count_refused(message, refused, at)
            taken[categorise(message.kind, block)] += block.tokens - MEDIA_TOKENS * unsent
    return taken


def categorise(kind: Kind, block: Block) -> Category:
    match block.view:
        case Thinking() | RedactedThinking():
            return Category.THINKING
        case ToolUse():
            return Category.CALLS
        case _ if block.media:
            return Category.MEDIA
        case ToolResult():
            return Category.RESULTS
    if kind is Kind.ATTACHMENT and (told := find_change(block.view.text if isinstance(block.view, Text) else "")):
        return _CHANGED_CATEGORIES.get(find_head(told), Category.CONTEXT)
    match kind:
        case Kind.SUMMARY:
            return Category.SUMMARIES
        case Kind.ANSWER:
            return Category.ASSISTANT_TEXT
        case Kind.PROMPT | Kind.LOCAL:
            return Category.USER_TEXT
        case _:
            return Category.NOTES

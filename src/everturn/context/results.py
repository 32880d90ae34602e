"""Stage two, run when results come in: what is too large goes into a file, and both its ends stay in sight.

It is decided before the message enters the transcript, so nothing that was sent changes, and a resumed session sends the
same bytes because the message itself holds the decision.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from everturn.core.limits import Limits
from everturn.core.messages import Block, ToolResult, encode_block, result_text
from everturn.core.records import ResultSpilled
from everturn.core.tokens import BYTES_PER_TOKEN
from everturn.ports.context import Change, Fitted
from everturn.ports.outputs import Shelf

STAGE = "tool_results"
HEAD_SHARE = 0.6
"""Of a preview; the rest shows the end."""
WINDOW_SHARE = 0.5
"""Of the window: what one message's results may take at most, however large the budget is."""
IN_A_THREAD = 1_000_000
"""Characters from which writing could hold up everything else."""
SPILLED = (
    "[… {left:,} of {whole:,} characters are left out here. The whole result is in {path}; read it in pages with Read, "
    "or search it with Grep. …]"
)
CUT = "[… {left:,} of {whole:,} characters are left out here, and there was no room to keep them. …]"


def plan_spills(sizes: Mapping[str, int], limits: Mapping[str, int], budget: int, preview: int) -> frozenset[str]:
    """Ids of the results that go into files: those above their tool's limit, then the largest until the rest fits."""
    chosen = {id_ for id_, size in sizes.items() if size > limits.get(id_, budget)}
    total = sum(min(size, preview) if id_ in chosen else size for id_, size in sizes.items())
    for id_ in sorted(sizes, key=lambda id_: -sizes[id_]):
        if total <= budget or sizes[id_] <= preview:
            break
        if id_ not in chosen:
            chosen.add(id_)
            total -= sizes[id_] - preview
    return frozenset(chosen)


def message_budget(limits: Limits, window: int) -> int:
    """In characters."""
    return min(limits.message_results, int(window * BYTES_PER_TOKEN * WINDOW_SHARE))


def render_preview(text: str, most: int, *, path: str | None) -> str:
    head = int(most * HEAD_SHARE)
    tail = most - head
    note = (SPILLED if path else CUT).format(left=len(text) - most, whole=len(text), path=path)
    return f"{text[:head]}\n{note}\n{text[len(text) - tail :]}"


async def fit_results(
    results: Sequence[Block], tool_limits: Mapping[str, int], *, limits: Limits, window: int, shelf: Shelf | None
) -> Fitted:
    """Results that fit are given back as they are. A file that cannot be written is no failure: the middle is lost then."""
    budget, preview = message_budget(limits, window), limits.result_preview
    if fits_at_a_glance(results, tool_limits, budget):
        return Fitted(blocks=tuple(results))
    texts = {block.view.tool_use_id: result_text(block.view) for block in results if isinstance(block.view, ToolResult)}
    chosen = plan_spills({id_: len(text) for id_, text in texts.items()}, tool_limits, budget, preview)
    if not chosen:
        return Fitted(blocks=tuple(results))
    blocks, spilled = [], []
    for block in results:
        view = block.view
        if not isinstance(view, ToolResult) or view.tool_use_id not in chosen:
            blocks.append(block)
            continue
        text, most = texts[view.tool_use_id], min(preview, tool_limits.get(view.tool_use_id, preview))
        path = await _put(text, shelf)
        blocks.append(_shorten(block, render_preview(text, most, path=path)))
        spilled.append(ResultSpilled(tool_use_id=view.tool_use_id, path=path or "", characters=len(text)))
    before, after = (sum(block.tokens for block in these) for these in (results, blocks))
    change = Change(stage=STAGE, cause="too_large", tokens_before=before, tokens_after=after)
    return Fitted(blocks=tuple(blocks), spilled=tuple(spilled), change=change)


def fits_at_a_glance(results: Sequence[Block], tool_limits: Mapping[str, int], budget: int) -> bool:
    """By the bytes, of which there are never fewer than characters: most rounds need no closer look."""
    sizes = {block.view.tool_use_id: len(block.raw) for block in results if isinstance(block.view, ToolResult)}
    return sum(sizes.values()) <= budget and all(size <= tool_limits.get(id_, budget) for id_, size in sizes.items())


async def _put(text: str, shelf: Shelf | None) -> str | None:
    if shelf is None:
        return None
    try:
        return await asyncio.to_thread(shelf.put, text) if len(text) > IN_A_THREAD else shelf.put(text)
    except OSError:
        return None


def _shorten(block: Block, preview: str) -> Block:
    """Its texts become one, which stands first; media stays."""
    fields = msgspec.json.decode(block.raw, type=dict[str, msgspec.Raw])
    content: Any = preview
    if bytes(memoryview(fields["content"])[:1]) == b"[":
        parts = msgspec.json.decode(fields["content"])
        content = [{"type": "text", "text": preview}, *(part for part in parts if part.get("type") != "text")]
    return encode_block({**fields, "content": content})

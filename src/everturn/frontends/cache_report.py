"""What the prompt cache gave, call by call, as people read it: `everturn cache`."""

from collections.abc import Sequence

from everturn.core.cache_ledger import EXPIRED, UNEXPLAINED, CacheStory, ChargedCall, share_of
from everturn.core.money import add_usd
from everturn.core.records import CacheBroken
from everturn.frontends.ansi import DIM, RED, YELLOW, Style
from everturn.frontends.cost import render_tokens
from everturn.frontends.figures import render_count
from everturn.frontends.flow import cut_line
from everturn.frontends.harmless import make_line

HEADS = ("round", "for", "read", "written", "uncached", "share")
CAUSES = ("cause", "breaks", "tokens", "USD")
LEFT = 2
"""Columns of words; figures follow."""
USD_DECIMALS = 4
MAX_PURPOSE = 20


def render_story(session_id: str, story: CacheStory, *, width: int, style: Style) -> str:
    if not story.calls:
        return f"Session {session_id} has sent nothing to a model yet.\n"
    parts = [render_head(session_id, story), _render_calls(story, width, style), _render_causes(story, style)]
    return "\n".join(part for part in parts if part)


def render_head(session_id: str, story: CacheStory) -> str:
    usage, breaks = story.usage, story.breaks
    share = render_share(share_of(usage))
    told = f"Session {session_id}: in {render_count(len(story.calls), 'call')} the cache gave {share} of what was sent."
    if not breaks:
        return f"{told} It never broke.\n"
    lost = sum(broken.tokens for broken in breaks)
    usd = add_usd(broken.usd for broken in breaks)
    return (
        f"{told} {render_count(len(breaks), 'break')} made {render_tokens(lost)} tokens be paid for again, "
        f"${usd:,.{USD_DECIMALS}f} more than reading them.\n"
    )


def render_share(share: float) -> str:
    return f"{share * 100:.1f} %"


def render_break(broken: CacheBroken) -> str:
    """`messages from the 14th on: compact, 14k again, $0.0312`."""
    cause = make_line(broken.cause)
    paid = f", {render_tokens(broken.tokens)} again, ${broken.usd:,.{USD_DECIMALS}f}" if broken.tokens else ""
    return f"{_render_place(broken)}{cause}{paid}"


def _render_place(broken: CacheBroken) -> str:
    match broken.segment:
        case "nothing":
            return ""
        case "messages" if broken.kept:
            return f"messages from no. {broken.kept + 1} on: "
        case segment:
            return f"{make_line(segment)}: "


def _render_calls(story: CacheStory, width: int, style: Style) -> str:
    rows = [_render_call(call) for call in story.calls]
    usage = story.usage
    total = ("total", "", *_render_counts(usage.cache_read, usage.cache_write, usage.input, share_of(usage)))
    lines = align((HEADS, *rows, total), left=LEFT)
    room = width - len(lines[0]) - 2
    told = [style.paint(lines[0], DIM)]
    for line, call in zip(lines[1:-1], story.calls, strict=True):
        reasons = [f"  {_paint_break(broken, room, style)}" for broken in call.breaks]
        told.append(line + "".join(reasons[:1]))
        told += [" " * len(line) + reason for reason in reasons[1:]]
    return "\n".join([*told, lines[-1]]) + "\n"


def _render_call(call: ChargedCall) -> tuple[str, ...]:
    usage = call.usage
    when = ".".join(str(part) for part in (call.query, call.turn) if part) or "-"
    purpose = cut_line(make_line(call.purpose), MAX_PURPOSE)
    return (when, purpose, *_render_counts(usage.cache_read, usage.cache_write, usage.input, call.share))


def _render_counts(read: int, written: int, uncached: int, share: float) -> tuple[str, ...]:
    return (*(render_tokens(count) if count else "-" for count in (read, written, uncached)), render_share(share))


def _paint_break(broken: CacheBroken, room: int, style: Style) -> str:
    codes = {UNEXPLAINED: RED, EXPIRED: DIM}.get(broken.cause, YELLOW)
    return style.paint(cut_line(render_break(broken), max(room, 12)), codes)


def _render_causes(story: CacheStory, style: Style) -> str:
    if not story.breaks:
        return ""
    rows = [
        (
            make_line(cause),
            f"{len(breaks):,}",
            render_tokens(sum(broken.tokens for broken in breaks)),
            f"{add_usd(broken.usd for broken in breaks):,.{USD_DECIMALS}f}",
        )
        for cause, breaks in story.by_cause.items()
    ]
    head, *others = align((CAUSES, *rows), left=1)
    return "\n".join([style.paint(head, DIM), *others]) + "\n"


def align(rows: Sequence[tuple[str, ...]], *, left: int) -> list[str]:
    """The first columns flush left, the others flush right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(wide) if at < left else cell.rjust(wide)
            for at, (cell, wide) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]

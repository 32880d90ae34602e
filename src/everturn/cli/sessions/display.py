"""Sessions as a terminal shows them: tables that fit its width, words that can do it no harm, and no keys."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from everturn.cli.console import render_json, write
from everturn.cli.debug import known_secrets
from everturn.core.masking import mask_keys
from everturn.frontends.figures import render_usd
from everturn.frontends.flow import cut_line, width_of
from everturn.frontends.harmless import make_line
from everturn.models.anthropic.key_mask import mask_secrets
from everturn.sessions.index.card import Card, plan_short_ids

WIDTH_OF_A_PIPE = 160
MIN_SECRET_LENGTH = 8
"""Shorter values of the environment are words like `true`, and not worth tearing a text apart for."""
MIN_TITLE_WIDTH = 20
UNTITLED = "(no prompt yet)"
_STEPS = ((60, "s"), (3_600, "min"), (86_400, "h"), (60 * 86_400, "d"), (730 * 86_400, "mo"))
_UNITS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "mo": 30 * 86_400, "y": 365 * 86_400}


def build_mask() -> Callable[[str], str]:
    """Hides what looks like a key, and what the environment says is one."""
    secrets = {value for value in known_secrets(os.environ) if len(value) >= MIN_SECRET_LENGTH}
    return lambda text: mask_secrets(mask_keys(text), secrets)


def say(text: str) -> None:
    """In whatever letters the output has."""
    encoding = (sys.stdout.encoding if sys.stdout else None) or "utf-8"
    write(text.encode(encoding, "replace").decode(encoding))


def say_json(value: Any) -> None:
    write(render_json(value, indent=2) + "\n")


def find_width() -> int:
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    return shutil.get_terminal_size((WIDTH_OF_A_PIPE, 0)).columns if on_terminal else WIDTH_OF_A_PIPE


def render_title(card: Card, mask: Callable[[str], str]) -> str:
    tag = f" #{make_line(card.told.tag)}" if card.told.tag else ""
    return mask((make_line(card.title) or UNTITLED) + tag)


def render_age(seconds: float) -> str:
    """`5 min`, `3 d`; a file from the future is new."""
    seconds = max(seconds, 0)
    unit = next((name for most, name in _STEPS if seconds < most), "y")
    return f"{int(seconds // _UNITS[unit])} {unit}"


def render_size(size: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1_000:  # noqa: PLR2004 (of one unit)
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1_000
    return f"{size:.1f} TB"


def render_moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def render_cost(card: Card) -> str:
    return render_usd(card.told.usd) if card.told.ours else ""


def render_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[str], width: int) -> str:
    """The last column takes what is left of the line. Columns in which nothing stands are left out."""
    kept = [at for at in range(len(head)) if any(row[at] for row in rows) or at == len(head) - 1]
    head, rows = [head[at] for at in kept], [[row[at] for at in kept] for row in rows]
    widths = [max(width_of(line[at]) for line in (head, *rows)) for at in range(len(head) - 1)]
    room = max(width - sum(widths) - 2 * len(widths), MIN_TITLE_WIDTH)

    def render(line: Sequence[str]) -> str:
        cells = [_pad(cell, size, name in right) for cell, size, name in zip(line, widths, head, strict=False)]
        return "  ".join((*cells, cut_line(line[-1], room))).rstrip()

    return "".join(f"{render(line)}\n" for line in (head, *rows))


def render_candidates(cards: Iterable[Card]) -> str:
    """For somebody who must say more exactly which one is meant."""
    mask = build_mask()
    shown = list(cards)[:10]
    width = max(len(card.id) for card in shown)
    lines = [f"  {card.id:<{width}}  {cut_line(render_title(card, mask), 60)}" for card in shown]
    return "\n".join(lines)


def encode_card(card: Card, short: str, mask: Callable[[str], str]) -> dict[str, Any]:
    told = card.told
    return {
        "id": card.id,
        "short_id": short,
        "title": mask(card.title),
        "custom_title": mask(told.custom_title) or None,
        "tag": mask(told.tag) or None,
        "folder": told.folder or None,
        "branch": told.branch or None,
        "model": told.model or None,
        "rounds": told.turns,
        "messages": told.messages,
        "cost_usd": told.usd if told.ours else None,
        "began": told.began or None,
        "written": render_moment(card.written),
        "size_bytes": card.size,
        "open": card.opened,
        "interrupted": told.unfinished and not card.opened,
        "foreign": not told.ours,
        "newer_format": told.newer or None,
        "path": card.path,
    }


def shorten_ids(cards: Iterable[Card]) -> dict[str, str]:
    return plan_short_ids([card.id for card in cards])


def _pad(text: str, size: int, to_right: bool) -> str:
    blanks = " " * (size - width_of(text))
    return blanks + text if to_right else text + blanks

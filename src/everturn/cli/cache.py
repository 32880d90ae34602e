"""`everturn cache`: what the prompt cache gave a session and what broke it, call by call, read from its journal."""

import os
import shutil
import sys
from typing import Any

import msgspec

from everturn.cli.console import write
from everturn.cli.cost import WIDTH_OF_A_PIPE, find_file, load_records
from everturn.cli.usage import UsageError
from everturn.compose.cli import program_home
from everturn.core.budget import Usage
from everturn.core.cache_ledger import CacheStory, fold_story, share_of
from everturn.core.records import CacheBroken
from everturn.core.state import Exit
from everturn.settings.checks import nearest

FLAGS = ("--json", "--help", "-h")
SEE = "everturn cache --help"


def run_cache(words: list[str]) -> int:
    """Raises `UsageError`, and `JournalError` for a session that cannot be read."""
    names = [word for word in words if not word.startswith("-")]
    for word in words:
        if word.startswith("-") and word not in FLAGS:
            raise UsageError(f"cache knows no {word!r}{nearest(word, FLAGS)}", see=SEE)
    if "--help" in words or "-h" in words:
        from everturn.cli.help import CACHE

        write(CACHE)
        return Exit.OK
    if len(names) > 1:
        raise UsageError(f"one session at a time, not {len(names)}", see=SEE)
    path = find_file(program_home(os.environ), names[0] if names else None)
    story = fold_story(load_records(path))
    write(encode_story(path.stem, story) if "--json" in words else render_page(path.stem, story))
    return Exit.OK


def render_page(session_id: str, story: CacheStory) -> str:
    from everturn.frontends.ansi import Style, choose_style
    from everturn.frontends.cache_report import render_story

    on_terminal = sys.stdout.isatty()
    style = choose_style(os.environ) if on_terminal else Style(colour=False, control=False)
    width = shutil.get_terminal_size((WIDTH_OF_A_PIPE, 0)).columns if on_terminal else WIDTH_OF_A_PIPE
    return render_story(session_id, story, width=width, style=style)


def encode_story(session_id: str, story: CacheStory) -> str:
    breaks = story.breaks
    page = {
        "session_id": session_id,
        "calls": len(story.calls),
        **encode_usage(story.usage),
        "breaks": len(breaks),
        "lost_tokens": sum(broken.tokens for broken in breaks),
        "lost_usd": sum(broken.usd for broken in breaks),
        "causes": {
            cause: {
                "breaks": len(found),
                "lost_tokens": sum(broken.tokens for broken in found),
                "lost_usd": sum(broken.usd for broken in found),
            }
            for cause, found in story.by_cause.items()
        },
        "requests": [
            {
                "query": call.query,
                "turn": call.turn,
                "purpose": call.purpose,
                "model": call.model,
                "request_id": call.request_id,
                **encode_usage(call.usage),
                "breaks": [encode_break(broken) for broken in call.breaks],
            }
            for call in story.calls
        ],
    }
    return msgspec.json.format(msgspec.json.encode(page), indent=2).decode() + "\n"


def encode_usage(usage: Usage) -> dict[str, Any]:
    return {
        "read": usage.cache_read,
        "written": usage.cache_write,
        "uncached": usage.input,
        "share": round(share_of(usage), 6),
    }


def encode_break(broken: CacheBroken) -> dict[str, Any]:
    return {
        "segment": broken.segment,
        "cause": broken.cause,
        "kept_messages": broken.kept,
        "lost_tokens": broken.tokens,
        "lost_usd": broken.usd,
    }

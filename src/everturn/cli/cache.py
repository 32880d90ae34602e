"""`everturn cache`: what the prompt cache gave a session and what broke it, call by call, read from its journal."""

from typing import Any

from everturn.cli.console import measure_output, render_json, write
from everturn.cli.sessions.lookup import find_file, load_records
from everturn.cli.syntax import JSON, Arguments
from everturn.core.budget import Usage
from everturn.core.cache_ledger import CacheStory, fold_story, share_of
from everturn.core.money import add_usd
from everturn.core.records import CacheBroken
from everturn.core.state import Exit


def run_cache(asked: Arguments) -> int:
    """Raises `UsageError`, and `JournalError` for a session that cannot be read."""
    path = find_file("cache", asked.words)
    story = fold_story(load_records(path))
    write(encode_story(path.stem, story) if JSON.name in asked else render_page(path.stem, story))
    return Exit.OK


def render_page(session_id: str, story: CacheStory) -> str:
    from everturn.frontends.cache_report import render_story

    style, width = measure_output()
    return render_story(session_id, story, width=width, style=style)


def encode_story(session_id: str, story: CacheStory) -> str:
    breaks = story.breaks
    page = {
        "session_id": session_id,
        "calls": len(story.calls),
        **encode_usage(story.usage),
        "breaks": len(breaks),
        "lost_tokens": sum(broken.tokens for broken in breaks),
        "lost_usd": add_usd(broken.usd for broken in breaks),
        "causes": {
            cause: {
                "breaks": len(found),
                "lost_tokens": sum(broken.tokens for broken in found),
                "lost_usd": add_usd(broken.usd for broken in found),
            }
            for cause, found in story.by_cause.items()
        },
        "requests": [
            {
                "query": call.query,
                "round": call.turn,
                "purpose": call.purpose,
                "model": call.model,
                "request_id": call.request_id,
                **encode_usage(call.usage),
                "breaks": [encode_break(broken) for broken in call.breaks],
            }
            for call in story.calls
        ],
    }
    return render_json(page, indent=2) + "\n"


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

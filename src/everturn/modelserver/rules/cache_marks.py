"""Rules about cache marks: how many, where, how long."""

from collections.abc import Iterator
from typing import Any

from everturn.modelserver.ask import THINKING_TYPES, Ask
from everturn.modelserver.rules.rule import BodyRules

CACHING = BodyRules()

_MAX_MARKS = 4


def _marks(ask: Ask) -> Iterator[tuple[str, Any, Any]]:
    """Path, block and mark of every block that has one, in the order of the cache."""
    tools = [(f"tools.{at}", tool) for at, tool in enumerate(ask.tools)]
    system = [(f"system.{at}", block) for at, block in enumerate(ask.system)]
    messages = [(placed.path, placed.block) for placed in ask.nested_blocks]
    for path, block in (*tools, *system, *messages):
        if block.get("cache_control") is not None:
            yield path, block, block["cache_control"]


def _ttl(mark: Any) -> str:
    return str(mark.get("ttl", "5m"))


@CACHING.rule("cache-mark-shape", "conventions §6.3", "A mark is ephemeral and lives for 5m or 1h.")
def _shape(ask: Ask) -> str | None:
    top = ask.body.get("cache_control")
    for path, _, mark in (*_marks(ask), *([("", None, top)] if top else [])):
        where = f"{path}.cache_control".lstrip(".")
        if not isinstance(mark, dict) or mark.get("type") != "ephemeral":
            return f"{where}.type: Input should be 'ephemeral'"
        if _ttl(mark) not in {"5m", "1h"}:
            return f"{where}.ephemeral.ttl: Input should be '5m' or '1h'"
    return None


@CACHING.rule("cache-not-on-thinking", "conventions §6.3", "A thinking block has no mark.")
def _thinking(ask: Ask) -> str | None:
    for path, block, _ in _marks(ask):
        if block.get("type") in THINKING_TYPES:
            return f"{path}.{block['type']}.cache_control: Extra inputs are not permitted"
    return None


@CACHING.rule("cache-not-on-empty-text", "conventions §6.3", "An empty text block has no mark.")
def _empty(ask: Ask) -> str | None:
    for path, block, _ in _marks(ask):
        if block.get("type") == "text" and not block.get("text"):
            return f"{path}: cache_control cannot be set for empty text blocks"
    return None


@CACHING.rule("cache-marks-limit", "conventions §6.3", "There are at most four marks; the automatic one counts.")
def _limit(ask: Ask) -> str | None:
    count = len(list(_marks(ask))) + bool(ask.body.get("cache_control"))
    return (
        f"A maximum of {_MAX_MARKS} blocks with cache_control may be provided. Found {count}."
        if count > _MAX_MARKS
        else None
    )


@CACHING.rule("cache-order", "conventions §6.3", "Marks of 1h come before those of 5m.")
def _order(ask: Ask) -> str | None:
    short = False
    for path, _, mark in _marks(ask):
        if _ttl(mark) == "1h" and short:
            return (
                f"{path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "
                "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
            )
        short = short or _ttl(mark) == "5m"
    return None


@CACHING.rule(
    "cache-automatic-ttl", "conventions §6.3", "The automatic mark and one on the same block live equally long."
)
def _automatic(ask: Ask) -> str | None:
    top = ask.body.get("cache_control")
    last = ask.blocks[-1].block.get("cache_control") if ask.blocks else None
    if top and last and _ttl(top) != _ttl(last):
        return f"Top-level cache_control has ttl='{_ttl(top)}' but the target block already has cache_control with ttl='{_ttl(last)}'"
    return None

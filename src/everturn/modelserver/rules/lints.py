"""What the API accepts but a good client avoids: noted in the log, never refused."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import msgspec

from everturn.modelserver.ask import THINKING_TYPES, Ask, blocks_of


class Lint(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    message: str


def find_lints(ask: Ask) -> tuple[Lint, ...]:
    return tuple(lint for look in _LOOKS for lint in look(ask))


def _same_roles(ask: Ask) -> Iterator[Lint]:
    for at, (before, after) in enumerate(pairwise(ask.messages), 1):
        if before.get("role") == after.get("role"):
            yield Lint(
                id="same-role-twice",
                message=f"messages.{at}: {after.get('role')!r} follows {before.get('role')!r}; the API merges them",
            )


def _dropped_thinking(ask: Ask) -> Iterator[Lint]:
    for at in range(ask.trajectory, len(ask.messages)):
        blocks = blocks_of(ask.messages[at].get("content"))
        called = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
        model, given = ask.handed.before_call.get(called[-1], ("", [])) if called else ("", [])
        if given and model == ask.model.id and not any(block.get("type") in THINKING_TYPES for block in blocks):
            yield Lint(id="thinking-dropped", message=f"messages.{at}: the thinking that led to {called[-1]} is gone")


_LOOKS: tuple[Callable[[Ask], Iterator[Lint]], ...] = (_same_roles, _dropped_thinking)

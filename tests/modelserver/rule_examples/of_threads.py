"""Examples for the rules about threads. The answers to what was asked before have the ids msg_1, msg_2 and so on."""

from typing import Any

import msgspec
from tests.modelserver.rule_examples.example import Example, Json, Pair, ask, tool, user

_BETA = "message-threads-2026-08-12"
_CREATE = {"type": "create"}


def _threaded(thread: Json, **fields: Any) -> Example:
    return ask(user("And now?"), thread=thread, betas=_BETA, **fields)


def _continue(identity: str, **fields: Any) -> Example:
    return _threaded({"type": "continue", "previous_message_id": identity}, **fields)


def _after(example: Example, *before: Example) -> Example:
    return msgspec.structs.replace(example, before=before)


_FIRST = _threaded(_CREATE, system="Be brief.", tools=[tool()])

PAIRS: dict[str, Pair] = {
    "thread-beta": (_FIRST, ask(thread=_CREATE)),
    "thread-shape": (_FIRST, _threaded({"type": "continue"})),
    "thread-held": (_after(_continue("msg_1"), _FIRST), _after(_continue("msg_7"), _FIRST)),
    "thread-continued-once": (
        _after(_continue("msg_2"), _FIRST, _continue("msg_1")),
        _after(_continue("msg_1"), _FIRST, _continue("msg_1")),
    ),
    "thread-fields": (_after(_continue("msg_1"), _FIRST), _after(_continue("msg_1", system="Be brief."), _FIRST)),
}

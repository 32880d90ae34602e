"""Examples for the rules about cache marks, pictures and sizes."""

import base64
import struct

import msgspec
from tests.modelserver.rule_examples.example import Example, Json, Pair, ask, assistant, body, tool, user, words

from everturn.modelserver.signatures import sign

_SHORT = {"type": "ephemeral"}
_LONG = {"type": "ephemeral", "ttl": "1h"}


def _marked(count: int) -> list[Json]:
    return [words("Hello", cache_control=_SHORT) for _ in range(count)]


def _thought(**fields: object) -> Json:
    return {"type": "thinking", "thinking": "Hm.", "signature": sign("claude-opus-4-8", "Hm."), **fields}


def _picture(width: int = 8, height: int = 8, media_type: str = "image/png") -> Json:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": media_type, "data": base64.b64encode(head).decode()},
    }


def _heavy() -> Json:
    picture = _picture()
    picture["source"]["data"] += "A" * (10 * 1024 * 1024)
    return body(user([picture]))


def _in_window(text: str) -> Example:
    return msgspec.structs.replace(ask(user(text)), window=100)


PAIRS: dict[str, Pair] = {
    "cache-mark-shape": (
        ask(user([words("Hello", cache_control=_LONG)])),
        ask(user([words("Hello", cache_control={"type": "ephemeral", "ttl": "1d"})])),
    ),
    "cache-not-on-thinking": (
        ask(user(), assistant([_thought(), words("Hello")]), user()),
        ask(user(), assistant([_thought(cache_control=_SHORT), words("Hello")]), user()),
    ),
    "cache-not-on-empty-text": (ask(user(_marked(1))), ask(user([words("", cache_control=_SHORT), words("Hello")]))),
    "cache-marks-limit": (ask(user(_marked(3)), cache_control=_SHORT), ask(user(_marked(4)), cache_control=_SHORT)),
    "cache-order": (
        ask(user(_marked(1)), tools=[tool(cache_control=_LONG)]),
        ask(user([words("Hello", cache_control=_LONG)]), tools=[tool(cache_control=_SHORT)]),
    ),
    "cache-automatic-ttl": (ask(user(_marked(1)), cache_control=_SHORT), ask(user(_marked(1)), cache_control=_LONG)),
    "image-source": (ask(user([_picture()])), ask(user([{"type": "image", "source": "a.png"}]))),
    "image-type": (ask(user([_picture()])), ask(user([_picture(media_type="image/bmp")]))),
    "image-count": (
        ask(user([_picture()] * 100), model="claude-haiku-4-5"),
        ask(user([_picture()] * 101), model="claude-haiku-4-5"),
    ),
    "image-bytes": (ask(user([_picture()])), Example(body=_heavy)),
    "image-pixels": (ask(user([_picture(8000, 8000)])), ask(user([_picture(2001, 8)] * 21))),
    "max-tokens-limit": (ask(max_tokens=128_000), ask(max_tokens=128_001)),
    "window": (_in_window("x" * 388), _in_window("x" * 389)),
}

"""JSON and events as the API writes them."""

import json
from typing import Any


def render_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def encode_json(value: Any) -> bytes:
    try:
        return render_json(value).encode()
    except UnicodeEncodeError:
        # Lone surrogates have no UTF-8; escaped they are legal JSON.
        return json.dumps(value).encode()


def encode_event(name: str, data: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), encode_json(data))

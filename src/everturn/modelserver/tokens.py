"""How many tokens a request or an answer counts: a deterministic estimate, not a tokenizer.

A token is four bytes of UTF-8, each text rounded up. Names and JSON count as their compact text. A message adds three. A
picture counts one for every 28 by 28 pixels up to the model's cap (the cap, when its size cannot be read), a PDF page is
taken to be 50,000 characters of base64 and 2,000 tokens. Signatures and cache marks count nothing.
"""

import json
from collections.abc import Mapping
from typing import Any

from everturn.modelserver.pictures import parse_size

BYTES_PER_TOKEN = 4
MESSAGE_TOKENS = 3
_PATCH = 28
_PAGE_CHARACTERS = 50_000
_PAGE_TOKENS = 2_000
_IMAGE_CAP = 4_784


def estimate_text(text: str) -> int:
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def estimate_json(value: Any) -> int:
    return estimate_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def cut_text(text: str, tokens: int) -> str:
    """The longest beginning of the text that counts at most so many tokens."""
    return text.encode("utf-8", "surrogatepass")[: tokens * BYTES_PER_TOKEN].decode("utf-8", "ignore")


def estimate_block(block: Mapping[str, Any], image_cap: int = _IMAGE_CAP) -> int:
    match block:
        case {"type": "text", "text": str(text)} | {"type": "thinking", "thinking": str(text)}:
            return estimate_text(text)
        case {"type": "tool_use" | "server_tool_use", "name": str(name), "input": value}:
            return estimate_text(name) + estimate_json(value)
        case {"type": "tool_result"}:
            return estimate_content(block.get("content", ""), image_cap)
        case {"type": "image", "source": {"type": "base64", "data": str(data)}}:
            return _estimate_picture(data, image_cap)
        case {"type": "image"}:
            return image_cap
        case {"type": "document", "source": {"type": "base64", "data": str(data)}}:
            return _PAGE_TOKENS * -(-len(data) // _PAGE_CHARACTERS)
        case {"type": "document", "source": {"type": "text", "data": str(text)}}:
            return estimate_text(text)
        case {"type": "document", "source": {"type": "content", "content": content}}:
            return estimate_content(content, image_cap)
        case _:
            return estimate_json({key: value for key, value in block.items() if key != "cache_control"})


def estimate_content(content: Any, image_cap: int = _IMAGE_CAP) -> int:
    if isinstance(content, str):
        return estimate_text(content)
    if isinstance(content, list):
        return sum(estimate_block(block, image_cap) for block in content if isinstance(block, dict))
    return 0


def _estimate_picture(data: str, cap: int) -> int:
    size = parse_size(data)
    if size is None:
        return cap
    width, height = size
    return min(cap, max(1, -(-width // _PATCH) * -(-height // _PATCH)))

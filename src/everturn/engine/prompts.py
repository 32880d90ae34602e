"""What a caller may submit: words, or blocks of the Messages API."""

from typing import Any

from everturn.core.errors import OptionError, TranscriptError
from everturn.core.messages import Block, encode_block
from everturn.core.transcript import is_askable

Prompt = str | list[dict[str, Any]]


def prompt_blocks(prompt: Prompt) -> tuple[Block, ...]:
    """The blocks of a prompt. Raises `OptionError` for one that is empty, or not content of the Messages API."""
    parts: Any = [{"type": "text", "text": prompt}] if isinstance(prompt, str) else prompt
    if not isinstance(parts, list) or any(not isinstance(part, dict) or not part.get("type") for part in parts):
        raise OptionError("prompt", "it must be text, or a list of content blocks of the Messages API with a `type`")
    try:
        blocks = tuple(encode_block(part) for part in parts)
    except (TypeError, ValueError, RecursionError, TranscriptError) as error:
        raise OptionError("prompt", f"JSON cannot carry it: {error}") from None
    if not any(map(is_askable, blocks)):
        raise OptionError("prompt", "it is empty")
    return blocks

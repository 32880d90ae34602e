"""Our own credentials in what the model is to read: taken out before a message enters the transcript. Pure."""

from collections.abc import Iterable

import msgspec

from everturn.core.messages import Message, decode_block

HIDDEN = b"[key]"
SHORTEST = 8
"""Shorter ones are no credentials, and to hide them would tear texts apart."""


def hide_in_text(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        if len(secret) >= SHORTEST:
            text = text.replace(secret, HIDDEN.decode())
    return text


def hide_secrets(message: Message, secrets: Iterable[str]) -> Message:
    """Only these, and only where they stand whole: everything else is kept byte for byte. Most messages come back as they are."""
    for secret in secrets:
        # As it stands inside JSON.
        written = msgspec.json.encode(secret)[1:-1]
        if len(secret) >= SHORTEST and any(written in block.raw for block in message.blocks):
            blocks = tuple(
                decode_block(block.raw.replace(written, HIDDEN)) if written in block.raw else block
                for block in message.blocks
            )
            message = msgspec.structs.replace(message, blocks=blocks)
    return message

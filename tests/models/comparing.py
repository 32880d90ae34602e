"""What our folding and the vendor's SDK made of one stream, in one form, without what only one of them keeps.

A thinking block of ours always has its signature, if only an empty one. The SDK keeps `stop_sequence`, `container` and `input_transformations`, which nothing of ours needs. Of
`context_management` we keep the number of tokens that were cleared.
"""

import json
from typing import Any

from everturn.core.stream import Fold
from everturn.models.anthropic.decode import count_cleared

SIGNED = {"thinking": {"signature": ""}}


def digest_fold(folded: Fold) -> dict[str, Any]:
    return {
        "id": folded.api_id,
        "model": folded.model,
        "content": [without_null(json.loads(block.raw)) for block in folded.blocks],
        "stop_reason": folded.stop_reason,
        "stop_details": folded.details or None,
        "usage": without_null(folded.report),
        "cleared": folded.cleared,
    }


def digest_vendor(message: Any) -> dict[str, Any]:
    # It warns of blocks that it does not know.
    dumped = message.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
    return {
        "id": dumped["id"],
        "model": dumped["model"],
        "content": [without_null(SIGNED.get(block["type"], {}) | block) for block in dumped["content"]],
        "stop_reason": dumped["stop_reason"],
        "stop_details": dumped.get("stop_details"),
        "usage": without_null(dumped["usage"]),
        "cleared": count_cleared(dumped.get("context_management") or {}),
    }


def without_null(fields: dict[str, Any]) -> dict[str, Any]:
    """The SDK writes down some fields that were never sent."""
    return {key: value for key, value in fields.items() if value is not None}

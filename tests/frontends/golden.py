"""Transcripts that can be compared: what differs from run to run is named by the order of its appearance."""

import json
import re
from pathlib import Path
from typing import Any

SNAPSHOTS = Path(__file__).parent / "snapshots"
_RANDOM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|(?:toolu|msg)_[0-9a-f]{24}")
_MEASURED = r"duration_ms|duration_api_ms|retry_delay_ms|elapsed_time_seconds|total_cost_usd|costUSD|\w+[tT]okens"
"""Times, and counts that change whenever a description for the model is reworded."""


def settle(written: str, folder: Path) -> str:
    names: dict[str, str] = {}
    text = _RANDOM.sub(lambda found: names.setdefault(found[0], f"ID-{len(names) + 1}"), written)
    text = text.replace(str(folder), "FOLDER")
    text = re.sub(rf'"({_MEASURED})":[0-9.e-]+', r'"\1":0', text)
    text = re.sub(r'"signature":"[^"]+"', '"signature":"SIGNED"', text)
    return re.sub(r"127\.0\.0\.1:\d+", "SERVER", text)


def snapshot(name: str) -> str:
    return (SNAPSHOTS / name).read_text()


def lines_of(written: str) -> list[dict[str, Any]]:
    assert not written or written.endswith("\n")
    return [json.loads(line) for line in written.splitlines()]


def kinds_of(written: str) -> list[str]:
    return [
        line.get("subtype", line["type"]) if line["type"] == "system" else line["type"] for line in lines_of(written)
    ]

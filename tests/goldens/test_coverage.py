"""The goldens meet every way to go on and to stop, every kind of record and every kind of event, but those named here with their reason."""

import json
from collections.abc import Iterator

import pytest
from tests.goldens.recording import RECORDED

from everturn.core.events import Event
from everturn.core.records import Record
from everturn.core.state import Reason, Transition

UNREACHED: dict[str, str] = {}
"""Names that occur in no golden, each with its reason."""


def records() -> Iterator[dict[str, object]]:
    for path in RECORDED.glob("*/journal*.jsonl"):
        for line in path.read_bytes().splitlines():
            told = json.loads(line)
            yield told.get("record") or {"type": "message"}


def tags(root: type) -> set[str]:
    return {str(kind.__struct_config__.tag) for kind in root.__subclasses__()}


SEEN = {
    "transitions": (set(Transition), lambda: {told.get("transition") for told in records()}),
    "reasons": (set(Reason), lambda: {told.get("reason") for told in records() if told["type"] == "terminal"}),
    "records": (tags(Record), lambda: {told["type"] for told in records()}),
    "events": (
        tags(Event),
        lambda: {kind for path in RECORDED.glob("*/kinds.txt") for kind in path.read_text().split()},
    ),
}


@pytest.mark.parametrize("what", SEEN)
def test_every_one_occurs_in_a_golden_or_is_named_here(what):
    expected, find = SEEN[what]
    assert {str(name) for name in expected - find()} == {str(name) for name in expected} & UNREACHED.keys()

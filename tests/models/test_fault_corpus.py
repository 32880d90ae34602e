"""Every stream of the fault corpus, decoded and folded: what comes out is content or a fault, never a crash."""

import json
from pathlib import Path

import pytest

from everturn.core.errors import ModelFault
from everturn.core.stream import Fold
from everturn.models.anthropic.decode import decode_event
from everturn.models.anthropic.sse import SseParser

CORPUS = Path(__file__).parent.parent / "corpora" / "model_faults.jsonl"


def render(items, end):
    """The bytes that a server of this case sends."""
    for item in items:
        if "repeat" in item:
            for number in range(item["repeat"]):
                yield from render(json.loads(json.dumps(item["items"]).replace('"{i}"', str(number))), end)
        elif "raw_hex" in item:
            yield bytes.fromhex(item["raw_hex"])
        elif "raw" in item:
            yield item["raw"].replace("\n", end).encode("utf-8", "surrogatepass")
        elif "event" in item:
            yield f"event: {item['event']}{end}data: {json.dumps(item['data'])}{end}{end}".encode()


def streams():
    for line in CORPUS.read_text().splitlines():
        case = json.loads(line)
        for number, response in enumerate(case["responses"]):
            if "sse" in response:
                data = b"".join(render(response["sse"], response.get("eol", "\n")))
                yield pytest.param(data, id=f"{case['id']}-{number}")


def fold(data, size):
    parser, collected = SseParser(), Fold(lambda id_: id_)
    try:
        for start in range(0, len(data), size):
            for payload in parser.feed(data[start : start + size]):
                collected.feed(decode_event(payload))
    except ModelFault as fault:
        return fault.kind, [block.raw for block in collected.blocks]
    return collected.stop_reason, [block.raw for block in collected.finish()]


@pytest.mark.parametrize("data", list(streams()))
def test_a_stream_gives_content_or_a_fault_and_the_same_for_every_cut(data):
    whole = fold(data, len(data) + 1)

    assert fold(data, 7) == whole
    for raw in whole[1]:
        assert b"\n" not in raw
        json.loads(raw)

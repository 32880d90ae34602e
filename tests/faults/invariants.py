"""What holds in every case, whatever the model does: the nine invariants of the corpus."""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.conftest import Run
from tests.faults.played import Played, blocks_in, blocks_of

from everturn.core.limits import Limits
from everturn.modelserver import Received, Violation, check_request

LIMITS = Limits()
RATE_LIMITED = 429
"""The only status of the corpus that comes with a `retry-after`."""
OURS = "Everturn failed"
"""How a fault of our own is told."""
UNKNOWN_BLOCKS = "block-types-known"
"""A block of a new kind goes back as it came: an API that gave it out takes it, the server's rules do not know it."""


def check_no_traceback(played: Played) -> None:
    """I1."""
    shown = repr([played.before.events, played.run.events, played.after.events])
    assert "Traceback" not in shown
    assert OURS not in shown
    assert b"Traceback" not in played.journal


def check_journal(played: Played) -> None:
    """I2. That a record precedes its event is seen while the events come (`World.submit`)."""
    assert played.journal.endswith(b"\n")
    for line in played.journal.splitlines():
        assert isinstance(json.loads(line.decode("utf-8", "strict")), dict)
    kept = {record["id"]: record for record in played.records if record["type"] == "message"}
    for message in [event.message for event in played.run.of("assistant", "user")]:
        assert kept[message.id]["blocks"] == [json.loads(block.raw) for block in message.blocks]
    results = {block.get("tool_use_id") for record in kept.values() for block in record["blocks"]}
    retracted = {event.message_id for event in played.run.of("tombstone")}
    if not retracted:
        assert {event.tool_use_id for event in played.run.of("tool_end")} <= results


def check_requests(played: Played) -> None:
    """I3, and every other rule of the API that a server can check."""
    for request in (*played.requests, *played.after_requests):
        assert broken_rule(request, played) is None
        check_pairs(request.body["messages"])


def broken_rule(request: Received, played: Played) -> Violation | None:
    violation = check_request(request.body, request.headers, handed=played.handed)
    return None if violation and violation.rule == UNKNOWN_BLOCKS else violation


def check_pairs(messages: list[dict[str, Any]]) -> None:
    for at, message in enumerate(messages):
        uses = [block["id"] for block in blocks_of(message) if block["type"] == "tool_use"]
        following = messages[at + 1] if at + 1 < len(messages) else {"role": "user", "content": []}
        results = [block["tool_use_id"] for block in blocks_of(following) if block["type"] == "tool_result"]
        assert sorted(uses) == sorted(results)
        assert not uses or following["role"] == "user"


def check_runs(played: Played) -> None:
    """I4 and I5: what ran was asked for in so many words, no more often than it was asked for, and the model knows."""
    assert Counter(played.runs) <= Counter(played.case.whole_calls())
    appended = played.world.readme.read_text().count("appended")
    told = [block["content"] for block in blocks_in(played.after_requests[-1], "tool_result")]
    assert appended == sum(run.name == "Append" for run in played.runs) == told.count("Appended.")


def check_retries(played: Played) -> None:
    """I6."""
    for run in (played.before, played.run, played.after):
        tried = 0
        for retry in run.of("api_retry"):
            assert retry.attempt in {1, tried + 1}
            assert retry.max_tries == LIMITS.tries
            assert 0 < retry.delay_s <= LIMITS.max_retry_after
            assert is_own_backoff(retry.attempt, retry.delay_s) or retry.status == RATE_LIMITED
            tried = retry.attempt
    assert played.attempts <= LIMITS.tries + LIMITS.pauses


def is_own_backoff(attempt: int, delay_s: float) -> bool:
    """Doubles from try to try up to a cap, less a quarter at most."""
    most = min(LIMITS.backoff_first_s * 2 ** (attempt - 1), LIMITS.backoff_most_s)
    return 0.75 * most <= delay_s <= most


def check_secrets(played: Played) -> None:
    """I8. Half a key is a key."""
    everything = repr([played.before.events, played.run.events, played.after.events]) + repr(played.seen)
    for text in (everything, played.journal.decode()):
        assert played.world.key[:16] not in text
    for request in (*played.requests, *played.after_requests):
        assert played.world.key.encode() not in request.raw


def check_ending(run: Run) -> None:
    """Exactly one terminal and one result, at the end; nothing of a retracted message after its tombstone."""
    assert (run.kinds.count("terminal"), run.kinds.count("result")) == (1, 1)
    assert run.kinds[-2:] == ["terminal", "result"]
    assert run.of("terminal")[0].reason == run.result.reason
    assert run.kinds.count("error") == (run.result.errors != ())
    gone: set[str] = set()
    for event in run.events:
        assert getattr(event, "message_id", None) not in gone
        if event.__struct_config__.tag == "tombstone":
            gone.add(event.message_id)


def check_endings(played: Played) -> None:
    for run in (played.before, played.run, played.after):
        check_ending(run)


def check_next_prompt(played: Played) -> None:
    """I9: the strict server took it, at the first try."""
    result = played.after.result
    assert (result.is_error, result.text, result.errors) == (False, "Fine.", ())
    assert [request.refused for request in played.after_requests if request.refused] == []
    said = blocks_of(played.after_requests[-1].body["messages"][-1])
    assert re.search(r"And now\?", said[-1]["text"])


INVARIANTS: tuple[Callable[[Played], None], ...] = (
    check_no_traceback,
    check_journal,
    check_requests,
    check_runs,
    check_retries,
    check_secrets,
    check_endings,
    check_next_prompt,
)
"""I7 is kept by `World.submit`: no prompt outlasts its patience."""

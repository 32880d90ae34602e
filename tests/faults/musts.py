"""Each promise that the corpus makes in words, as a check."""

import json
import re
from collections.abc import Callable

from tests.faults.invariants import LIMITS, check_pairs, check_runs, is_own_backoff
from tests.faults.played import Played, blocks_in, blocks_of
from tests.faults.staging import OPENING, PROMPT
from tests.faults.world import README, SILENCE_S

MEGABYTE = 1_000_000
Check = Callable[[Played], None]
MUSTS: dict[str, Check] = {}


def promised(*sentences: str) -> Callable[[Check], Check]:
    def note(check: Check) -> Check:
        for sentence in sentences:
            assert sentence not in MUSTS
            MUSTS[sentence] = check
        return check

    return note


def shown_text(played: Played) -> str:
    """What a person has before them at the end: deltas, less what was taken back."""
    gone = {event.message_id for event in played.run.of("tombstone")}
    return "".join(event.text for event in played.run.of("text_delta") if event.message_id not in gone)


def only_result(played: Played) -> dict:
    [result] = played.results
    return result


@promised("no tool runs twice")
def _no_second_run(played: Played) -> None:
    check_runs(played)
    assert len(played.runs) <= len(played.case.whole_calls())


@promised("the unfinished tool_use is never executed", "strict parse of the raw text: never executed")
def _nothing_ran(played: Played) -> None:
    assert played.runs == []
    assert played.run.of("tool_start") == []


@promised("lenient partial parsers (such as the one in the official SDK) are not trusted")
def _not_completed(played: Played) -> None:
    _nothing_ran(played)
    assert (played.world.folder / "build").is_dir()
    assert "not valid JSON" in only_result(played)["content"]


@promised("next request holds no tool_use without its tool_result")
def _paired(played: Played) -> None:
    for request in (*played.requests, *played.after_requests):
        check_pairs(request.body["messages"])


@promised("next request is accepted by the API: blank text is dropped or padded")
def _no_blank(played: Played) -> None:
    texts = [block["text"] for request in played.after_requests for block in blocks_in(request, "text")]
    assert all(text.strip() for text in texts)


@promised("not executed locally")
def _not_here(played: Played) -> None:
    _nothing_ran(played)
    assert played.results == []
    assert [block["id"] for block in blocks_in(played.main[1], "server_tool_use")] == ["srvtoolu_1"]


@promised("kept or dropped; no crash")
def _carried(played: Played) -> None:
    assert played.run.result.text == "hello"
    assert [block["x"] for block in blocks_in(played.after_requests[-1], "future_block")] == [1]


@promised("nothing visible was lost: sent again")
def _sent_again(played: Played) -> None:
    first, second = played.main
    assert first.body == second.body
    assert (shown_text(played), played.run.result.text) == ("hello", "hello")
    assert len(played.answers) == 1


@promised(
    "partial text is kept and marked incomplete, or the request is sent again and the partial is dropped; never both"
)
def _never_both(played: Played) -> None:
    kept = [message for message in played.answers if message.answer.incomplete]
    taken_back = played.run.of("tombstone")
    assert bool(kept) != bool(taken_back)
    assert shown_text(played) == "hello"
    sent = [block["text"] for block in blocks_in(played.after_requests[-1], "text")]
    assert not {"par", "whole", "I read"} & set(sent)


@promised("stop_reason is known: the response counts as complete")
def _complete(played: Played) -> None:
    assert played.run.of("api_retry", "tombstone") == []
    assert [run.name for run in played.runs] == ["Append" if played.mode.effects else "Read"]
    assert played.run.transitions == ["next_turn"]


@promised("says the endpoint did not answer as an API")
def _no_api(played: Played) -> None:
    assert "did not answer as an API" in played.error
    assert "log in to wifi" in played.error
    assert "<" not in played.error


@promised("the API key is never sent to another host")
def _stays_home(played: Played) -> None:
    assert played.seen["other_host"] == []


@promised("the offending image is replaced by a text note so that the session is not poisoned")
def _without_picture(played: Played) -> None:
    first, second = played.main
    assert len(blocks_in(first, "image")) == 1
    for request in (second, *played.after_requests):
        assert blocks_in(request, "image") == []
        assert "image" in json.dumps(request.body["messages"][2])


@promised("compaction runs once, then the turn goes on")
def _compacted_once(played: Played) -> None:
    assert len(played.summaries) == 1
    assert played.run.transitions == ["reactive_compact_retry"]
    assert played.run.result.text == "hello"


@promised("never an endless loop of compactions", "no endless compaction")
def _one_compaction(played: Played) -> None:
    assert len(played.summaries) <= 1
    assert sum("Write a summary of this conversation" in str(each.body) for each in played.after_requests) <= 1


@promised("at most 3 compactions")
def _few_compactions(played: Played) -> None:
    assert 1 <= len(played.summaries) <= 3


@promised("clear message with what to do")
def _advice(played: Played) -> None:
    assert "prompt is too long" in played.error
    assert re.search(r"compact|new session|shorter|smaller", played.error)


@promised("user message and all earlier turns stay in the transcript")
def _kept(played: Played) -> None:
    written = [json.dumps(record["blocks"]) for record in played.records if record["type"] == "message"]
    for text in (OPENING, "I remember 41.", PROMPT):
        assert any(text in message for message in written)
        assert any(text in message for message in spoken(played))


def spoken(played: Played) -> list[str]:
    return [message.text for message in played.engine.transcript]


@promised("thinking blocks are dropped once and the request is sent again")
def _without_thoughts(played: Played) -> None:
    first, second = played.main
    assert len(blocks_in(first, "thinking")) == 1
    assert blocks_in(second, "thinking") == []
    assert [blocks_in(each, "text") for each in (first, second)] == [blocks_in(first, "text")] * 2


@promised("history is repaired once and sent again")
def _repaired(played: Played) -> None:
    first, second = played.main
    assert [block["id"] for block in blocks_in(first, "tool_use")] == ["toolu_1"]
    assert blocks_in(second, "tool_use", "tool_result") == []


@promised("no second request is sent", "bounded", "no endless retry")
def _once(played: Played) -> None:
    assert played.attempts == 1
    assert played.run.of("api_retry") == []


@promised("HTML is not dumped raw")
def _no_html(played: Played) -> None:
    assert "blocked by proxy" in played.error
    assert "<" not in played.error


@promised("names the model")
def _model_named(played: Played) -> None:
    assert played.engine.model in played.error


@promised("the same body is not sent again")
def _another_body(played: Played) -> None:
    bodies = [request.raw for request in played.requests]
    assert len(set(bodies)) == len(bodies)


def only_delay(played: Played) -> float:
    [retry] = played.run.of("api_retry")
    return retry.delay_s


@promised("waits at least 2 s and less than 10 s")
def _as_told(played: Played) -> None:
    assert only_delay(played) == 2


@promised("date form is understood")
def _as_dated(played: Played) -> None:
    assert 0.5 < only_delay(played) <= 2.5


@promised("falls back to its own backoff", "no busy loop")
def _own_backoff(played: Played) -> None:
    assert is_own_backoff(1, only_delay(played))


@promised("bounded attempts, growing waits", "bounded attempts")
def _all_tries(played: Played) -> None:
    delays = [retry.delay_s for retry in played.run.of("api_retry")]
    assert len(delays) + 1 == LIMITS.tries
    assert all(is_own_backoff(attempt, delay) for attempt, delay in enumerate(delays, 1))
    growing = delays[:6]
    assert growing == sorted(growing)


@promised("memory growth under 200 MB")
def _small(played: Played) -> None:
    assert played.seen["grown"] < 200 * MEGABYTE


@promised("complete response is kept", "stop_reason was already known")
def _kept_whole(played: Played) -> None:
    assert played.run.of("api_retry", "tombstone", "notice") == []
    assert played.run.result.text == "hello"


@promised("no crash")
def _well(played: Played) -> None:
    assert played.run.result.text == "hello"


@promised("resume works; user message is there; no half line breaks the transcript")
def _resumed(played: Played) -> None:
    assert played.seen["exit"] == -9
    assert b'"text":"a"' not in played.seen["torn"]
    assert "Before the crash." in spoken(played)
    assert "Before the crash." in json.dumps(played.main[0].body["messages"])


@promised("model of the answer is recorded")
def _by_another(played: Played) -> None:
    [answer] = [record for record in played.records if record.get("answer", {}).get("model") == "other"]
    assert answer["answer"]["asked"] == played.engine.model


@promised("spinner says it is waiting")
def _waiting(played: Played) -> None:
    assert played.run.kinds[:2] == ["user", "request_start"]
    assert played.run.result.api_duration_s >= 0.2


@promised("text is only text: no tool runs, no approval is taken from it")
def _only_text(played: Played) -> None:
    _nothing_ran(played)
    assert played.run.result.text.startswith("<tool_result>rm ok</tool_result>")
    assert blocks_in(played.after_requests[-1], "tool_use", "tool_result") == []


@promised(
    "replacement character or error; transcript stays valid UTF-8", "saved and sent again without UnicodeEncodeError"
)
def _replaced(played: Played) -> None:
    assert "\N{REPLACEMENT CHARACTER}" in played.run.result.text
    sent = [block["text"] for block in blocks_in(played.after_requests[-1], "text")]
    assert played.run.result.text in sent


@promised(
    "allowed by the SSE standard",
    "data lines are joined with a newline",
    "type inside data is enough",
    "ignored",
)
def _read(played: Played) -> None:
    assert (shown_text(played), played.run.result.text, played.attempts) == ("hello", "hello", 1)


@promised("one assistant message")
def _one_message(played: Played) -> None:
    assert [message.text for message in played.answers] == ["hello"]


@promised("two blocks in order")
def _two_blocks(played: Played) -> None:
    [message] = played.answers
    assert [block.view.text for block in message.blocks] == ["a", "b"]


@promised("block is closed at the end")
def _closed(played: Played) -> None:
    assert len(played.runs) == 1
    assert not only_result(played).get("is_error")


@promised(
    "treated as end_turn or as incomplete; never a hang",
    "null stop_reason: end of the turn or incomplete, never a hang",
)
def _ended(played: Played) -> None:
    assert (played.run.result.text, played.run.result.stop_reason) == ("hello", None)


@promised("only the first counts, or both are joined; never mixed blocks")
def _only_first(played: Played) -> None:
    assert [message.text for message in played.answers] == ["hello"]
    assert shown_text(played) == "hello"


@promised("idle watchdog fires; pings count as life")
def _watched(played: Played) -> None:
    """That pings are life is a case of its own (`own-stall-ping`)."""
    [retry] = played.run.of("api_retry")
    assert (retry.error, shown_text(played)) == ("stalled", "hello")
    assert f"{SILENCE_S:g} s" in retry.text


@promised("idle limit fires (configurable, default <= 120 s)")
def _limited(played: Played) -> None:
    _watched(played)
    assert LIMITS.stall_s <= 120


@promised("the cut is said; unfinished tool_use is not executed; may ask the model to go on, bounded")
def _cut_told(played: Played) -> None:
    _nothing_ran(played)
    assert played.run.transitions == ["max_output_tokens_escalate"]
    assert [record["kind"] for record in played.records if record["type"] == "withheld"] == ["max_output_tokens"]
    assert [event.cause for event in played.run.of("tombstone")] == ["escalation"]


@promised("compaction or clear error")
def _made_room(played: Played) -> None:
    assert played.run.transitions == ["reactive_compact_retry"]
    assert len(played.summaries) == 1


@promised("refusal is shown; session goes on with the next prompt")
def _refused(played: Played) -> None:
    assert "refused" in played.error
    assert not played.after.result.is_error


@promised("turn ends; no empty user message is sent")
def _no_empty(played: Played) -> None:
    assert (played.run.result.text, played.attempts) == ("hi", 1)
    assert all(blocks_of(message) for message in played.after_requests[-1].body["messages"])


@promised("says host and reason")
def _host_named(played: Played) -> None:
    assert played.seen["host"] in played.error
    assert "connection refused" in played.error


@promised("block is dropped or kept as it is; the next request does not fail for ever")
def _unsigned(played: Played) -> None:
    assert blocks_in(played.main[1], "thinking") == []
    assert len(played.runs) == 1


@promised("data is sent back unchanged")
def _redacted(played: Played) -> None:
    assert blocks_in(played.main[1], "redacted_thinking") == [{"type": "redacted_thinking", "data": "abc"}]


@promised("not executed even if the model invents the call")
def _denied(played: Played) -> None:
    _nothing_ran(played)
    assert "no tool named Bash" in only_result(played)["content"]
    assert "Bash" not in [offered["name"] for offered in played.main[0].body["tools"]]


@promised("each call gets one result; ids made unique or the second refused")
def _unique(played: Played) -> None:
    uses = [block["id"] for block in blocks_in(played.main[1], "tool_use")]
    assert len(set(uses)) == len(uses) == 2
    assert [result["tool_use_id"] for result in played.results] == uses
    assert uses[0] == "toolu_1"


@promised("an id is made up, or the block is dropped")
def _given_an_id(played: Played) -> None:
    [use] = blocks_in(played.main[1], "tool_use")
    assert re.fullmatch(r"toolu_[\w-]+", use["id"])
    assert only_result(played)["tool_use_id"] == use["id"]
    assert len(played.runs) == 1


@promised("the model gets a tool_result with is_error and a useful text")
def _explained(played: Played) -> None:
    result = only_result(played)
    assert result["is_error"]
    assert re.search(
        r"not valid JSON|JSON object|nested too deeply|out of range|twice|file_path|NUL|null byte|half a Unicode",
        result["content"],
    )


@promised("runs, or is_error with a useful text")
def _run_or_explained(played: Played) -> None:
    if played.runs:
        assert README.strip() in only_result(played)["content"]
    else:
        assert only_result(played)["is_error"]
        assert re.search(r"zzz|limit|__proto__|__class__", only_result(played)["content"])


@promised("file not touched")
def _untouched(played: Played) -> None:
    assert played.world.readme.read_text() == README


@promised("next request is valid (name pattern ^[a-zA-Z0-9_-]{1,128}$)")
def _named_well(played: Played) -> None:
    [use] = blocks_in(played.main[1], "tool_use")
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", use["name"])
    assert only_result(played)["is_error"]


@promised("second is refused or forks; lines of both never mix inside one line")
def _second_refused(played: Played) -> None:
    assert played.seen["second"].startswith("refused: ")
    assert played.seen["second_errors"] == ""
    assert b"I am here, too." not in played.journal


@promised("cost shown as unknown or 0; no exception")
def _free(played: Played) -> None:
    assert played.run.of("usage") == []
    assert played.run.result.total_usd == played.before.result.total_usd


@promised("the key is hidden where the server echoes it")
def _masked(played: Played) -> None:
    assert "[key]" in played.error
    assert played.world.key not in played.error


@promised("no try is wasted on a wait of hours; the error says when to try again")
def _postponed(played: Played) -> None:
    assert played.run.of("api_retry") == []
    assert "The server asks to wait 1 h: try again after " in played.error


@promised("the fallback model answers in the same turn")
def _fell_back(played: Played) -> None:
    assert [request.body["model"] for request in played.main] == ["claude-sonnet-5"] * 3 + ["claude-haiku-4-5"]
    assert played.run.kinds.count("request_start") == 1
    assert played.after_requests[-1].body["model"] == "claude-haiku-4-5"


@promised("all pieces arrive")
def _all_arrived(played: Played) -> None:
    [size] = [
        item.get("repeat", item.get("repeat_text")) for item in played.case.responses[0]["sse"] if "event" not in item
    ]
    assert played.run.result.text == "x" * size


@promised("the broken attempt is taken back")
def _taken_back(played: Played) -> None:
    assert [event.cause for event in played.run.of("tombstone")] == ["retry"]
    assert (shown_text(played), len(played.answers)) == ("hello", 1)


@promised("pings are life")
def _pings(played: Played) -> None:
    assert played.run.result.api_duration_s > SILENCE_S
    assert (played.run.result.text, played.run.of("api_retry")) == ("hello", [])


@promised("the cut is told once nothing helped")
def _cut_released(played: Played) -> None:
    assert played.run.transitions == ["max_output_tokens_escalate"] + ["max_output_tokens_recovery"] * 3
    assert "cut off" in played.error


@promised("pauses are bounded")
def _few_pauses(played: Played) -> None:
    assert played.attempts == LIMITS.pauses + 1
    assert "paused" in played.error


@promised("the tools that there are are named")
def _tools_named(played: Played) -> None:
    content = only_result(played)["content"]
    assert all(name in content for name in ("Nope", "Read", "Bash"))


@promised("each of many calls gets its result")
def _all_answered(played: Played) -> None:
    uses = [block["id"] for block in blocks_in(played.main[1], "tool_use")]
    assert [result["tool_use_id"] for result in played.results] == uses
    assert len(uses) == len(set(uses)) == len(played.runs) == 40


@promised("a connection that died while it waited is replaced without a word")
def _replaced_connection(played: Played) -> None:
    first, second = played.main
    assert first.raw == second.raw
    assert (played.run.result.text, played.run.of("api_retry")) == ("hello", [])


@promised("the cut call is asked for again, with more room")
def _more_room(played: Played) -> None:
    first, second = played.main
    assert played.run.transitions == ["max_output_tokens_escalate"]
    assert first.body["max_tokens"] < second.body["max_tokens"]
    assert first.body["messages"] == second.body["messages"]

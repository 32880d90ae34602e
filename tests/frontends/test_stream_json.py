"""Stream-json: the lines that clients of the format read, over real HTTP and through a real pipe."""

import json

import pytest
from tests.frontends.golden import kinds_of, lines_of, settle, snapshot
from tests.frontends.readers import run_piped

from everturn.core.state import AbortCause
from everturn.core.stream import Fold
from everturn.frontends.headless.run import run_headless
from everturn.frontends.headless.view import Introduction
from everturn.models.anthropic.decode import decode_event
from everturn.modelserver import call, calls, cut, error, hold, overloaded, say, text, thinking, too_long, truncated
from everturn.ports.policy import Ruling, Verdict

PIECE = "input_json_delta"
INTRODUCTION = Introduction(
    version="0.1.0", folder="/project", tools=("Read", "Bash"), api_key_source="ANTHROPIC_API_KEY"
)
FIELDS = {
    "init": "apiKeySource claude_code_version cwd tools mcp_servers model permissionMode slash_commands output_style "
    "skills agents plugins",
    "assistant": "message parent_tool_use_id",
    "user": "message parent_tool_use_id",
    "stream_event": "event parent_tool_use_id",
    "api_retry": "attempt max_retries retry_delay_ms error_status error",
    "permission_denied": "tool_name tool_use_id decision_reason message",
    "tool_progress": "tool_use_id tool_name parent_tool_use_id elapsed_time_seconds",
    "informational": "content level",
    "compact_boundary": "compact_metadata",
    "transition": "transition turn",
    "tombstone": "message_id uuids cause",
    "request_start": "turn model",
    "cache_break": "segment cause kept_messages tokens cost_usd turn",
    "local_command_output": "content",
    "result": "subtype is_error duration_ms duration_api_ms num_turns num_rounds stop_reason total_cost_usd usage modelUsage "
    "permission_denials terminal_reason",
}
"""What the conventions promise for each kind, besides `type`, `uuid` and `session_id`."""


async def stream(engine, prompt="Do it.", **options):
    code, written, complaints = await run_piped(engine, prompt, output_format="stream-json", **options)
    assert complaints == ""
    for line in lines_of(written):
        kind = line.get("subtype", line["type"]) if line["type"] == "system" else line["type"]
        promised = {"type", "uuid", "session_id", *FIELDS.get(kind, "").split()}
        assert promised <= line.keys(), f"{kind} lacks {promised - line.keys()}"
    ids = [line["uuid"] for line in lines_of(written)]
    assert len(set(ids)) == len(ids)
    return code, written


async def test_a_query_with_a_retry_a_call_and_a_cut_stream_reads_like_this(bench):
    (bench.folder / "a.txt").write_text("hello\n")
    look = say(thinking("I look."), "Reading.", calls(("Read", {"file_path": "a.txt"})))
    bench.model(overloaded(), look, cut("Half an ans"), text("It says hello."))

    code, written = await stream(bench.engine(streaming_tools=False), introduction=INTRODUCTION)

    assert code == 0
    assert settle(written, bench.folder) == snapshot("query.jsonl")


async def test_partial_messages_are_events_of_the_api_and_come_before_the_whole_message(bench):
    (bench.folder / "a.txt").write_text("hello\n")
    bench.model(
        say(thinking("I look."), "Reading.", calls(("Read", {"file_path": "a.txt"}))),
        cut("Half an ans"),
        text("Done.", chunk=3),
    )

    code, written = await stream(bench.engine(streaming_tools=False), include_partial=True)

    assert code == 0
    assert settle(written, bench.folder) == snapshot("partial.jsonl")


async def test_partial_messages_add_up_to_the_whole_ones(bench):
    (bench.folder / "a.txt").write_text("hello\n")
    look = calls(("Read", {"file_path": "a.txt"}), ("Glob", {"pattern": "*"}))
    bench.model(say(thinking("I look."), "Reading.", look, chunk=4), cut("Half an ans"), say(), text("Done."))

    _, written = await stream(bench.engine(), include_partial=True)

    folds: dict[str, Fold] = {}
    for line in lines_of(written):
        match line:
            case {"type": "stream_event", "event": {"type": "message_start", "message": {"id": id_}} as event}:
                folds[id_] = fold = Fold(str)
                fold.feed(decode_event(json.dumps(event).encode()))
            case {"type": "stream_event", "event": event}:
                fold.feed(decode_event(json.dumps(event).encode()))
    whole: dict[str, dict] = {}
    for message in (line["message"] for line in lines_of(written) if line["type"] == "assistant"):
        before = whole.get(message["id"], {"content": []})["content"]
        whole[message["id"]] = message | {"content": before + message["content"]}
    kept = {id_: fold for id_, fold in folds.items() if fold.ended}
    assert {id_: [json.loads(block.raw) for block in fold.blocks] for id_, fold in kept.items()} == {
        id_: message["content"] for id_, message in whole.items()
    }
    # A call that began was told before the end of its answer was known.
    assert all(whole[id_]["stop_reason"] in {None, fold.stop_reason} for id_, fold in kept.items())
    assert [fold.model for fold in kept.values()] == [message["model"] for message in whole.values()]
    assert len(folds) == len(kept) + 1


async def test_a_call_is_named_when_it_begins_and_grows_piece_by_piece(bench):
    bench.model(calls(("Glob", {"pattern": "*.py"}), chunk=6), text("Done."))

    _, written = await stream(bench.engine(), include_partial=True)

    events = [line["event"] for line in lines_of(written) if line["type"] == "stream_event"]
    answer = next(line["message"] for line in lines_of(written) if line["type"] == "assistant")
    assert events[1]["content_block"] == answer["content"][0] | {"input": {}}
    pieces = [event["delta"]["partial_json"] for event in events if event.get("delta", {}).get("type") == PIECE]
    assert len(pieces) > 1
    assert json.loads("".join(pieces)) == {"pattern": "*.py"}


async def test_a_tombstone_names_the_message_whose_partial_events_were_shown(bench):
    bench.model(cut("Half an ans"), text("Whole."))

    _, written = await stream(bench.engine(), include_partial=True)

    started = [
        line["event"]["message"]["id"]
        for line in lines_of(written)
        if line["type"] == "stream_event" and line["event"]["type"] == "message_start"
    ]
    [tombstone] = [line for line in lines_of(written) if line.get("subtype") == "tombstone"]
    [answer] = [line for line in lines_of(written) if line["type"] == "assistant"]
    assert started == [tombstone["message_id"], answer["message"]["id"]]
    assert (tombstone["cause"], tombstone["uuids"]) == ("retry", [])


async def test_every_continue_is_a_transition_line(bench):
    (bench.folder / "a.txt").write_text("hello\n")
    bench.model(calls(("Read", {"file_path": "a.txt"})), truncated("Half"), truncated("Half of"), text(" it."))

    _, written = await stream(bench.engine())

    told = [(line["transition"], line["turn"]) for line in lines_of(written) if line.get("subtype") == "transition"]
    assert told == [("next_turn", 2), ("max_output_tokens_escalate", 2), ("max_output_tokens_recovery", 2)]


async def test_a_failure_of_the_api_is_an_answer_with_an_error_and_a_success_that_is_one(bench):
    bench.model(error(401))

    code, written = await stream(bench.engine())

    *_, answer, result = lines_of(written)
    assert code == 1
    assert (answer["type"], answer["error"], answer["message"]["model"]) == (
        "assistant",
        "authentication_failed",
        "<synthetic>",
    )
    assert answer["message"]["content"] == [{"type": "text", "text": result["result"]}]
    assert (result["subtype"], result["is_error"], result["terminal_reason"]) == ("success", True, "api_error")
    assert result["api_error_status"] == 401
    assert "errors" not in result


async def test_a_limit_is_named_in_errors_and_there_is_no_result_text(bench):
    (bench.folder / "a.txt").write_text("hello\n")
    bench.model(calls(("Read", {"file_path": "a.txt"})))

    code, written = await stream(bench.engine(max_turns=1))

    result = lines_of(written)[-1]
    assert code == 1
    assert (result["subtype"], result["terminal_reason"]) == ("error_max_turns", "max_turns")
    assert result["errors"] != []
    assert "result" not in result


async def test_a_denied_call_is_told_at_once_and_listed_in_the_result(bench):
    bench.model(call("Bash", {"command": "rm -rf /"}, call_id="toolu_1"), text("Then not."))

    _, written = await stream(bench.engine())

    lines = lines_of(written)
    [denied] = [line for line in lines if line.get("subtype") == "permission_denied"]
    assert (denied["tool_name"], denied["tool_use_id"]) == ("Bash", "toolu_1")
    assert lines[-1]["permission_denials"] == [
        {
            "tool_name": "Bash",
            "tool_use_id": "toolu_1",
            "tool_input": {"command": "rm -rf /"},
            "decision_reason": denied["decision_reason"],
            "decision_cause": "irreversible",
            "nobody_asked": True,
        }
    ]
    assert (denied["decision_cause"], denied["nobody_asked"]) == ("irreversible", True)
    # No rule and no mode approves it, so that neither of them is to blame.
    assert "decision_reason_type" not in denied


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"disallowed_tools": ["Bash(touch:*)"]}, "rule"),
        ({"ask_tools": ["Bash(touch:*)"]}, "rule"),
        ({"ask_tools": ["Bash(touch:*)"], "permission_mode": "dontAsk"}, "mode"),
        ({"permission_mode": "plan"}, "mode"),
        ({}, "mode"),
    ],
)
async def test_a_denial_says_whether_a_rule_or_the_mode_decided(bench, options, said):
    bench.model(call("Bash", {"command": "touch a"}), text("Then not."))

    _, written = await stream(bench.engine(**options))

    lines = lines_of(written)
    [denied] = [line for line in lines if line.get("subtype") == "permission_denied"]
    assert [denied["decision_reason_type"], lines[-1]["permission_denials"][0]["decision_reason_type"]] == [said, said]


class Refusing:
    async def approve(self, call, reason):
        return Verdict(ruling=Ruling.DENY, reason="no")


async def test_a_persons_no_is_neither_a_rule_nor_the_mode(bench):
    bench.model(call("Bash", {"command": "touch a"}), text("Then not."))

    _, written = await stream(bench.engine(approver=Refusing()))

    lines = lines_of(written)
    [denied] = [line for line in lines if line.get("subtype") == "permission_denied"]
    assert "decision_reason_type" not in denied
    assert "decision_reason_type" not in lines[-1]["permission_denials"][0]


async def test_a_denial_for_want_of_a_person_says_what_would_have_let_it_run(bench):
    bench.model(
        calls(("Write", {"file_path": "a.txt", "content": ""}), ("mcp__a__b", {}), ("WebSearch", {"query": "x"})),
        text("Then not."),
    )

    _, written = await stream(bench.engine())

    [write] = lines_of(written)[-1]["permission_denials"]
    assert write["permission_suggestions"] == [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]


async def test_each_tool_result_is_a_line_of_its_own_with_its_shown_half(bench):
    for name in ("a.txt", "b.txt"):
        (bench.folder / name).write_text(f"{name}\n")
    bench.model(calls(("Read", {"file_path": "a.txt"}), ("Read", {"file_path": "b.txt"})), text("Both."))

    _, written = await stream(bench.engine())

    shown = [line["tool_use_result"]["file"]["content"] for line in lines_of(written) if line["type"] == "user"]
    # Each line comes when its call ends, and readers run side by side.
    assert sorted(shown) == ["a.txt", "b.txt"]


async def test_no_line_is_longer_than_a_mebibyte_however_long_an_answer_is(bench):
    long = "ä" * 400_000
    (bench.folder / "a.txt").write_text("x")
    bench.model(
        calls(("Write", {"file_path": "b.txt", "content": long * 2}), verbatim=True, chunk=100_000), text("Written.")
    )

    _, written = await stream(bench.engine(permission_mode="bypassPermissions"))

    assert max(len(line.encode()) for line in written.splitlines(keepends=True)) <= 1 << 20
    cut_lines = [line for line in lines_of(written) if line.get("truncated")]
    assert [line["type"] for line in cut_lines] == ["assistant", "user"]
    assert "characters left out" in cut_lines[0]["message"]["content"][0]["input"]["content"]
    assert (bench.folder / "b.txt").read_text() == long * 2


async def test_prompts_are_repeated_only_on_request_and_hidden_words_are_marked(bench):
    bench.model(truncated("Half"), truncated("Half"), text(" done."))

    _, written = await stream(bench.engine(), "Write.", replay_prompts=True)

    users = [line for line in lines_of(written) if line["type"] == "user"]
    assert users[0]["isReplay"] is True
    assert users[0]["message"]["content"] == [{"type": "text", "text": "Write."}]
    assert [line.get("isSynthetic") for line in users[1:]] == [True]


async def test_a_switch_of_the_model_is_a_notice(bench):
    bench.model(overloaded(), overloaded(), overloaded(), text("Hello."))

    _, written = await stream(bench.engine(fallback_models=["claude-haiku-4-5"]), include_partial=True)

    [notice] = [line for line in lines_of(written) if line.get("subtype") == "informational"]
    assert notice["level"] == "notice"
    assert notice["content"].startswith("Switched from claude-sonnet-5 to claude-haiku-4-5")
    [start] = [line["event"] for line in lines_of(written) if line.get("event", {}).get("type") == "message_start"]
    assert start["message"]["model"].startswith("claude-haiku-4-5")


@pytest.mark.parametrize(("cause", "code"), [(AbortCause.USER, 130), (AbortCause.TERMINATED, 143)])
async def test_an_abort_ends_with_its_result_line_and_its_code(bench, cause, code):
    bench.model(hold(text("Hello there", chunk=5)))
    engine = bench.engine()

    class Aborting(list):
        def write(self, data):
            self.append(data)
            if b"text_delta" in data:
                engine.abort(cause)

        def flush(self):
            pass

    out = Aborting()
    ended = await run_headless(engine, "Hi.", out=out, err=None, output_format="stream-json", include_partial=True)

    result = json.loads(out[-1])
    assert ended == code
    assert (result["type"], result["subtype"], result["terminal_reason"]) == (
        "result",
        "error_during_execution",
        "aborted_streaming",
    )


async def test_an_empty_prompt_is_an_error_result_and_a_usage_code(bench):
    code, written = await stream(bench.engine(), "   ")

    assert code == 2
    assert kinds_of(written) == ["init", "result"]
    assert lines_of(written)[-1]["errors"] == ["prompt: it is empty"]


async def test_json_is_the_result_alone(bench):
    bench.model(text("Hello."))

    code, written, complaints = await run_piped(bench.engine(), output_format="json")

    [result] = lines_of(written)
    assert (code, complaints) == (0, "")
    assert (result["type"], result["result"], result["num_turns"]) == ("result", "Hello.", 1)
    [spent] = result["modelUsage"].values()
    assert spent.keys() == {
        "inputTokens",
        "outputTokens",
        "cacheReadInputTokens",
        "cacheCreationInputTokens",
        "webSearchRequests",
        "costUSD",
        "contextWindow",
        "maxOutputTokens",
    }


async def test_a_plan_tells_the_mode_and_a_list_both_of_its_states(bench):
    class Person:
        async def approve(self, call, reason):
            return Verdict(ruling=Ruling.ALLOW, reason="yes")

    todo = {"content": "Look", "status": "pending", "activeForm": "Looking"}
    bench.model(calls(("EnterPlanMode", {}), ("TodoWrite", {"todos": [todo]})), text("Done."))

    _, written = await stream(bench.engine(approver=Person()))

    lines = lines_of(written)
    assert [line["permissionMode"] for line in lines if line.get("subtype") == "status"] == ["plan"]
    assert [line["tool_use_result"] for line in lines if "tool_use_result" in line] == [
        {"oldTodos": [], "newTodos": [todo]}
    ]


def work_of(written):
    """What is told of a compaction, in its order."""
    lines = [line for line in lines_of(written) if line.get("subtype") in {"status", "compact_boundary"}]
    return [line.get("status") if line["subtype"] == "status" else "boundary" for line in lines]


FULL = say("Some words. " * 40, usage={"input_tokens": 17_000, "cache_creation": None})
SMALL = [{"id": "claude-sonnet-5", "window": 20_000, "max_output": 2_000}]


@pytest.mark.parametrize(("first", "then"), [(FULL, ()), (text("Some words. " * 40), (too_long(),))], ids=str)
async def test_a_compaction_by_itself_is_told_while_it_works_like_one_by_hand(bench, first, then):
    bench.model(first, *then, text("Went on."), bench.summary())
    engine = bench.engine(models=SMALL)
    await bench.go_on(engine, "Begin.")

    code, written = await stream(engine)

    assert (code, work_of(written)) == (0, ["compacting", "boundary", None])


async def test_a_compaction_by_itself_that_fails_has_an_end_too(bench):
    bench.model(FULL, text("Went on."), bench.summary(""))
    engine = bench.engine(models=SMALL)
    await bench.go_on(engine, "Begin.")

    code, written = await stream(engine)

    assert (code, work_of(written)) == (0, ["compacting", None])


async def test_a_compaction_by_itself_that_is_aborted_has_an_end_too(bench):
    bench.model(FULL, bench.summary(hold("Never said.", after=-1)))
    engine = bench.engine(models=SMALL)
    await bench.go_on(engine, "Begin.")
    run = await bench.go_on(
        engine, on_event=lambda event: engine.abort() if event.__struct_config__.tag == "compaction_start" else None
    )

    assert [kind for kind in run.kinds if kind.startswith("compaction")] == ["compaction_start", "compaction_end"]


async def test_where_nothing_can_be_compacted_nobody_is_told_of_work(bench):
    _, written = await stream(bench.engine(), "/compact")

    assert work_of(written) == []

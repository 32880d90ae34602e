"""UserPromptSubmit, SessionStart, Stop and what else surrounds a query."""

import json

import pytest
from tests.scenarios.hooked import command, notices, on

from everturn.core.state import Reason
from everturn.modelserver import call, error, text


def answer(event: str, **special) -> dict:
    told = json.dumps({"hookSpecificOutput": {"hookEventName": event, **special}})
    return command(f"cat > /dev/null; echo '{told}'")


async def test_trap_3_plain_output_is_context_for_prompts_and_starts_alone(bench, hooked):
    hooked.user(
        UserPromptSubmit=[on(None, command("echo It is raining."))],
        SessionStart=[on("startup", command("echo The build is green."))],
        PostToolUse=[on("", command("echo Nobody hears this."))],
    )
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))

    await hooked.run()

    assert "It is raining." in str(bench.sent[0])
    assert "The build is green." in str(bench.sent[0])
    assert "Nobody hears this." not in str(bench.sent)


async def test_trap_3_only_what_begins_with_a_brace_is_json(bench, hooked):
    hooked.user(
        UserPromptSubmit=[
            on(None, command("""echo '["a list"]'"""), command("""echo '"quoted"'"""), command("echo '{broken'"))
        ]
    )
    bench.model(text("Done."))

    await hooked.run()

    sent = str(bench.sent[0])
    assert all(words in sent for words in ("a list", "quoted", "{broken"))


async def test_a_refused_prompt_is_not_kept_and_nobody_is_called(bench, hooked):
    hooked.user(UserPromptSubmit=[on(None, command(hooked.noting("told", "echo no secrets here >&2; exit 2")))])
    bench.model(text("never"))
    engine = hooked.engine()

    run = await bench.go_on(engine, "My password is hunter2.")

    assert run.reason is Reason.PROMPT_BLOCKED
    assert (run.result.subtype, run.result.is_error, run.result.exit) == ("success", True, 1)
    assert run.result.terminal_reason == "prompt_blocked"
    assert "no secrets here" in run.result.text
    assert (run.result.num_turns, run.result.rounds) == (0, 0)
    assert bench.requests == []
    assert engine.transcript == ()
    assert hooked.told("told")[0]["prompt"] == "My password is hunter2."
    assert "hunter2" not in bench.session_file(engine.session_id).read_text()


async def test_after_a_refused_prompt_the_next_one_is_answered(bench, hooked):
    guard = hooked.script("guard.sh", "grep -q secret && { echo no >&2; exit 2; }; exit 0")
    hooked.user(UserPromptSubmit=[on(None, command(guard))])
    bench.model(text("Hello."))
    engine = hooked.engine()
    await bench.go_on(engine, "A secret.")

    run = await bench.go_on(engine, "Good day.")

    assert run.result.text == "Hello."
    assert "secret" not in str(bench.sent)


async def test_a_json_block_refuses_and_its_context_is_not_told(bench, hooked):
    told = json.dumps({"decision": "block", "reason": "ask again tomorrow"})
    hooked.user(UserPromptSubmit=[on(None, command(f"cat > /dev/null; echo '{told}'"))])
    bench.model(text("never"))

    run = await hooked.run()

    assert run.reason is Reason.PROMPT_BLOCKED
    assert "ask again tomorrow" in run.result.errors[0]


async def test_a_stop_hook_sends_the_model_back_until_it_is_content(bench, hooked):
    once = hooked.script(
        "once.sh",
        'cat >> "$DIR/told"; echo >> "$DIR/told"; [ -e "$DIR/seen" ] && exit 0; touch "$DIR/seen"; echo The tests fail. >&2; exit 2',
    )
    hooked.user(Stop=[on(None, command(once))])
    bench.model(text("Done."), text("Now it is."))

    run = await hooked.run()

    assert run.transitions == ["stop_hook_blocking"]
    assert "The tests fail." in str(bench.sent[1][-1])
    first, second = hooked.told("told")
    assert (first["stop_hook_active"], second["stop_hook_active"]) == (False, True)
    assert (first["last_assistant_message"], first["background_tasks"], first["session_crons"]) == ("Done.", [], [])


async def test_what_a_stop_hook_adds_sends_the_model_back_and_finds_no_fault(bench, hooked):
    added = {"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "The docs are in docs/."}}
    hooked.user(
        Stop=[
            on(None, command(hooked.noting("told", f"test $(wc -l < $DIR/told) -gt 1 || echo '{json.dumps(added)}'")))
        ]
    )
    bench.model(text("Done."), text("Done, with the docs."))

    run = await hooked.run()

    assert run.transitions == ["stop_hook_blocking"]
    [told] = bench.sent[1][-1]["content"]
    assert (
        told["text"] == "<system-reminder>\nA Stop hook of the user adds:\nThe docs are in docs/.\n</system-reminder>"
    )
    assert [each["stop_hook_active"] for each in hooked.told("told")] == [False, True]


async def test_a_stop_hook_may_prevent_going_on(bench, hooked):
    hooked.user(
        Stop=[
            on(None, command("echo more >&2; exit 2")),
            on(None, command("""echo '{"continue": false, "stopReason": "enough"}'""")),
        ]
    )
    bench.model(text("Done."))

    run = await hooked.run()

    assert run.reason is Reason.STOP_HOOK_PREVENTED


async def test_the_beginning_and_the_end_of_a_session_are_told(bench, hooked):
    hooked.user(
        SessionStart=[on("startup|resume", command(hooked.noting("began")))],
        SessionEnd=[on(None, command(hooked.noting("ended")))],
    )
    bench.model(text("Hello."), text("Again."), text("Once more."))
    engine = hooked.engine()
    await bench.go_on(engine)
    await bench.go_on(engine)
    await engine.aclose()
    again = hooked.engine(resume=engine.session_id)
    await bench.go_on(again)
    await again.aclose()

    assert [told["source"] for told in hooked.told("began")] == ["startup", "resume"]
    assert [told["reason"] for told in hooked.told("ended")] == ["other", "other"]


async def test_a_cleared_conversation_ends_and_begins_anew(bench, hooked):
    hooked.user(
        SessionStart=[on("clear", command(hooked.noting("began")))],
        SessionEnd=[on("clear", command(hooked.noting("ended")))],
    )
    bench.model(text("Hello."), text("Again."))
    engine = hooked.engine()
    await bench.go_on(engine)
    fresh = engine.clear()
    bench.engines.append(fresh)
    await bench.go_on(fresh)
    await engine.aclose()

    assert [told["session_id"] for told in hooked.told("ended")] == [engine.session_id]
    assert [told["session_id"] for told in hooked.told("began")] == [fresh.session_id]


async def test_the_hooks_of_a_sessions_end_share_a_short_time(bench, hooked):
    hooked.user(SessionEnd=[on(None, command("sleep 600"), command(hooked.noting("ended")))])
    bench.model(text("Hello."))
    engine = hooked.engine()
    await bench.go_on(engine)

    await engine.aclose()

    assert len(hooked.told("ended")) == 1


async def test_a_failed_query_is_told_by_the_kind_of_its_error(bench, hooked):
    hooked.user(
        StopFailure=[
            on("authentication_failed", command(hooked.noting("told"))),
            on("rate_limit", command(hooked.noting("never"))),
        ]
    )
    bench.model(error(401, "authentication_error", "bad key"))
    engine = hooked.engine()

    run = await bench.go_on(engine)
    await engine.aclose()

    assert run.reason is Reason.MODEL_ERROR
    [told] = hooked.told("told")
    assert (told["error"], told["error_details"]) == ("authentication_failed", "model_error")
    assert hooked.told("never") == []


async def test_compaction_hooks_hear_of_it_and_may_refuse(bench, hooked):
    hooked.user(
        PreCompact=[on("manual", command(hooked.noting("before")))],
        PostCompact=[on(None, command(hooked.noting("after")))],
    )
    bench.model(text("Earlier. " * 200), text("Fine."), bench.summary())
    engine = hooked.engine()
    await bench.go_on(engine)
    await bench.go_on(engine)
    [_ async for _ in engine.compact("keep the names")]

    [before], [after] = hooked.told("before"), hooked.told("after")
    assert (before["trigger"], before["custom_instructions"]) == ("manual", "keep the names")
    assert (after["trigger"], after["compact_summary"]) == ("manual", "What happened, in short.")

    hooked.user(PreCompact=[on(None, command("echo not now >&2; exit 2"))])
    bench.model(text("Earlier. " * 200), text("Fine."), bench.summary())
    engine = hooked.engine()
    await bench.go_on(engine)
    *_, last = [event async for event in engine.compact()]
    assert "not now" in last.text


@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop", "SessionStart"])
async def test_a_message_for_the_person_is_shown(bench, hooked, event):
    hooked.user({}, **{event: [on(None, command("""echo '{"systemMessage": "Mind the gap."}'"""))]})
    bench.model(text("Done."))

    run = await hooked.run()

    assert "Mind the gap." in notices(run)
    assert "Mind the gap." not in str(bench.sent)


async def test_after_a_compaction_the_start_is_told_again_and_the_model_hears_what_the_hook_says(bench, hooked):
    hooked.user(SessionStart=[on("compact", command(hooked.noting("starts", 'echo "The ticket is EV-12."')))])
    bench.model(text("Earlier. " * 200), bench.summary(), text("Went on."))
    engine = hooked.engine()
    await bench.go_on(engine)
    assert hooked.told("starts") == []

    [_ async for _ in engine.compact()]
    await bench.go_on(engine, "Go on.")

    assert [told["source"] for told in hooked.told("starts")] == ["compact"]
    assert "The ticket is EV-12." in str(bench.sent[-1])

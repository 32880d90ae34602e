"""The journal: a record is on disk before its event is shown, for its owner's eyes only, and never with a key."""

import stat

import pytest

from everturn.core.state import Reason
from everturn.modelserver import call, cut, error, overloaded, say, text, too_long, truncated

KEY = "sk-ant-api03-made-up-9fK2xQ7wLp4Tz8VbN3cR6yHd-key-for-tests"
RECORD_OF = {
    "user": "message",
    "assistant": "message",
    "tombstone": "retracted",
    "transition": "transition",
    "usage": "usage",
    "context": "context",
    "fallback": "model",
    "command": "command",
    "terminal": "terminal",
}


async def test_every_record_is_written_before_its_event_is_shown(bench):
    bench.model(
        *(text("Earlier. " * 50), too_long(), cut("Hel")),
        *(truncated("Half"), call("Glob", {"pattern": "*"})),
        *(overloaded(), overloaded(), overloaded(), text("Done.")),
        bench.summary(),
    )
    engine = bench.engine(fallback_models=["claude-opus-5"])
    engine.enqueue("Use tabs.")
    shown = []

    def check(event):
        kind = event.__struct_config__.tag
        if kind in RECORD_OF:
            shown.append(RECORD_OF[kind])
            written = [record["type"] for record in bench.records(engine.session_id)]
            assert written.count(RECORD_OF[kind]) >= shown.count(RECORD_OF[kind])

    await bench.go_on(engine, on_event=check)
    await bench.go_on(engine, on_event=check)

    assert set(shown) == set(RECORD_OF.values())


async def test_the_intent_of_a_call_is_written_before_it_runs_and_settled_after(bench):
    bench.model(call("Bash", {"command": "umask 077; cat ../home/projects/*/*.jsonl"}), text("Done."))
    engine = bench.engine(permission_mode="bypassPermissions")

    await bench.go_on(engine)

    types = [record["type"] for record in bench.records(engine.session_id)]
    assert types.index("intent") < types.index("settled")
    [result] = bench.sent[1][-1]["content"]
    assert '"type":"intent"' in result["content"]
    assert '"type":"settled"' not in result["content"]


async def test_a_read_only_call_needs_no_intent(bench):
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))
    engine = bench.engine()

    await bench.go_on(engine)

    assert "intent" not in {record["type"] for record in bench.records(engine.session_id)}


async def test_transition_and_reason_are_in_it(bench):
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))
    engine = bench.engine()

    run = await bench.go_on(engine)

    records = bench.records(engine.session_id)
    assert [record["transition"] for record in records if record["type"] == "transition"] == run.transitions
    assert [record["reason"] for record in records if record["type"] == "terminal"] == [run.reason]


async def test_files_are_for_their_owner_only(bench):
    bench.model(text("Hello."))
    engine = bench.engine()

    await bench.go_on(engine)

    path = bench.session_file(engine.session_id)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("status", [400, 401, 500])
async def test_a_key_that_the_server_repeats_reaches_neither_journal_nor_events(bench, status):
    bench.model(error(status, message="the key {APIKEY} is no good"))
    engine = bench.engine(max_retries=1)

    run = await bench.go_on(engine)

    assert run.reason is Reason.MODEL_ERROR
    assert KEY not in str(run.events)
    assert all(KEY.encode() not in path.read_bytes() for path in bench.home.rglob("*") if path.is_file())


async def test_a_key_does_not_reach_the_commands_that_run(bench, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    bench.model(call("Bash", {"command": "env"}), text("Done."))

    await bench.run(permission_mode="bypassPermissions")

    assert KEY not in str(bench.sent)


async def test_a_session_that_is_not_kept_leaves_nothing_behind(bench):
    bench.model(say("Hello."))

    run = await bench.run(persist=False)

    assert run.reason is Reason.COMPLETED
    assert not bench.home.exists()

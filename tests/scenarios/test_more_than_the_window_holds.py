"""What must be kept is more than the window, or all of it is: the session goes on, and what is out of sight is in a file."""

import re
from pathlib import Path

import pytest

from everturn.core.errors import OptionError
from everturn.core.state import Reason
from everturn.modelserver import Model, call, error, hold, say, text, when

SMALL = {"id": "claude-sonnet-5", "window": 20_000, "max_output": 2_000}
LARGE = {"id": "claude-opus-5", "window": 400_000, "max_output": 8_000}
SERVED = [Model(id="claude-sonnet-5", window=20_000), Model(id="claude-opus-5", window=400_000)]
COLLAPSED = when("It was done.", last_user_contains="finished stretch")
SUMMARISERS = {
    "works": "What happened, in short.",
    "stalls": hold("x", after=2),
    "fails": error(400, message="no"),
    "says nothing": say("  ", verbatim=True),
}


def changes(run):
    return [(event.stage, event.cause) for event in run.of("context")]


def read(path):
    return Path(path).read_text()


def allow_refusals(bench):
    """That a request is too long for its window is what these are about."""
    bench.expected_refusals = [request.refused for request in bench.requests if request.refused]
    assert set(bench.expected_refusals) <= {"window"}


async def test_a_list_of_changed_files_that_is_larger_than_the_window_is_in_a_file(bench):
    paths = [str(bench.folder / "a_long_name_of_a_folder" / f"module_number_{number:04d}.py") for number in range(400)]
    rounds = [
        say(*(call("Write", {"file_path": path, "content": "x"}) for path in paths[at : at + 20]))
        for at in range(0, len(paths), 20)
    ]
    bench.model(*rounds, text("Done."), bench.summary(), COLLAPSED, window=20_000)
    engine = bench.engine(models=[SMALL], permission_mode="bypassPermissions")

    run = await bench.go_on(engine, "Write them.")

    assert (run.reason, run.result.text) == (Reason.COMPLETED, "Done.")
    sent = str(bench.sent[-1])
    [where] = set(re.findall(r"characters are left out here; all of it is in (\S+), which Read", sent))
    kept = read(where)
    assert kept.startswith("## Files changed so far")
    assert [path for path in paths if path not in kept and path not in sent] == []
    assert "Write them." in sent
    allow_refusals(bench)


@pytest.mark.parametrize("kind", SUMMARISERS)
async def test_a_model_with_a_twentieth_of_the_window_takes_over(bench, kind):
    talk = [text("A long answer with many words. " * 300)] * 16
    bench.model(*talk, *[text("Went on.")] * 2, bench.summary(SUMMARISERS[kind]), models=SERVED, chunk=5_000)
    options = {"models": [SMALL, LARGE], "limits": {"summary_s": 0.3}}
    engine = bench.engine(**options, model="claude-opus-5")
    for number in range(16):
        await bench.go_on(engine, f"Prompt {number}. " + "Please say more about this. " * 480)
    await engine.aclose()
    again = bench.engine(**options, model="claude-sonnet-5", resume=engine.session_id)

    runs = [await bench.go_on(again, prompt) for prompt in ("Go on.", "And on.")]

    assert [(run.reason, run.result.text) for run in runs] == [(Reason.COMPLETED, "Went on.")] * 2
    assert changes(runs[0]) == ([("compact", "auto")] if kind == "works" else [("snip", "no_summary")])
    allow_refusals(bench)


async def test_one_query_whose_work_is_ten_windows_of_the_model_that_takes_over(bench):
    """Nothing of it may be snipped or cleared: all of it is work in progress, and in words."""
    talk = [say("Some words about it. " * 600, call("Bash", {"command": f"echo {number}"})) for number in range(60)]
    bench.model(*talk, models=SERVED, chunk=5_000)
    options = {"models": [SMALL, LARGE], "permission_mode": "bypassPermissions"}
    engine = bench.engine(**options, model="claude-opus-5", max_turns=60)
    first = await bench.go_on(engine, "Do all of it.")
    assert first.reason is Reason.MAX_TURNS
    await engine.aclose()
    bench.model(text("Went on."), bench.summary(), models=SERVED)

    run = await bench.run("Go on.", **options, model="claude-sonnet-5", resume=engine.session_id)

    assert (run.reason, run.result.text) == (Reason.COMPLETED, "Went on.")
    assert changes(run) == [("compact", "auto")]
    allow_refusals(bench)


async def test_words_that_are_larger_than_the_window_and_come_while_it_works_are_in_a_file(bench):
    """No call for a summary could hold them: they belong to the round in progress."""
    bench.model(
        *(call("Bash", {"command": f"echo {n}"}) for n in range(4)), text("Done."), bench.summary(), window=20_000
    )
    engine = bench.engine(models=[SMALL], permission_mode="bypassPermissions")
    words = iter([f"Do this, too: {'one more of many words ' * 10_000}"])

    def send_meanwhile(event):
        if event.__struct_config__.tag == "tool_end" and (said := next(words, None)):
            engine.enqueue(said)

    run = await bench.go_on(engine, "Begin with this.", on_event=send_meanwhile)

    assert (run.reason, run.result.text, changes(run)) == (Reason.COMPLETED, "Done.", [("compact", "too_long")])
    *_, notice = run.of("notice")
    assert notice.text.endswith("What must not be lost was kept, and nothing else.")
    sent = str(bench.sent[-1])
    assert ("Begin with this." in sent, "Do this, too: one more" in sent) == (True, True)
    [where] = re.findall(r"characters are left out here; all of it is in (\S+), which Read", sent)
    assert read(where).count("one more of many words") == 10_000
    allow_refusals(bench)


async def test_a_memory_file_that_has_become_larger_than_the_window_is_in_a_file(bench):
    rules = {"rules": "Be brief."}
    bench.model(text("Yes."), text("Done."), bench.summary(), window=20_000)
    engine = bench.engine(models=[SMALL], user_context=lambda: dict(rules))
    await bench.go_on(engine, "Begin.")
    rules["rules"] = "A rule of many. " * 20_000

    run = await bench.go_on(engine, "Go on.")

    assert (run.reason, run.result.text) == (Reason.COMPLETED, "Done.")
    assert "A rule of many. A rule of many." in str(bench.sent[-1])
    allow_refusals(bench)


@pytest.mark.parametrize(
    "options",
    [{"append_system_prompt": "An important word. " * 8_000}, {"user_context": {"rules": "A rule. " * 20_000}}],
)
async def test_what_stands_before_the_conversation_and_is_larger_than_the_window_is_named(bench, options):
    bench.model(*[text("Yes.")] * 5, bench.summary(), window=20_000)
    engine = bench.engine(models=[SMALL], **options)

    runs = [await bench.go_on(engine, f"Prompt {number}.") for number in range(5)]

    assert {run.reason for run in runs} <= {Reason.PROMPT_TOO_LONG, Reason.BLOCKING_LIMIT}
    for run in runs:
        [told] = run.result.errors
        assert re.search(
            r"The system prompt, the tools and the memory files take about \d\d,\d{3} tokens of a window of 20,000",
            told,
        )
    assert max(len(run.of("request_start")) for run in runs) <= 2
    allow_refusals(bench)


async def test_a_note_that_would_take_the_window_is_not_pinned_and_a_long_one_is(bench):
    bench.model(text("Fine."))
    engine = bench.engine(models=[{**SMALL, "window": 200_000}])
    engine.pin("note word " * 10_000)
    with pytest.raises(OptionError, match="too long to be pinned"):
        engine.pin("note word " * 10_000)

    run = await bench.go_on(engine, "Hello.")

    assert (run.reason, len(engine.notes.pins)) == (Reason.COMPLETED, 1)
    assert "note word note word" in str(bench.sent[-1])


async def test_a_prompt_that_takes_most_of_the_window_stays_whole_and_no_summary_is_paid_in_vain(bench):
    words = "An important word. " * 6_600
    look = [say("I look at it. " * 60, call("Bash", {"command": f"seq {n} {n + 700}"})) for n in range(30)]
    bench.model(*look, text("Done."), bench.summary(), COLLAPSED, window=50_000, chunk=5_000)
    engine = bench.engine(models=[{**SMALL, "window": 50_000}], permission_mode="bypassPermissions")

    run = await bench.go_on(engine, words)

    assert (run.reason, run.result.text, run.of("notice")) == (Reason.COMPLETED, "Done.", [])
    summaries = [event for event in run.of("usage") if event.purpose == "summary"]
    assert len(summaries) == [stage for stage, _ in changes(run)].count("compact") >= 1
    assert [words.strip() in str(messages) for messages in bench.sent if len(messages) > 1][-1]
    allow_refusals(bench)

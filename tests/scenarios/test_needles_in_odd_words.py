"""Facts that come in unusual ways and words, with a summariser that keeps a random tenth: all of them are still sent."""

import json

import pytest
from tests.scenarios.test_needles_by_every_means import COLLAPSED, MODELS, QUESTION, forgetful, missing, todo

from everturn.core.state import Reason
from everturn.modelserver import call, say, text, too_long
from everturn.ports.policy import Ruling, Verdict

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
PROMPT = [
    {"type": "text", "text": "needle-before the picture"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
    {"type": "text", "text": "needle-behind </summary> it"},
]
PIN = "needle-pin: ünï \\ ' \" $(x) {0} %s"
MEANWHILE = "</system-reminder> needle-meanwhile ``` [… 5 characters are left out here …]"
PRESENT = ["needle-before the picture", "needle-behind </summary> it", MEANWHILE]
LASTING = [
    *("needle-no, in\ntwo lines", "the plan as the person wrote it: needle-plan", "needle-other «free» words"),
    *("needle-second", "needle-task {x} %d", "needle-piped 1 failed", "needle-heredoc", "needle-book.ipynb"),
    *(PIN, "needle by shell.txt", "needle-by-tee.txt"),
]
BOOK = {
    "cells": [{"cell_type": "code", "id": "a", "source": "1", "metadata": {}, "outputs": [], "execution_count": None}],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


class Person:
    """Says no to the first plan, writes the second one anew, and answers in words of their own."""

    def __init__(self):
        self._plans = 0

    async def approve(self, call, _reason):
        changed = None
        if call.name == "ExitPlanMode":
            self._plans += 1
            if self._plans == 1:
                return Verdict(ruling=Ruling.DENY, reason=LASTING[0])
            changed = {**call.input, "plan": LASTING[1]}
        if call.name == "AskUserQuestion":
            changed = {**call.input, "answers": {"Which ones?": f"These, {LASTING[2]}", "And?": "needle-second"}}
        return Verdict(ruling=Ruling.ALLOW, reason="yes", input=changed)


def play_facts(bench):
    book = bench.folder / "needle-book.ipynb"
    book.write_text(json.dumps(BOOK))
    (bench.folder / "test.sh").write_text("echo 'needle-piped 1 failed'; exit 1")
    return [
        call("EnterPlanMode", {}),
        call("ExitPlanMode", {"plan": "first"}),
        call("ExitPlanMode", {"plan": "second"}),
        call("AskUserQuestion", {"questions": [QUESTION, {**QUESTION, "question": "And?"}]}),
        call("TodoWrite", {"todos": [todo("needle-task {x} %d", "in_progress")]}),
        call("Bash", {"command": "sh test.sh 2>&1 | tail -3"}),
        call("Bash", {"command": "cat <<'EOF' >&2\nneedle-heredoc\nEOF\nexit 7"}),
        call("Bash", {"command": "echo a > 'needle by shell.txt'; printf b | tee -a \"needle-by-tee.txt\""}),
        call("Read", {"file_path": str(book)}),
        call("NotebookEdit", {"notebook_path": str(book), "cell_id": "a", "new_source": "2"}),
    ]


def chatter(count):
    return [say("Words about it. " * 60, call("Bash", {"command": f"seq {n} {n + 900}"})) for n in range(count)]


async def work(bench, **options):
    engine = bench.engine(
        **{
            "models": MODELS,
            "approver": Person(),
            "allowed_tools": ["Bash", "NotebookEdit", "TodoWrite", "Read"],
            **options,
        }
    )
    engine.pin(PIN)
    said = iter([MEANWHILE])

    def send_meanwhile(event):
        if event.__struct_config__.tag == "tool_end" and (words := next(said, None)):
            engine.enqueue(words)

    return engine, await bench.go_on(engine, PROMPT, on_event=send_meanwhile)


@pytest.mark.parametrize("seed", range(2))
async def test_after_five_refusals(bench, seed):
    rounds = [answer for _ in range(5) for answer in (too_long(), *chatter(4))]
    bench.model(*play_facts(bench), *rounds, text("Done."), bench.summary(forgetful(seed)), COLLAPSED)

    _, run = await work(bench)

    assert (run.reason, run.transitions.count("reactive_compact_retry")) == (Reason.COMPLETED, 5)
    assert missing(bench, [*PRESENT, *LASTING]) == []


async def test_in_a_window_that_fills_by_itself(bench):
    talk = [say("Words about it. " * 300, call("Bash", {"command": f"echo {number}"})) for number in range(60)]
    bench.model(*play_facts(bench), *talk, text("Done."), bench.summary(forgetful(3)), COLLAPSED, window=24_000)

    _, run = await work(bench, models=[{**MODELS[0], "window": 24_000, "max_output": 2_000}])

    assert run.reason is Reason.COMPLETED
    assert [event.stage for event in run.of("context")].count("compact") >= 2
    assert missing(bench, [*PRESENT, *LASTING]) == []


async def test_by_hand_and_in_a_session_that_is_resumed_each_time(bench):
    bench.model(*play_facts(bench), text("Done."), *[text("word " * 500)] * 5, bench.summary(forgetful(4)), COLLAPSED)
    engine, _ = await work(bench)
    for number in range(5):
        *_, notice = [event async for event in engine.compact()]
        assert notice.text.startswith("Compacted from")
        await bench.go_on(engine, f"And {number}?")
        await engine.aclose()
        engine = bench.engine(models=MODELS, resume=engine.session_id)

    assert missing(bench, LASTING) == []

"""What an answer means, as tables; and what several say together."""

import asyncio
import json

import pytest

from everturn.hooks.answers import HookAnswer, judge_exit, judge_json, judge_model, judge_response, merge, name_decision
from everturn.hooks.handlers import FunctionHook, HookCall
from everturn.ports.hook_events import HOOK_EVENTS, ExitTwo
from everturn.ports.hooks import NOTHING_SAID, HookInput, HookRuling, HookVerdict

READY = [event for event in HOOK_EVENTS.values() if not event.not_yet]


@pytest.mark.parametrize("event", READY, ids=lambda event: event.name)
def test_exit_2_does_what_the_table_says(event):
    verdict = judge_exit(event, 2, '{"hookSpecificOutput": 5', "because\n").verdict

    if event.name == "PreToolUse":
        assert verdict == HookVerdict(ruling=HookRuling.DENY, reason="because")
    elif event.exit_2 in {ExitTwo.BLOCKS, ExitTwo.TOLD}:
        assert verdict == HookVerdict(block="because")
    elif event.exit_2 is ExitTwo.SHOWN:
        assert verdict == HookVerdict(notices=("because",))
    else:
        assert verdict == NOTHING_SAID


@pytest.mark.parametrize("event", READY, ids=lambda event: event.name)
def test_plain_output_is_context_where_the_table_says_so(event):
    verdict = judge_exit(event, 0, "words\n", "noise").verdict

    assert verdict == (HookVerdict(context=("words",)) if event.plain_context else NOTHING_SAID)


@pytest.mark.parametrize("event", READY, ids=lambda event: event.name)
def test_what_counts_everywhere_counts_for_every_event(event):
    told = {"continue": False, "stopReason": "enough", "systemMessage": "look", "suppressOutput": True}

    verdict = judge_json(event, told).verdict

    assert (verdict.stop, verdict.notices) == ("enough", ("look",))


@pytest.mark.parametrize(
    ("decision", "ruling"), [("approve", HookRuling.ALLOW), ("block", HookRuling.DENY), ("allow", None)]
)
def test_the_older_form_of_a_decision_about_a_call(decision, ruling):
    answer = judge_json(HOOK_EVENTS["PreToolUse"], {"decision": decision, "reason": "so"})

    assert answer.verdict.ruling is ruling
    assert bool(answer.problem) == (ruling is None)


@pytest.mark.parametrize("name", ["PostToolUse", "Stop", "UserPromptSubmit", "PreCompact"])
@pytest.mark.parametrize("decision", ["approve", "allow"])
def test_no_objection_is_no_problem(name, decision):
    assert judge_json(HOOK_EVENTS[name], {"decision": decision}) == HookAnswer()


@pytest.mark.parametrize(
    "text", ['{"decision": "block"', "{'decision': 'block'}", '{"decision": "block"} done', "{" * 99_999]
)
@pytest.mark.parametrize("event", READY, ids=lambda event: event.name)
def test_json_that_cannot_be_read_is_no_answer_and_is_shown(event, text):
    answer = judge_exit(event, 0, text, "")

    assert answer.verdict == (HookVerdict(context=(text,)) if event.plain_context else NOTHING_SAID)
    assert "printed JSON" in (answer.remark if event.plain_context else answer.problem)


def test_a_mark_of_the_byte_order_hides_no_answer():
    answer = judge_exit(HOOK_EVENTS["PreToolUse"], 0, '\ufeff{"decision": "block", "reason": "so"}', "")

    assert answer.verdict == HookVerdict(ruling=HookRuling.DENY, reason="so")


@pytest.mark.parametrize("odd", [[], {}, ["deny"], 5, 1.5, True, "\ud800"])
@pytest.mark.parametrize("event", READY, ids=lambda event: event.name)
def test_exit_2_counts_whatever_the_fields_hold(event, odd):
    special = dict.fromkeys([*event.answers, "additionalContext"], odd) | {"hookEventName": event.name}
    told = dict.fromkeys([*event.beside, "decision"], odd) | {"hookSpecificOutput": special}

    verdict = judge_exit(event, 2, json.dumps(told), "because").verdict

    refuses = verdict.ruling is HookRuling.DENY or verdict.block is not None or "because" in verdict.notices
    assert refuses == (event.exit_2 is not ExitTwo.IGNORED)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("words", "words"),
        ({"stdout": "out\n", "stderr": "err", "interrupted": False}, "out\nerr"),
        ({"stdout": "out", "isImage": False}, "out"),
        ({"type": "text", "file": {"filePath": "/a", "content": "lines"}}, "lines"),
        ({"mode": "content", "content": "a:1:x"}, "a:1:x"),
        ({"filenames": ["a"]}, '{"filenames": ["a"]}'),
        ({"stdout": 5}, '{"stdout": 5}'),
        ([{"type": "text", "text": "a"}], '[{"type": "text", "text": "a"}]'),
    ],
)
def test_a_result_that_a_hook_changes_may_have_the_form_that_it_was_told(output, text):
    special = {"hookEventName": "PostToolUse", "updatedToolOutput": output}

    assert judge_json(HOOK_EVENTS["PostToolUse"], {"hookSpecificOutput": special}) == HookAnswer(
        verdict=HookVerdict(output=text)
    )


@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        (200, "", ""),
        (204, "", ""),
        (200, '{"decision": "block", "reason": "no"}', ""),
        (200, "fine", "something else"),
        (500, "", "status 500"),
        (302, "", "status 302"),
    ],
)
def test_no_status_blocks(status, body, problem):
    answer = judge_response(HOOK_EVENTS["Stop"], status, body)

    assert problem in answer.problem
    assert bool(answer.problem) == bool(problem)
    assert answer.verdict.block == ("no" if "no" in body else None)


@pytest.mark.parametrize(
    ("event", "continues", "expected"),
    [
        ("Stop", False, HookVerdict(block="bad")),
        ("PreToolUse", False, HookVerdict(ruling=HookRuling.DENY, reason="bad", stop="bad")),
        ("PreToolUse", True, HookVerdict(ruling=HookRuling.DENY, reason="bad")),
        ("PostToolUse", False, HookVerdict(stop="bad")),
        ("PostToolUse", True, HookVerdict(block="bad")),
        ("PostToolBatch", False, HookVerdict(block="bad")),
        ("UserPromptSubmit", False, HookVerdict(block="bad")),
        ("PostToolUseFailure", False, HookVerdict(block="bad")),
        ("PermissionRequest", False, NOTHING_SAID),
    ],
)
def test_a_models_no_means_something_else_for_each_event(event, continues, expected):
    text = '```json\n{"ok": false, "reason": "bad"}\n```'

    assert judge_model(HOOK_EVENTS[event], text, continue_on_block=continues).verdict == expected
    assert judge_model(HOOK_EVENTS[event], '{"ok": true}', continue_on_block=continues).verdict == NOTHING_SAID


def test_what_is_impossible_sends_no_model_back():
    text = '{"ok": false, "reason": "bad", "impossible": true}'

    assert judge_model(HOOK_EVENTS["Stop"], text, continue_on_block=False).verdict == NOTHING_SAID


@pytest.mark.parametrize("text", ["", "yes", '{"ok": "yes"}', "[1]", "{" * 100_000])
def test_a_model_that_answers_otherwise_is_a_problem_and_no_verdict(text):
    answer = judge_model(HOOK_EVENTS["Stop"], text, continue_on_block=False)

    assert answer.verdict == NOTHING_SAID
    assert answer.problem


def test_the_strictest_ruling_counts():
    order = [HookRuling.DENY, HookRuling.DEFER, HookRuling.ASK, HookRuling.ALLOW]
    for place, ruling in enumerate(order):
        said = [HookVerdict(ruling=each, reason=str(each)) for each in reversed(order[place:])]
        assert (merge(said).ruling, merge(said).reason) == (ruling, str(ruling))


def test_everything_else_is_joined():
    merged = merge(
        [
            HookVerdict(context=("a",), block="x", input={"n": 1}),
            NOTHING_SAID,
            HookVerdict(context=("b",), block="y", stop="first", input={"n": 2}),
            HookVerdict(stop="second", notices=("look",)),
        ]
    )

    assert merged == HookVerdict(context=("a", "b"), block="x\ny", stop="first", input={"n": 2}, notices=("look",))
    assert name_decision(merged) == "block, stop, input changed, context"


def test_a_denial_takes_no_input_along():
    assert merge([HookVerdict(ruling=HookRuling.DENY), HookVerdict(input={"n": 2})]).input is None


def test_the_fields_of_the_table_and_the_kinds_are_whole():
    for event in READY:
        assert event.when
        assert event.kinds
        assert not event.matched or event.matched in event.fields
        assert bool(event.blocks) == (event.exit_2 in {ExitTwo.BLOCKS, ExitTwo.TOLD})
    assert json.dumps(sorted(HOOK_EVENTS)) == json.dumps(sorted({event.name for event in HOOK_EVENTS.values()}))


async def test_trap_5_a_function_that_takes_too_long_refuses_where_it_guards():
    async def hangs(event):
        await asyncio.Event().wait()

    for event, expected in {
        "PreToolUse": HookVerdict(ruling=HookRuling.DENY, reason="The hook hangs took longer than 0.05 s."),
        "UserPromptSubmit": HookVerdict(block="The hook hangs took longer than 0.05 s."),
        "Stop": NOTHING_SAID,
    }.items():
        hook = FunctionHook(event, hangs, 0.05)
        answer = await hook.answer(HookCall(input=HookInput(event=event, fields={}), body=b"{}"))
        assert answer.verdict == expected
        assert answer.problem

"""The permission mode is told with the first request; a switch is appended, and what stands before the conversation stays."""

import pytest
from tests.scenarios.test_stable_prefix import breaks

from everturn.modelserver import call, text, too_long
from everturn.ports.policy import Ruling, Verdict

PLAN = "1. Move the lexer."


class Person:
    def __init__(self, **verdict):
        self.verdict = Verdict(**({"ruling": Ruling.ALLOW, "reason": "yes"} | verdict))

    async def approve(self, call, reason):
        return self.verdict


def system(bench, number=0):
    return bench.bodies[number]["system"][0]["text"]


def told(bench, number=-1):
    """What the last message of a request says of permissions."""
    blocks = bench.sent[number][-1]["content"]
    head = '<system-reminder>\nThe section "Permissions" has changed; its text is now:\n'
    return [
        block["text"].removeprefix(head).partition(".")[0]
        for block in blocks
        if block["type"] == "text" and block["text"].startswith(head)
    ]


def tools(bench):
    return {tool["name"] for tool in bench.bodies[0]["tools"]}


async def test_a_plan_that_nobody_can_approve_is_the_answer(bench):
    bench.model(text(PLAN))

    run = await bench.run(permission_mode="plan")

    assert "The permission mode is plan. Nothing may be changed" in system(bench)
    assert "The plan is your final message" in system(bench)
    assert not tools(bench) & {"EnterPlanMode", "ExitPlanMode", "AskUserQuestion"}
    assert run.result.text == PLAN


async def test_where_somebody_can_approve_the_plan_goes_to_the_tool_for_it(bench):
    bench.model(text("Hm."))

    await bench.run(permission_mode="plan", approver=Person())

    assert "Give the plan to ExitPlanMode" in system(bench)
    assert tools(bench) >= {"EnterPlanMode", "ExitPlanMode", "AskUserQuestion"}


@pytest.mark.parametrize("mode", [None, "acceptEdits"])
async def test_an_approved_plan_is_followed_by_the_permissions_that_hold_now(bench, mode):
    bench.model(call("ExitPlanMode", {"plan": PLAN}), text("Done."), text("Again."))
    engine = bench.engine(permission_mode="plan", approver=Person(mode=mode))

    run = await bench.go_on(engine)
    await bench.go_on(engine)

    assert [told(bench, number) for number in range(3)] == [[], [f"The permission mode is {mode or 'default'}"], []]
    [results, *_] = bench.sent[1][-1]["content"]
    assert results["type"] == "tool_result"
    assert [event.detail for event in run.of("attachment")] == [{"entries": ["Permissions"]}]
    assert len({system(bench, number) for number in range(3)}) == 1
    assert breaks(bench.requests) == []


async def test_the_way_into_plan_mode_is_told_too(bench):
    bench.model(call("EnterPlanMode", {}), text("Done."))

    await bench.run(approver=Person())

    assert told(bench) == ["The permission mode is plan"]


async def test_a_switch_between_two_prompts_is_told_once_and_so_is_the_way_back(bench):
    bench.model(*[text("Well.")] * 4)
    engine = bench.engine()
    for mode in ("default", "plan", "plan", "default"):
        engine.policy.mode = mode
        await bench.go_on(engine)

    assert [told(bench, number) for number in range(4)] == [
        [],
        ["The permission mode is plan"],
        [],
        ["The permission mode is default"],
    ]
    assert breaks(bench.requests) == []


async def test_a_session_resumed_in_another_mode_begins_as_it_began(bench):
    bench.model(*[text("Well.")] * 3)
    engine = bench.engine(permission_mode="plan")
    await bench.go_on(engine)
    for _ in range(2):
        await engine.aclose()
        engine = bench.engine(resume=engine.session_id, permission_mode="acceptEdits")
        await bench.go_on(engine)

    assert [told(bench, number) for number in range(3)] == [[], ["The permission mode is acceptEdits"], []]
    assert [body["system"] for body in bench.bodies] == [bench.bodies[0]["system"]] * 3
    assert breaks(bench.requests) == []


async def test_a_compaction_keeps_what_holds_now_in_sight(bench):
    bench.model(text("Earlier. " * 200), text("Later. " * 200), too_long(), text("Went on."), bench.summary())
    engine = bench.engine()
    await bench.go_on(engine)
    engine.policy.mode = "plan"
    await bench.go_on(engine)

    await bench.go_on(engine)

    [facts] = [
        block["text"]
        for block in bench.sent[-1][0]["content"]
        if "What was kept word for word" in block.get("text", "")
    ]
    assert 'The section "Permissions" has changed; its text is now:\nThe permission mode is plan.' in facts


async def test_a_system_prompt_of_ones_own_hears_of_a_switch_in_the_environment(bench):
    bench.model(call("EnterPlanMode", {}), text("Done."))

    await bench.run(system_prompt="You are a gardener.", approver=Person())

    own, environment = [block["text"] for block in bench.bodies[0]["system"]]
    assert own == "You are a gardener."
    assert "permission mode: default (reading runs unasked, changes need approval; somebody can approve)" in environment
    [reminder] = [block["text"] for block in bench.sent[-1][-1]["content"] if block["type"] == "text"]
    assert reminder == (
        '<system-reminder>\nThe system context "permission mode" has changed; its text is now:\n'
        "plan (nothing may be changed; your result is a plan; somebody can approve)\n</system-reminder>"
    )

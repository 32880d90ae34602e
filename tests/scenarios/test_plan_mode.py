"""Plan mode by the model's own wish: the person lets it in, and lets it out with a plan that is kept."""

from everturn.core.notes import Notes
from everturn.core.state import Reason
from everturn.modelserver import call, calls, text
from everturn.ports.policy import Ruling, Verdict

PLAN = "# Split the parser\n\n1. Move the lexer."
TOUCH = ("Bash", {"command": "touch made.txt"})
YES = Verdict(ruling=Ruling.ALLOW, reason="yes")


class Person:
    """Gives one verdict after the other; the last one stays."""

    def __init__(self, *verdicts):
        self._verdicts = list(verdicts)
        self.asked = []

    async def approve(self, call, reason):
        self.asked.append((call.name, call.input))
        return self._verdicts.pop(0) if len(self._verdicts) > 1 else self._verdicts[0]


def results_of(bench, number):
    return [block["content"] for block in bench.sent[number][-1]["content"] if block["type"] == "tool_result"]


async def test_nothing_is_changed_between_the_entry_and_the_approved_plan(bench):
    person = Person(YES)
    bench.model(
        calls(("EnterPlanMode", {}), TOUCH),
        call("ExitPlanMode", {"plan": PLAN}),
        call(*TOUCH),
        text("Done."),
    )
    engine = bench.engine(approver=person, permission_mode="bypassPermissions")

    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    assert person.asked == [("EnterPlanMode", {}), ("ExitPlanMode", {"plan": PLAN})]
    made = str(bench.folder.resolve() / "made.txt")
    assert [denial.reason for denial in run.result.denials] == [f"mode plan: it would write {made!r}"]
    assert [(event.before, event.mode) for event in run.of("mode")] == [
        ("bypassPermissions", "plan"),
        ("plan", "bypassPermissions"),
    ]
    assert results_of(bench, 2) == [
        "The person approved the plan. Plan mode is off (permission mode: bypassPermissions); carry it out."
    ]
    assert (bench.folder / "made.txt").exists()
    assert engine.notes == Notes(plan=PLAN)


async def test_the_plan_survives_a_resume(bench):
    bench.model(call("ExitPlanMode", {"plan": PLAN}), text("Done."))
    engine = bench.engine(approver=Person(YES), permission_mode="plan")
    await bench.go_on(engine)
    await engine.aclose()

    assert engine.permission_mode == "default"
    assert bench.engine(resume=engine.session_id).notes == Notes(plan=PLAN)


async def test_the_person_may_choose_the_mode_and_change_the_plan(bench):
    changed = Verdict(ruling=Ruling.ALLOW, reason="so", input={"plan": "Only the lexer."}, mode="acceptEdits")
    bench.model(call("ExitPlanMode", {"plan": PLAN}), text("Done."))
    engine = bench.engine(approver=Person(changed), permission_mode="plan")

    run = await bench.go_on(engine)

    assert engine.permission_mode == "acceptEdits"
    assert engine.notes == Notes(plan="Only the lexer.")
    [said] = results_of(bench, 1)
    assert said == (
        "The person approved the plan. Plan mode is off (permission mode: acceptEdits); carry it out. "
        "They changed it; this is the plan now:\n\nOnly the lexer."
    )
    [ended] = run.of("tool_end")
    assert (ended.shown.plan, ended.shown.is_agent, ended.shown.plan_was_edited) == ("Only the lexer.", False, True)


async def test_a_refused_plan_stays_a_plan_and_the_model_hears_why(bench):
    bench.model(call("ExitPlanMode", {"plan": PLAN}), text("I see."))
    engine = bench.engine(
        approver=Person(Verdict(ruling=Ruling.DENY, reason="keep the lexer where it is")), permission_mode="plan"
    )

    run = await bench.go_on(engine)

    assert engine.permission_mode == "plan"
    assert engine.notes == Notes()
    assert run.of("mode") == []
    assert "keep the lexer where it is" in results_of(bench, 1)[0]


async def test_a_switch_to_where_we_are_bothers_nobody(bench):
    person = Person(YES)
    bench.model(call("ExitPlanMode", {"plan": PLAN}), text("Oh."), call("EnterPlanMode", {}), text("Oh."))

    await bench.run(approver=person)
    await bench.run(approver=person, permission_mode="plan")

    assert person.asked == []
    assert "plan mode is not on" in results_of(bench, 1)[0]
    assert "plan mode is already on" in results_of(bench, 3)[0]


async def test_without_a_person_planning_fails_clearly(bench):
    bench.model(call("EnterPlanMode", {}), text("Then not."))
    engine = bench.engine(builtin_tools=["EnterPlanMode", "ExitPlanMode"])

    await bench.go_on(engine)

    assert "nobody is here to answer" in results_of(bench, 1)[0]
    assert engine.permission_mode == "default"


async def test_a_mode_that_there_is_not_makes_an_error_result(bench):
    bench.model(call("ExitPlanMode", {"plan": PLAN}), text("Done."))
    engine = bench.engine(
        approver=Person(Verdict(ruling=Ruling.ALLOW, reason="", mode="reckless")), permission_mode="plan"
    )

    await bench.go_on(engine)

    assert "must be one of" in results_of(bench, 1)[0]
    assert engine.permission_mode == "plan"

"""Questions to the person go to the approver, and their answers come back as the call's result."""

import asyncio

import msgspec
import pytest

from everturn.core.state import Reason
from everturn.modelserver import call, cut, hold, say, text
from everturn.ports.policy import Ruling, Verdict

DATABASE = {
    "question": "Which database?",
    "header": "Database",
    "options": [{"label": "SQLite", "description": "One file"}, {"label": "Postgres", "description": "A server"}],
    "multiSelect": False,
}
FIRST_BLOCK = 6
"""Events up to the end of the call's block, where its input comes in one piece."""
EXTRAS = {**DATABASE, "question": "Which extras?", "header": "Extras", "multiSelect": True}


class Person:
    """Answers as told, and remembers what was asked."""

    def __init__(self, **verdict):
        self.verdict = {"ruling": Ruling.ALLOW, "reason": "answered", **verdict}
        self.asked = []

    async def approve(self, call, reason):
        self.asked.append((call.name, call.input))
        if (filled := self.verdict.get("input")) is not None:
            return Verdict(**self.verdict | {"input": {**call.input, **filled}})
        return Verdict(**self.verdict)


def ask(*questions, **more):
    return call("AskUserQuestion", {"questions": list(questions), **more})


def result_of(bench, number=1):
    [result] = bench.sent[number][-1]["content"]
    return result


@pytest.mark.parametrize("mode", ["default", "plan", "acceptEdits", "bypassPermissions"])
async def test_the_answers_reach_the_model_and_the_frontends(bench, mode):
    answers = {"Which database?": "Postgres", "Which extras?": "SQLite, Postgres"}
    person = Person(input={"answers": answers, "annotations": {"Which database?": {"notes": "version 17"}}})
    bench.model(ask(DATABASE, EXTRAS), text("Done."))

    run = await bench.run(approver=person, permission_mode=mode, allowed_tools=["AskUserQuestion"])

    assert run.reason is Reason.COMPLETED
    assert person.asked == [("AskUserQuestion", {"questions": [DATABASE, EXTRAS]})]
    assert result_of(bench)["content"] == (
        "The person answered:\nWhich database? Postgres\nWhich extras? SQLite, Postgres\n"
        "On Which database? they remark: version 17"
    )
    [ended] = run.of("tool_end")
    assert msgspec.json.decode(msgspec.json.encode(ended.shown)) == {
        "questions": [DATABASE, EXTRAS],
        "answers": answers,
        "annotations": {"Which database?": {"notes": "version 17"}},
    }


async def test_without_a_person_the_tool_is_not_offered_and_where_it_is_named_it_fails_clearly(bench):
    bench.model(text("Nobody there."), ask(DATABASE), text("Then I choose."))

    await bench.run()
    run = await bench.run(builtin_tools=["AskUserQuestion"])

    assert "AskUserQuestion" not in [offered["name"] for offered in bench.bodies[0]["tools"]]
    result = result_of(bench, 2)
    assert result["is_error"]
    assert "AskUserQuestion is for the person to answer, and nobody is here to answer" in result["content"]
    assert run.reason is Reason.COMPLETED


async def test_where_nobody_is_to_be_asked_nobody_is(bench):
    person = Person(input={"answers": {"Which database?": "SQLite"}})
    bench.model(ask(DATABASE), text("Then I choose."))

    run = await bench.run(approver=person, permission_mode="dontAsk")

    assert person.asked == []
    assert [denial.tool_name for denial in run.result.denials] == ["AskUserQuestion"]


async def test_the_model_cannot_answer_for_the_person(bench):
    person = Person()
    bench.model(ask(DATABASE, answers={"Which database?": "SQLite"}), text("Done."))

    await bench.run(approver=person)

    assert person.asked == []
    assert "has no field `answers`" in result_of(bench)["content"]


async def test_a_person_who_only_nods_has_not_answered(bench):
    bench.model(ask(DATABASE), text("Done."))

    await bench.run(approver=Person())

    assert result_of(bench)["is_error"]
    assert "The person gave no answer." in result_of(bench)["content"]


async def test_a_person_may_say_something_else_or_refuse(bench):
    bench.model(ask(DATABASE), text("I see."), ask(DATABASE), text("As you wish."))

    await bench.run(approver=Person(input={"response": "Ask me tomorrow."}))
    await bench.run(approver=Person(ruling=Ruling.DENY, reason="no questions now"))

    assert result_of(bench)["content"] == "The person answered:\nAsk me tomorrow."
    assert "no questions now" in result_of(bench, 3)["content"]


async def test_an_approver_that_answers_nonsense_makes_an_error_result(bench):
    bench.model(ask(DATABASE), text("Done."))

    run = await bench.run(approver=Person(input={"answers": ["SQLite"]}))

    assert "`answers`: expected `object`" in result_of(bench)["content"]
    assert run.reason is Reason.COMPLETED


async def test_an_answer_is_not_asked_for_twice_because_the_stream_broke(bench):
    person = Person(input={"answers": {"Which database?": "SQLite"}})
    answer = say(ask(DATABASE), "And now the rest of the story.")
    bench.model(hold(cut(answer, after=8), after=FIRST_BLOCK), text("Done."), chunk=1_000)

    def release(event):
        if event.__struct_config__.tag == "tool_end":
            bench.server.release()

    run = await bench.go_on(bench.engine(approver=person), on_event=release)

    assert len(person.asked) == 1
    assert run.transitions == ["next_turn"]
    assert result_of(bench)["content"] == "The person answered:\nWhich database? SQLite"


@pytest.mark.parametrize(
    ("questions", "problem"),
    [
        ([], "`questions`"),
        ([DATABASE] * 2, "expected different questions"),
        ([{**DATABASE, "options": DATABASE["options"][:1]}], "`questions[0].options`"),
        ([{**DATABASE, "options": DATABASE["options"][:1] * 2}], "options with different labels"),
        ([{**DATABASE, "question": f"{n}?"} for n in range(5)], "`questions`"),
    ],
)
async def test_a_question_that_makes_no_sense_never_reaches_the_person(bench, questions, problem):
    person = Person()
    bench.model(ask(*questions), text("Sorry."))

    await bench.run(approver=person)

    assert person.asked == []
    assert problem in result_of(bench)["content"]


async def test_an_abort_does_not_wait_for_the_person(bench):
    class Silent:
        async def approve(self, call, reason):
            engine.abort()
            await asyncio.Event().wait()

    bench.model(ask(DATABASE), text("Never."))
    engine = bench.engine(approver=Silent(), limits={"abort_grace_s": 60})

    run = await asyncio.wait_for(bench.go_on(engine), 50)

    assert run.reason in {Reason.ABORTED_STREAMING, Reason.ABORTED_TOOLS}
    bench.assert_settled(engine)

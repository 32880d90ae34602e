"""Stage three: the oldest finished rounds are left out above the user's budget, whole, and nothing that must stay."""

import asyncio

from tests.context.transcripts import ScriptedAsk, answer, called, note, prompt, situation

from everturn.context.pipeline import ContextPipeline
from everturn.core.messages import Kind
from everturn.core.notes import Notes, Todo, TodoStatus
from everturn.testing import CountingIds

LONG = "x" * 900
NOTES = Notes(todos=(Todo(content="Look", status=TodoStatus.PENDING, active_form="Looking"),), pins=("Use tabs.",))


def turns(count, first=0):
    return [part for n in range(first, first + count) for part in (prompt(f"p{n}", LONG), answer(f"a{n}", LONG))]


def prepare(talk, made=None, *, budget=2_000, **more):
    made = made or ContextPipeline(ids=CountingIds("n"))
    return asyncio.run(made.prepare(talk, situation(snip_tokens=budget, **more), ScriptedAsk()))


def ids(messages):
    return [message.id for message in messages]


def test_it_is_off_unless_a_budget_is_set():
    assert prepare(turns(20), budget=0).changes == ()


def test_the_oldest_rounds_go_until_three_quarters_of_the_budget_are_left():
    prepared = prepare([*turns(6), prompt("last")])
    assert ids(prepared.messages) == ["n-1", "p4", "a4", "p5", "a5", "last"]
    assert prepared.messages[0].text == "[8 earlier messages of this conversation are no longer sent.]"
    [change] = prepared.changes
    assert (change.stage, change.cause) == ("snip", "budget")
    assert change.tokens_after < 1_700 < change.tokens_before
    [noted] = prepared.collapses
    assert (noted.first, noted.last, noted.state, noted.stage) == ("p0", "a3", "committed", "snip")


def test_a_later_snip_takes_the_earlier_one_up_and_counts_all_messages():
    made = ContextPipeline(ids=CountingIds("n"))
    view = prepare([*turns(6), prompt("last")], made).messages
    for message in (answer("a9", LONG), *turns(4, first=10), prompt("very-last")):
        view = view.plus(message)
    again = prepare(view, made)
    assert ids(again.messages)[0] == "n-2"
    assert ids(again.messages)[-1] == "very-last"
    assert again.messages[0].text.startswith("[1")
    assert not again.messages[0].text.startswith("[1 ")


def test_a_compactions_summary_and_the_work_in_progress_stay():
    work = [part for n in range(50, 58) for part in called(n, "Edit", {"file_path": "/p/a"}, LONG)]
    talk = [note("s", Kind.SUMMARY), *turns(2), prompt("last"), *work]
    prepared = prepare(talk, budget=1_000)
    assert ids(prepared.messages) == ["s", "n-1", "last", *ids(work)]


def test_what_must_stay_in_sight_is_put_into_the_note():
    talk = [
        prompt("p0", LONG),
        note("pinned", Kind.ATTACHMENT, "Remember: Use tabs."),
        *called(1, "TodoWrite", {"todos": []}, "kept"),
        *called(2, "AskUserQuestion", {}, "The person answered: green"),
        *called(3, "Edit", {"file_path": "/p/a.py"}, "done"),
        *called(4, "Bash", {"command": "make"}, "Exit code 2\nno rule", is_error=True),
        *called(5, "Bash", {"command": "ls"}, LONG, is_error=True),
        *called(6, "Bash", {"command": "ls"}, LONG),
        answer("a", LONG),
        prompt("last"),
    ]
    prepared = prepare(talk, budget=100, notes=NOTES)
    assert ids(prepared.messages) == ["n-1", "a", "last"]
    assert prepared.messages[0].text == (
        "[14 earlier messages of this conversation are no longer sent.]\n\n"
        "What was kept word for word from the part that is no longer shown:\n\n"
        "## Answers of the user to questions and plans\nThe person answered: green\n\n"
        "## Notes that the user pinned\nUse tabs.\n\n"
        "## The list of todos, done and open\n- [pending] Look\n\n"
        "## Files changed so far\n- /p/a.py\n\n"
        "## Commands that failed and have not passed since\n$ make\n"
        "(It failed 3 calls before this was written; no file is known to have changed since.)\nExit code 2\nno rule"
    )

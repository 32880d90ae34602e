"""Which stretches of work are finished, and how they are summarised beside the work."""

import asyncio

import pytest
from tests.context.transcripts import ScriptedAsk, answer, called, note, prompt, situation

from everturn.context.background import INSTRUCTION, STANDS_FOR, render_stretch
from everturn.context.finished import Stretch, Stretches
from everturn.context.pipeline import ContextPipeline
from everturn.core.budget import Usage
from everturn.core.errors import FaultKind, ModelFault
from everturn.core.messages import Kind
from everturn.ports.ask import Reply
from everturn.testing import CountingIds

LONG = "x" * 3_000
FAILS = called(1, "Bash", {"command": "pytest -q tests"}, LONG, is_error=True)
FIXES = called(2, "Edit", {"file_path": "/p/a.py"})
PASSES = called(3, "Bash", {"command": "pytest -q tests"}, "12 passed")
FIXED = (prompt("p"), *FAILS, *FIXES, *PASSES, *called(4, "Glob", {"pattern": "*"}, "nothing"))


def finished(*messages):
    stretches = Stretches()
    for message in messages:
        stretches.take(message)
    return stretches.finished


def todo(content, status):
    return {"content": content, "status": status, "activeForm": "x"}


def test_a_test_that_failed_and_passes_now():
    assert finished(*FIXED) == [Stretch("a1", "r3", "test that was made to pass")]


def test_only_when_the_round_is_over():
    assert finished(prompt("p"), *FAILS, *FIXES, *PASSES) == []


def test_a_command_that_is_no_test_finishes_nothing():
    first = called(1, "Bash", {"command": "ls -l tests"}, "no", is_error=True)
    assert finished(prompt("p"), *first, *called(2, "Bash", {"command": "ls -l tests"}), answer("a")) == []


def test_a_test_whose_exit_code_is_lost_has_failed_where_it_says_so():
    first = called(1, "Bash", {"command": "cd a && npm test 2>&1 | tail -3"}, "1 failed, 2 passed")
    last = called(2, "Bash", {"command": "cd a && npm test"}, "3 passed")
    assert finished(prompt("p"), *first, *last, answer("a")) == [Stretch("a1", "r2", "test that was made to pass")]
    assert finished(prompt("p"), *last, *called(3, "Bash", {"command": "cd a && npm test | tail"}), answer("a")) == []


def test_a_task_that_was_begun_and_done():
    begun = called(1, "TodoWrite", {"todos": [todo("Look", "in_progress"), todo("Write", "pending")]})
    done = called(3, "TodoWrite", {"todos": [todo("Look", "completed"), todo("Write", "in_progress")]})
    talk = (
        prompt("p"),
        *begun,
        *called(2, "Read", {"file_path": "/p/a"}),
        *done,
        note("n", Kind.ATTACHMENT),
        answer("z"),
    )
    assert finished(*talk) == [Stretch("a1", "r2", "task that was done: Look")]
    last = called(3, "TodoWrite", {"todos": [todo("Look", "completed")]})
    assert finished(*talk[:5], *last, *talk[-2:]) == [Stretch("a1", "n", "task that was done: Look")]


def test_a_test_that_went_to_the_background_has_not_passed():
    behind = called(
        2, "Bash", {"command": "make test"}, "The command runs in the background, as task b1. You are told."
    )
    first = called(1, "Bash", {"command": "make test"}, "no", is_error=True)
    assert finished(prompt("p"), *first, *behind, answer("a")) == []


def listing(number, **statuses):
    return called(number, "TodoWrite", {"todos": [todo(content, status) for content, status in statuses.items()]})


def test_tasks_that_follow_each_other_share_no_round_and_the_list_in_force_stays_in_sight():
    talk = (
        *(prompt("p"), *listing(1, A="in_progress", B="pending"), *called(2, "Read", {"file_path": "/p/a"})),
        *(*listing(3, A="completed", B="in_progress"), *called(4, "Read", {"file_path": "/p/b"})),
        *(*listing(5, A="completed", B="completed"), answer("z")),
    )
    assert finished(*talk) == [
        Stretch("a1", "r2", "task that was done: A"),
        Stretch("a3", "r5", "task that was done: B"),
    ]
    collapsed = (talk[0], note("s", Kind.SUMMARY), *talk[5:])
    assert finished(*collapsed) == [Stretch("a3", "r5", "task that was done: B")]


def test_a_task_that_nobody_called_begun_began_when_the_list_was_written():
    done = (*listing(3, A="completed"), answer("z"))
    begun = (prompt("p"), *listing(1, A="pending"))
    assert finished(*begun, *called(2, "Read", {"file_path": "/p/a"}), *done) == [
        Stretch("a2", "r3", "task that was done: A")
    ]
    assert finished(*begun, *done) == []
    assert finished(prompt("p"), *called(2, "Read", {"file_path": "/p/a"}), *done) == []


@pytest.mark.parametrize(
    ("search", "opened", "name"),
    [
        (("Bash", {"command": "rg -n x"}), ("Read", {"file_path": "/p/src/a.py"}), "a.py"),
        (("Bash", {"command": "find . -name '*.py'"}), ("Bash", {"command": "cat src/a.py"}), "a.py"),
        (("Grep", {"pattern": "x"}), ("Bash", {"command": "sed -n 1,9p src/a.py"}), "a.py"),
        (("Glob", {"pattern": "*"}), ("NotebookEdit", {"notebook_path": "/p/n.ipynb"}), "n.ipynb"),
        (("WebSearch", {"query": "x"}), ("WebFetch", {"url": "https://a.example/x"}), "https://a.example/x"),
    ],
)
def test_searches_of_every_kind_lead_somewhere(search, opened, name):
    found = called(1, *search, "src/a.py:3:x\nsrc/n.ipynb\nhttps://a.example/x")
    assert finished(prompt("p"), *found, *called(2, *opened)) == [Stretch("a1", "r1", f"search that led to {name}")]
    nowhere = called(1, *search, "src/b.py:3:x")
    assert finished(prompt("p"), *nowhere, *called(2, *opened)) == []


def test_a_search_whose_find_was_opened_ends_before_that():
    search = called(1, "Grep", {"pattern": "x"}, "src/b.py\nsrc/a.py")
    talk = (prompt("p"), *search, *called(2, "Glob", {"pattern": "*.md"}, "README.md"))
    opened = called(3, "Read", {"file_path": "/p/src/a.py"})
    assert finished(*talk, *opened) == [Stretch("a1", "r2", "search that led to a.py")]
    assert finished(*talk, prompt("q"), *opened) == []


LOOKED = (*called(1, "Read", {"file_path": "/p/a"}, LONG), *called(2, "Read", {"file_path": "/p/b"}, LONG))


def test_the_work_on_a_prompt_once_it_is_answered_and_the_next_one_has_come():
    talk = (prompt("p"), *LOOKED, answer("z", "It is so."))
    assert finished(*talk) == []
    assert finished(*talk, prompt("q")) == [Stretch("a1", "r2", "prompt that was answered")]
    assert finished(*talk, note("n", Kind.HIDDEN), answer("y"), prompt("q"), *LOOKED) == finished(*talk, prompt("q"))


def test_work_that_was_cut_short_or_that_is_one_round_is_not():
    assert finished(prompt("p"), *LOOKED, prompt("q")) == []
    assert finished(prompt("p"), *LOOKED[:2], answer("z"), prompt("q")) == []
    assert finished(prompt("p"), *LOOKED[:2], prompt("q"), *LOOKED[2:], answer("z"), prompt("r")) == []


def test_the_prompt_and_its_answer_stay_word_for_word():
    talk = (prompt("p"), *LOOKED, answer("z", "It is so."), prompt("q"), answer("y"))
    made, _, _ = run_background(talk, "Read two files.", collapse_share=1)
    _, _, prepared = run_background(talk, "Again.", made, collapse_share=0)
    assert [message.id for message in prepared.messages] == ["p", "n-2", "z", "q", "y"]


def test_a_stretch_takes_the_place_of_smaller_ones_that_wait_but_not_of_one_that_was_taken_back():
    talk = (prompt("p"), *LOOKED, answer("z", "It is so."), prompt("q"), answer("y"))
    made = ContextPipeline(ids=CountingIds("n"))
    made.collapses.stage("a1", "r1", "One file.")
    assert len(run_background(talk, "Both.", made, collapse_share=1)[1].questions) == 1
    assert [(note.first, note.last) for note in made.collapses.staged] == [("a1", "r1"), ("a1", "r2")]

    made = ContextPipeline(ids=CountingIds("n"))
    made.collapses.undo(made.collapses.stage("a1", "r1", "One file."))
    assert run_background(talk, "Both.", made, collapse_share=1)[1].questions == []


def test_what_waits_already_is_not_summarised_again_after_a_resume():
    made, _, _ = run_background(FIXED, "Fixed.", collapse_share=1)
    again = ContextPipeline(ids=CountingIds("m"))
    again.restore(made.collapses.all, messages=FIXED)
    assert run_background(FIXED, "Again.", again, collapse_share=1)[1].questions == []


def test_input_that_cannot_be_read_finishes_nothing():
    assert finished(prompt("p"), *called(1, "TodoWrite", {"todos": 7}), answer("a")) == []


def run_background(talk, said, made=None, **limits):
    made = made or ContextPipeline(ids=CountingIds("n"))
    room = situation(**{"window": 3_000, "auto_compact": False, "clear_share": 1, **limits})
    ask = ScriptedAsk(said)

    async def run():
        prepared = await made.prepare(talk, room, ScriptedAsk())
        if (work := made.plan_background(room, ask)) is not None:
            await work
        return prepared

    return made, ask, asyncio.run(run())


def test_the_small_model_is_shown_the_stretch_and_its_words_are_staged():
    made, ask, _ = run_background(FIXED, " The import was wrong. ", collapse_share=1)
    [question] = ask.questions
    shown = INSTRUCTION.format(why="test that was made to pass", stretch=render_stretch(FIXED[1:7]))
    assert (question.purpose, question.model, question.messages[0].text) == ("collapse", "small", shown)
    [staged] = made.collapses.staged
    text = STANDS_FOR.format(why="test that was made to pass", summary="The import was wrong.")
    assert (staged.first, staged.last, staged.summary) == ("a1", "r3", text)
    assert run_background(FIXED, "Again.", made)[1].questions == []


def test_what_was_staged_is_committed_above_the_soft_limit_with_what_must_stay_in_sight():
    made, _, _ = run_background(FIXED, "Fixed.", collapse_share=1)
    _, _, prepared = run_background(FIXED, "Again.", made, collapse_share=0)
    assert [message.id for message in prepared.messages] == ["p", "n-2", "a4", "r4"]
    assert prepared.messages[1].text.endswith("## Files changed so far\n- /p/a.py")
    assert [(change.stage, change.cause) for change in prepared.changes] == [("collapse", "soft_limit")]


@pytest.mark.parametrize(
    "said", [" ", Reply(text="No.", stop_reason="refusal", usage=Usage()), ModelFault(FaultKind.SERVER, "broken")]
)
def test_a_stretch_that_nobody_can_summarise_is_tried_once(said):
    made, ask, _ = run_background(FIXED, said)
    assert (len(ask.questions), made.staged) == (1, 0)
    assert run_background(FIXED, "Fine.", made)[1].questions == []


def test_nothing_is_asked_while_there_is_room_or_where_it_is_switched_off_or_the_stretch_is_small():
    assert run_background(FIXED, "x", window=200_000)[1].questions == []
    small = (prompt("p", LONG), *called(1, "Bash", {"command": "tox"}, "no", is_error=True))
    talk = (*small, *called(2, "Bash", {"command": "tox"}), answer("a"))
    assert run_background(talk, "x", window=20_000, collapse_from=0)[1].questions == []


def test_thoughts_in_progress_are_not_touched_but_after_the_next_prompt_they_may_be():
    thinking = called(3, "Bash", {"command": "pytest -q tests"}, "12 passed", thought="Hm.")
    talk = (prompt("p"), *FAILS, *FIXES, *thinking, answer("a4", "Done."))
    made, ask, _ = run_background(talk, "x")
    assert ask.questions == []
    assert len(run_background((*talk, prompt("q")), "x", made)[1].questions) == 1


def test_a_cancelled_summary_can_be_asked_for_again():
    made = ContextPipeline(ids=CountingIds("n"))
    room = situation(window=3_000, auto_compact=False, clear_share=1)

    class Silent:
        async def ask(self, question):
            await asyncio.Event().wait()

    async def run():
        await made.prepare(FIXED, room, ScriptedAsk())
        task = asyncio.create_task(made.plan_background(room, Silent()))
        await asyncio.sleep(0)
        assert made.plan_background(room, Silent()) is None
        task.cancel()
        await asyncio.wait({task})
        await made.plan_background(room, ScriptedAsk("Now."))

    asyncio.run(run())
    assert made.staged == 1

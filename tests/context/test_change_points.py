"""Where the next changes will come is known before they come, so that what stands before them stays in the cache."""

import asyncio

from tests.context.transcripts import ScriptedAsk, answer, called, prompt, round_of, situation

from everturn.context.pipeline import ContextPipeline
from everturn.core.messages import text_block
from everturn.core.normaliser import Normaliser
from everturn.core.transcript import Abilities
from everturn.core.view import View
from everturn.engine.cache_watch import CacheWatch
from everturn.ports.model import Request
from everturn.testing import CountingIds

TALK = (
    prompt("p1"),
    *round_of(1, size=1_500),
    *round_of(2, size=30),
    answer("a3", "Found it."),
    prompt("p2"),
    *round_of(4, size=1_500),
)
RESULT, WORK = TALK[2].blocks[-1], TALK[7].blocks[-1]


def prepare(made, talk=TALK):
    return asyncio.run(made.prepare(talk, situation(), ScriptedAsk()))


def request_of(view):
    return Request(model="m", messages=Normaliser().normalise(view, Abilities(model="m")), max_tokens=1)


def test_it_is_the_oldest_result_the_oldest_summary_that_waits_and_the_work_on_the_last_prompt():
    made = ContextPipeline(ids=CountingIds("n"))
    assert prepare(made).change_points == (RESULT, WORK)
    made.collapses.stage("a2", "r2", "Looked.")
    assert prepare(made).change_points == (RESULT, TALK[3].blocks[-1], WORK)
    made.collapses.stage("a1", "r2", "Looked twice.")
    assert prepare(made).change_points == (TALK[1].blocks[-1], RESULT, WORK)


def test_a_summary_that_would_save_nothing_does_not_count():
    made = ContextPipeline(ids=CountingIds("n"))
    made.collapses.stage("a2", "r2", "long " * 100)
    made.collapses.stage("gone", "r2", "short")
    assert prepare(made).change_points == (RESULT, WORK)


def test_a_failed_command_that_stays_in_sight_is_passed_over():
    failed = called(0, "Bash", {"command": "make"}, "x" * 1_500, is_error=True)
    assert prepare(ContextPipeline(ids=CountingIds("n")), (TALK[0], *failed, *TALK[1:])).change_points == (RESULT, WORK)


def test_they_take_turns_with_the_one_mark_there_is():
    watch, view, found = CacheWatch(), View(TALK), []
    for number in range(10, 14):
        found.append(watch.anchor(request_of(view), (RESULT, WORK)).anchor)
        for message in round_of(number):
            view = view.plus(message)
    # The result stands in the third message; the work follows the prompt, which a summary would join.
    assert found == [2, 6, 2, 6]


def test_a_place_that_moved_is_found_again_and_one_that_is_not_sent_has_no_mark():
    watch, later = CacheWatch(), (prompt("p0"), answer("a0"), *TALK)
    assert [watch.anchor(request_of(View(talk)), (RESULT,)).anchor for talk in (TALK, later, TALK)] == [2, 4, 2]
    stranger = text_block("never sent")
    assert [watch.anchor(request_of(View(TALK)), (stranger,)).anchor for _ in range(2)] == [None, None]

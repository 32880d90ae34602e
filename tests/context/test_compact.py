"""Compaction: what is asked, what stays, what counts as having worked."""

import asyncio

import msgspec
import pytest
from tests.context.transcripts import ScriptedAsk, answer, note, prompt, round_of, situation

from everturn.context.compact import BOUNDARY, CUT, INSTRUCTION, LAST_PROMPT_HEAD, WRAPPER, drop_older_half
from everturn.context.pipeline import ContextPipeline
from everturn.context.retention import HEAD
from everturn.core.budget import Usage
from everturn.core.errors import FaultKind, ModelFault
from everturn.core.facts import Facts, Said
from everturn.core.messages import Kind, Message, text_block
from everturn.core.records import FactsKept
from everturn.core.transcript import view_of
from everturn.ports.ask import Question, Reply
from everturn.ports.context import Change, Prepared, Tracking
from everturn.testing import CountingIds

TALK = (prompt("p1", "x" * 3_000), *round_of(1, size=3_000), answer("a2", "y" * 3_000), prompt("p3"), *round_of(4))
TOO_LONG = ModelFault(FaultKind.TOO_LONG, "prompt is too long: 9 tokens > 8 maximum")


def pipeline():
    return ContextPipeline(ids=CountingIds("n"))


def ids(messages):
    return [message.id for message in messages]


def tokens(messages):
    return sum(message.tokens for message in messages)


async def test_the_view_becomes_the_summary_and_the_last_prompt_with_what_came_after():
    ask = ScriptedAsk("  All about files.  ")

    prepared = await pipeline().compact(TALK, situation(fixed=50, tracking=Tracking(failures=2)), ask, cause="manual")

    request = Message(id="n-1", role="user", kind=Kind.HIDDEN, blocks=(text_block(INSTRUCTION),))
    recalled = f"{HEAD}\n\n## The user's earlier prompts\n{TALK[0].text}"
    summary = Message(
        id="n-2",
        role="user",
        kind=Kind.SUMMARY,
        blocks=tuple(map(text_block, (WRAPPER.format(summary="All about files."), recalled, LAST_PROMPT_HEAD))),
    )
    boundary = Message(
        id="n-3", role="user", kind=Kind.BOUNDARY, blocks=(text_block(BOUNDARY),), keeps=("p3", "a4", "r4")
    )
    view = (summary, *TALK[4:])
    assert ask.questions == [
        Question(
            purpose="summary",
            messages=(*TALK, request),
            max_tokens=8_192,
            share_prefix=True,
            within_s=180.0,
            awaited=True,
        )
    ]
    prompts = (Said(id="p1", text=TALK[0].text), Said(id="p3", text="do it"))
    assert prepared == Prepared(
        messages=view,
        added=(boundary, summary),
        facts=FactsKept(facts=Facts(prompts=prompts)),
        changes=(
            Change(stage="compact", cause="manual", tokens_before=50 + tokens(TALK), tokens_after=50 + tokens(view)),
        ),
        change_points=(TALK[5].blocks[-1],),
        tracking=Tracking(count=1, id="n-3"),
        tokens=50 + tokens(view),
        compacted=True,
    )
    assert view_of((*TALK, *prepared.added)) == view


async def test_a_second_compaction_takes_the_first_summary_up_into_the_next():
    made = pipeline()
    first = await made.compact(TALK, situation(), ScriptedAsk(), cause="manual")
    later = (*TALK, *first.added, answer("a5", "z" * 3_000), prompt("p6"), answer("a6"))
    second = await made.compact(view_of(later), situation(), ScriptedAsk("Shorter."), cause="manual")
    assert ids(second.messages)[1:] == ["p6", "a6"]
    assert view_of((*later, *second.added)) == second.messages


async def test_words_of_the_user_follow_the_instruction():
    ask = ScriptedAsk()
    await pipeline().compact(TALK, situation(), ask, cause="manual", instructions=" keep the names ")
    assert ask.questions[0].messages[-1].text == f"{INSTRUCTION}\n\nThe user adds: keep the names"


async def test_only_as_many_of_the_latest_rounds_stay_as_fit_and_always_the_prompt():
    talk = (prompt("p1"), *(part for n in range(1, 9) for part in round_of(n, size=300)))
    one_round = tokens(talk[1:3])
    window = 4 * (2 * one_round + talk[0].tokens + 10)

    prepared = await pipeline().compact(talk, situation(window=window), ScriptedAsk("Ok."), cause="too_long")

    assert ids(prepared.messages)[1:] == ["p1", "a7", "r7", "a8", "r8"]


async def test_a_notice_stays_with_the_prompt_whose_media_it_takes_out():
    rounds = tuple(part for n in range(1, 9) for part in round_of(n, size=300))
    talk = (prompt("p1", picture=True), note("n1", Kind.NOTICE, blames=("p1",)), *rounds)
    prepared = await pipeline().compact(talk, situation(window=600), ScriptedAsk("Ok."), cause="too_long")
    assert ids(prepared.messages)[1:3] == ["p1", "n1"]
    assert view_of((*talk, *prepared.added)) == prepared.messages


async def test_a_lone_prompt_that_the_api_refuses_is_led_by_a_summary_and_counts_as_worked():
    talk = (prompt("p1"),)
    prepared = await pipeline().compact(talk, situation(), ScriptedAsk("hello"), cause="too_long")
    assert (prepared.compacted, ids(prepared.messages)[1:]) == (True, ["p1"])
    assert view_of((*talk, *prepared.added)) == prepared.messages


async def test_a_lone_prompt_whose_summary_is_refused_too_fails_after_one_call():
    ask = ScriptedAsk(TOO_LONG)
    prepared = await pipeline().compact((prompt("p1"),), situation(), ask, cause="too_long")
    assert (prepared.compacted, prepared.messages, len(ask.questions)) == (False, (prompt("p1"),), 1)
    assert prepared.problem == "The call for a summary failed: prompt is too long: 9 tokens > 8 maximum"


async def test_a_short_talk_that_the_api_refuses_keeps_only_the_prompt():
    talk = (prompt("p1"), *round_of(1))
    prepared = await pipeline().compact(talk, situation(), ScriptedAsk("hello"), cause="too_long")
    assert (prepared.compacted, ids(prepared.messages)[1:]) == (True, ["p1"])


async def test_a_short_talk_that_nobody_refused_is_not_made_longer():
    talk = (prompt("p1"), *round_of(1), answer("a2"))
    prepared = await pipeline().compact(talk, situation(), ScriptedAsk("hello " * 100), cause="manual")
    assert (prepared.compacted, prepared.messages) == (False, talk)
    assert prepared.problem == "The summary was not shorter than what it should replace."


@pytest.mark.parametrize("talk", [(), (prompt("p1"),), (note("s", Kind.SUMMARY), prompt("p1"))])
async def test_where_there_is_nothing_to_compact_nobody_is_asked_and_nothing_failed(talk):
    ask = ScriptedAsk()
    prepared = await pipeline().compact(talk, situation(), ask, cause="manual")
    assert (prepared.compacted, prepared.messages, ask.questions) == (False, talk, [])
    assert (prepared.problem, prepared.tracking) == ("There is nothing to compact yet.", Tracking())


BAD_SUMMARIES = pytest.mark.parametrize(
    ("said", "problem"),
    [
        (" \n ", "The summary was empty."),
        (
            Reply(text="", stop_reason="tool_use", usage=Usage()),
            "The model called tools instead of writing a summary.",
        ),
        (
            Reply(text="I look at the file first.", stop_reason="tool_use", usage=Usage()),
            "The model called tools instead of writing a summary.",
        ),
        (Reply(text="The task", stop_reason="max_tokens", usage=Usage()), "The summary was cut off after a few words."),
        (Reply(text="Search", stop_reason="pause_turn", usage=Usage()), "The summary was cut off after a few words."),
        (Reply(text="No.", stop_reason="refusal", usage=Usage()), "The model refused to write a summary."),
        ("long " * 5_000, "The summary was not shorter than what it should replace."),
        (ModelFault(FaultKind.BILLING, "no credit"), "The call for a summary failed: no credit"),
    ],
)


@BAD_SUMMARIES
async def test_what_does_not_work_changes_nothing_and_says_why(said, problem):
    before = situation(tracking=Tracking(failures=1, count=2, turns_since=3))
    prepared = await pipeline().compact(TALK, before, ScriptedAsk(said), cause="manual")
    assert prepared == Prepared(
        messages=TALK,
        change_points=(TALK[2].blocks[-1], TALK[5].blocks[-1]),
        tracking=Tracking(failures=2, count=2, turns_since=3),
        tokens=tokens(TALK),
        problem=problem,
    )


@BAD_SUMMARIES
async def test_what_does_not_work_after_a_refusal_leaves_out_the_oldest_rounds_instead(said, problem):
    before = situation(tracking=Tracking(failures=1, count=2, turns_since=3))
    prepared = await pipeline().compact(TALK, before, ScriptedAsk(said), cause="too_long")
    assert (prepared.compacted, ids(prepared.messages)[1:]) == (True, ["a2", "p3", "a4", "r4"])
    assert prepared.messages[0].text == "[3 earlier messages of this conversation are no longer sent.]"
    assert prepared.tracking == Tracking(failures=2, count=2, turns_since=3)
    assert prepared.problem == f"{problem} The oldest rounds were left out instead."


async def test_a_summary_call_that_is_too_long_leaves_out_the_older_half_of_the_rounds_each_time():
    talk = (prompt("p1"), *(part for n in range(1, 9) for part in round_of(n, size=3_000)), prompt("p9"))
    ask = ScriptedAsk(TOO_LONG, TOO_LONG, "Fine.")

    prepared = await pipeline().compact(talk, situation(), ask, cause="too_long")

    assert prepared.compacted
    assert [ids(question.messages[:-1]) for question in ask.questions] == [
        ids(talk),
        [*(f"{kind}{n}" for n in range(5, 9) for kind in "ar"), "p9"],
        ["a7", "r7", "a8", "r8", "p9"],
    ]


@pytest.mark.parametrize(("stop_reason", "ending"), [("max_tokens", f"\n{CUT}"), ("tool_use", ""), ("end_turn", "")])
async def test_a_summary_that_was_cut_off_is_used_if_it_says_enough_and_says_that_it_was_cut(stop_reason, ending):
    words = "Exactly what happened. " * 50
    ask = ScriptedAsk(Reply(text=words, stop_reason=stop_reason, usage=Usage()))

    prepared = await pipeline().compact(TALK, situation(), ask, cause="manual")

    assert prepared.messages[0].blocks[0] == text_block(WRAPPER.format(summary=words.strip() + ending))


@pytest.mark.parametrize(("text", "caps"), [("", [8_192, 20_000]), ("word " * 400, [8_192])])
async def test_where_thoughts_took_all_of_the_output_it_is_asked_for_with_a_larger_cap_once(text, caps):
    ask = ScriptedAsk(Reply(text=text, stop_reason="max_tokens", usage=Usage()), "All of it.")

    prepared = await pipeline().compact(TALK, situation(output_cap_escalated=20_000), ask, cause="manual")

    assert ([question.max_tokens for question in ask.questions], prepared.compacted) == (caps, True)


async def test_a_summary_for_which_the_window_was_too_small_is_asked_for_with_less():
    ask = ScriptedAsk(Reply(text="Half of", stop_reason="model_context_window_exceeded", usage=Usage()), "All of it.")

    prepared = await pipeline().compact(TALK, situation(), ask, cause="manual")

    first, second = (question.messages for question in ask.questions)
    assert (prepared.compacted, len(second) < len(first)) == (True, True)
    assert prepared.messages[0].blocks[0] == text_block(WRAPPER.format(summary="All of it."))


async def test_it_gives_up_after_as_many_calls_as_the_limit_says():
    talk = (prompt("p1"), *(part for n in range(1, 40) for part in round_of(n)), prompt("p9"))
    ask = ScriptedAsk(TOO_LONG)
    prepared = await pipeline().compact(talk, situation(summary_tries=3), ask, cause="manual")
    assert (prepared.compacted, len(ask.questions)) == (False, 3)


def test_halving_keeps_the_leading_summary_and_the_last_prompt():
    lead = note("s", Kind.SUMMARY)
    talk = (lead, prompt("p1"), *round_of(1), *round_of(2), *round_of(3))
    assert ids(drop_older_half(talk)) == ["s", "p1", "a3", "r3"]
    assert drop_older_half((lead, prompt("p1"), *round_of(1))) is None
    assert drop_older_half((prompt("p1"),)) is None
    assert drop_older_half(()) is None


async def test_autocompact_begins_above_its_share_of_the_usable_window():
    size = tokens(TALK)
    window = int(size / 0.9) + 500
    ask = ScriptedAsk()
    at_limit = situation(window=window, output_cap=500, meter=(int(0.9 * (window - 500)), len(TALK)))
    above = situation(window=window, output_cap=500, meter=(int(0.9 * (window - 500)) + 1, len(TALK)))

    assert (await pipeline().prepare(TALK, at_limit, ask)).messages == TALK
    assert ask.questions == []
    prepared = await pipeline().prepare(TALK, above, ask)
    assert (prepared.compacted, [change.cause for change in prepared.changes]) == (True, ["auto"])


@pytest.mark.parametrize(
    "off",
    [{"auto_compact": False}, {"is_compaction": True}, {"tracking": Tracking(failures=3)}],
)
async def test_autocompact_asks_nobody_where_it_is_off(off):
    ask = ScriptedAsk()
    prepared = await pipeline().prepare(TALK, situation(window=1_000, **off), ask)
    assert (prepared.messages, prepared.compacted, ask.questions) == (TALK, False, [])


async def test_the_breaker_opens_after_failures_in_a_row_and_a_success_resets_it():
    ask = ScriptedAsk("", "", "")
    tracking = Tracking()
    for _ in range(5):
        prepared = await pipeline().prepare(TALK, situation(window=1_000, tracking=tracking), ask)
        tracking = prepared.tracking
    assert (len(ask.questions), tracking.failures) == (3, 3)
    worked = await pipeline().compact(TALK, situation(tracking=tracking), ScriptedAsk(), cause="manual")
    assert worked.tracking == Tracking(count=1, id="n-3")


async def test_a_count_that_never_comes_is_not_waited_for():
    async def count(_):
        await asyncio.Event().wait()

    full = msgspec.structs.replace(situation(window=1_000, summary_s=0.05), count=count)
    prepared = await pipeline().prepare(TALK, full, ScriptedAsk())
    assert [change.cause for change in prepared.changes] == ["auto"]


async def test_what_is_to_be_summed_up_is_cut_at_once_to_what_the_window_holds():
    talk = (prompt("p1"), *(part for n in range(1, 99) for part in round_of(n, size=3_000)), prompt("p99"))
    ask = ScriptedAsk("Ok.")
    prepared = await pipeline().compact(talk, situation(window=20_000), ask, cause="auto")
    assert (prepared.compacted, len(ask.questions)) == (True, 1)
    shown = ask.questions[0].messages[:-1]
    assert shown == talk[len(talk) - len(shown) :]
    assert 8_000 < tokens(shown) <= 20_000 - 8_192


async def test_a_turn_without_a_compaction_leaves_the_tracking_alone():
    tracking = Tracking(failures=1, count=1, turns_since=4)
    assert (await pipeline().prepare(TALK, situation(tracking=tracking), ScriptedAsk())).tracking == tracking


async def test_a_compaction_that_keeps_a_collapse_keeps_its_messages_in_the_transcript():
    made = pipeline()
    talk = (*TALK[:4], prompt("p3"), *round_of(4, size=900), *round_of(5), answer("a6"))
    collapse = made.collapses.stage("a4", "r4", "Looked.")
    sent = made.drain(talk).messages

    prepared = await made.compact(sent, situation(), ScriptedAsk(), cause="manual")

    assert ids(prepared.messages)[1:] == ["p3", collapse, "a5", "r5", "a6"]
    assert prepared.added[0].keeps == ("p3", "a4", "r4", "a5", "r5", "a6")
    whole = view_of((*talk, *prepared.added))
    assert (await made.prepare(whole, situation(), ScriptedAsk())).messages == prepared.messages

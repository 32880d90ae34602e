"""Prompts that were answered long ago are told together."""

import asyncio

from tests.context.transcripts import ScriptedAsk, answer, called, note, prompt, situation

from everturn.context.background import render_stretch
from everturn.context.digest import INSTRUCTION, KEPT, MAX_PROMPT_LENGTH, PROMPTS, STANDS_FOR, render_digest
from everturn.context.pipeline import ContextPipeline
from everturn.core.commands import SENT_MEANWHILE
from everturn.core.contexts import REMINDER
from everturn.core.errors import FaultKind, ModelFault
from everturn.core.messages import Kind, Message, text_block
from everturn.testing import CountingIds

OLD = 3
TALK = tuple(
    message
    for n in range(OLD + KEPT + 1)
    for message in (
        prompt(f"p{n}", f"Wish {n}."),
        *called(f"{n}.1", "Read", {"file_path": f"/p/{n}.py"}, "x" * 1_500),
        *called(f"{n}.2", "Edit", {"file_path": f"/p/{n}.py"}, "x" * 1_500),
        answer(f"b{n}", "y" * 9_000),
    )
)[:-1]
PER_PROMPT = 6
"""The last prompt has no answer yet."""


def work(talk, *said, made=None, **changed):
    """Prepares, and lets the small model work as long as there is something to do."""
    made, ask = made or ContextPipeline(ids=CountingIds("n")), ScriptedAsk(*said)
    chosen = {"auto_compact": False, "clear_share": 0.01, "clear_gain": 1, "clear_keeps": 2, "collapse_from": 0}
    room = situation(**{**chosen, **changed})

    async def run():
        prepared = await made.prepare(talk, room, ask)
        while (work := made.plan_background(room, ask)) is not None:
            await work
        return prepared

    return made, ask, asyncio.run(run())


def digests(made):
    return [each for each in made.collapses.all if each.first.startswith("p")]


def test_all_but_the_latest_are_told_together_with_the_words_of_the_user():
    made, ask, _ = work(TALK, "Short.")
    end = OLD * PER_PROMPT
    assert ask.questions[-1].messages[0].text == INSTRUCTION.format(stretch=render_stretch(TALK[:end]))
    [staged] = digests(made)
    text = "\n\n".join([STANDS_FOR.format(summary="Short."), PROMPTS, *(f"Wish {n}." for n in range(OLD))])
    assert (staged.first, staged.last, staged.summary) == ("p0", f"b{OLD - 1}", text)


def test_what_a_command_printed_is_not_told_as_a_wish_of_the_user():
    words, printed = (
        f"{REMINDER}{SENT_MEANWHILE}\nFaster.",
        f"{REMINDER}The background task b1 has ended.\n{SENT_MEANWHILE} No.",
    )
    both = Message(id="n", role="user", kind=Kind.ATTACHMENT, blocks=(text_block(words), text_block(printed)))
    alone = note("m", Kind.ATTACHMENT, printed)

    told = render_digest("Done.", (both, alone, prompt("p", "Make it work.")), room=1_000)

    assert told == "\n\n".join([STANDS_FOR.format(summary="Done."), PROMPTS, words, "Make it work."])


def test_it_takes_their_place_where_the_cache_is_broken_anyway_and_what_must_stay_in_sight_stays():
    made, _, before = work(TALK, "Short.")
    assert before.messages == TALK

    _, _, after = work(before.messages, "Never asked.", made=made, is_cold=True)

    first, *_ = after.messages
    assert first.text.startswith(STANDS_FOR.format(summary="Short."))
    assert first.text.endswith("## Files changed so far\n- /p/0.py\n- /p/1.py\n- /p/2.py")
    kept = [(message.id, message.text) for message in after.messages if message.kind is Kind.PROMPT]
    assert kept == [(f"p{n}", f"Wish {n}.") for n in range(OLD, OLD + KEPT + 1)]
    assert [message.id for message in after.messages if message.id.startswith("b")] == [
        f"b{n}" for n in range(OLD, OLD + KEPT)
    ]


def test_it_comes_back_whole_and_is_not_told_together_again():
    made, _, before = work(TALK, "Short.")
    work(before.messages, "Short.", made=made, is_cold=True)
    [told] = digests(made)
    made.collapses.undo(told.id)

    more = (*TALK, answer("b", "y"), prompt("p", "More."))
    _, ask, back = work(more, "Again.", made=made)

    assert [message.id for message in back.messages if message.kind is Kind.PROMPT] == [
        message.id for message in more if message.kind is Kind.PROMPT
    ]
    assert len(digests(made)) == 1
    assert not any(INSTRUCTION[:60] in question.messages[0].text for question in ask.questions)


def test_the_next_one_begins_where_the_last_one_ended():
    made, _, before = work(TALK, "Short.")
    _, _, after = work(before.messages, "Short.", made=made, is_cold=True)
    more = after.messages
    for message in (
        answer("c0", "y" * 9_000),
        prompt("q1"),
        answer("c1", "y"),
        prompt("q2"),
        answer("c2", "y"),
        prompt("q3"),
    ):
        more = more.plus(message)

    work(more, "Short.", made=made)

    assert [(each.first, each.last) for each in digests(made)] == [("p0", "b2"), ("p3", "b5")]


def test_a_command_that_still_fails_and_an_answer_of_the_user_stay_word_for_word():
    facts = (
        *called("x", "Bash", {"command": "make"}, "no rule to make it", is_error=True),
        *called("y", "AskUserQuestion", {}, "The person answered: green"),
    )
    talk = (TALK[0], *facts, *TALK[1:])
    made, _, before = work(talk, "Short.")
    _, _, after = work(before.messages, "Short.", made=made, is_cold=True)
    first, *_ = after.messages
    assert "$ make\n(It failed " in first.text
    assert "\nno rule to make it" in first.text
    assert "The person answered: green" in first.text


def test_a_resumed_session_sends_the_same():
    made, _, before = work(TALK, "Short.")
    _, _, after = work(before.messages, "Short.", made=made, is_cold=True)
    again = ContextPipeline(ids=CountingIds("m"))
    again.restore(made.collapses.all, cleared=after.cleared.lines, messages=TALK)
    assert tuple(again.project(TALK)) == tuple(after.messages)


def test_it_waits_as_long_as_a_result_in_it_is_in_use():
    made, _, before = work(TALK, "Short.")
    _, _, after = work(before.messages, "Short.", made=made, is_cold=True, clear_keeps=OLD + KEPT)
    assert after.messages[0].id == "p0"
    assert [each.state for each in digests(made)] == ["staged"]


def test_few_prompts_and_little_text_stay_as_they_are():
    few = TALK[OLD * PER_PROMPT :]
    assert digests(work(few, "Short.")[0]) == []
    brief = tuple(message for n in range(30) for message in (prompt(f"p{n}"), answer(f"b{n}", "Yes.")))
    assert digests(work((*brief, *TALK[-PER_PROMPT:]), "Short.")[0]) == []


def test_a_model_that_fails_is_not_asked_again_for_the_same():
    made, ask, before = work(TALK, ModelFault(FaultKind.OVERLOADED, "busy"))
    assert digests(made) == []
    assert ask.questions
    assert work(before.messages, "Short.", made=made)[1].questions == []


def test_of_a_long_prompt_both_ends_stay_and_what_was_sent_meanwhile_stays_too():
    sent = f"{SENT_MEANWHILE} Hurry."
    talk = (prompt("p0", "a" * 2_000 + "z" * 2_000), note("w", Kind.ATTACHMENT, sent), *TALK[1:])
    [staged] = digests(work(talk, "Short.")[0])
    half = MAX_PROMPT_LENGTH // 2
    long = f"{'a' * half}\n[… {4_000 - MAX_PROMPT_LENGTH:,} characters …]\n{'z' * half}"
    assert staged.summary == "\n\n".join(
        [STANDS_FOR.format(summary="Short."), PROMPTS, long, sent, "Wish 1.", "Wish 2."]
    )


def test_of_many_prompts_the_latest_stay_that_there_is_room_for():
    [staged] = digests(work(TALK, "Short.", recalled_tokens=15)[0])
    assert staged.summary == "\n\n".join([STANDS_FOR.format(summary="Short."), PROMPTS, "Wish 1.", "Wish 2."])

"""Where a view may be cut."""

from tests.context.transcripts import answer, note, prompt, results, round_of

from everturn.context.rounds import last_prompt, round_starts
from everturn.core.messages import Kind


def starts(*view):
    return [view[start].id for start in round_starts(view)]


def test_a_round_is_a_prompt_or_an_answer_with_what_follows_it():
    view = (prompt("p1"), note("h", Kind.ATTACHMENT), *round_of(1), *round_of(2), answer("a3"), prompt("p4"))
    assert starts(*view) == ["p1", "a1", "a2", "a3", "p4"]


def test_answers_in_a_row_are_one_round_whatever_stands_unsent_between_them():
    view = (prompt("p1"), answer("a1"), note("n", Kind.NOTICE), answer("a2"), note("h", Kind.HIDDEN), answer("a3"))
    assert starts(*view) == ["p1", "a1", "a3"]


def test_a_use_and_a_result_that_comes_late_stay_in_one_round():
    view = (prompt("p1"), answer("a1", uses=["t"]), prompt("p2"), answer("a2"), results("r", ["t"]), answer("a3"))
    assert starts(*view) == ["p1", "a1", "a3"]


def test_a_summary_is_a_round_of_its_own():
    assert starts(note("s", Kind.SUMMARY), note("c", Kind.SUMMARY), answer("a")) == ["s", "c", "a"]


def test_the_last_prompt_is_the_users_last_word_not_ours():
    assert last_prompt((prompt("p1"), prompt("p2"), note("h", Kind.HIDDEN))) == 1
    assert last_prompt((note("h", Kind.HIDDEN),)) is None
    assert round_starts(()) == []

"""An answer that was cut and resumed: what simply goes on loses nothing, and only a plain repetition is removed."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from everturn.engine.replies import measure_repetition

LINES = (
    "",
    "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,",
    "    - name: the same step of another job, with a long description",
    "    - run: make the same thing once more, as above",
    "| a | row | of | a | table | that | comes | again |",
    "}",
    "    return None",
)
"""Of texts that repeat themselves: tables, data, configuration, code."""
lines = st.lists(st.sampled_from(LINES), max_size=30)
repeating = st.one_of(
    lines.map("\n".join),
    st.tuples(lines.map("\n".join), st.integers(1, 4)).map(lambda pair: f"{pair[0]}\n" * pair[1]),
    st.tuples(st.text("0, \n", max_size=60), st.integers(1, 10)).map(lambda pair: pair[0] * pair[1]),
    st.text(max_size=300),
)


@given(text=repeating, share=st.floats(0, 1))
@example(text="[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]", share=0.5)
@example(text="\n".join(LINES[1:] * 2) + "\n", share=0.5)
@example(text=("\n".join(LINES[2:5]) + "\n") * 2, share=0.5)
def test_any_text_cut_at_any_place_and_continued_exactly_loses_nothing(text, share):
    cut = round(len(text) * share)
    assert measure_repetition(text[:cut], text[cut:]) == 0


@given(text=lines.map("\n".join))
def test_no_cut_of_a_text_that_repeats_itself_loses_anything(text):
    assert [cut for cut in range(len(text) + 1) if measure_repetition(text[:cut], text[cut:])] == []


STEPS = "\n".join(f"Step {number}: what is to be done in it, in a few words." for number in range(20))


@pytest.mark.parametrize("cut", [230, 520, 790])
@pytest.mark.parametrize("repeated", [2, 3])
def test_whole_lines_that_come_again_up_to_the_torn_one_are_a_repetition(cut, repeated):
    start = len(STEPS[:cut].rsplit("\n", repeated + 1)[0]) + 1
    assert measure_repetition(STEPS[:cut], STEPS[start:]) == cut - start


ROUND = "A first line that is long enough to tell.\nThe second line that is long enough, too.\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (STEPS[:520], STEPS[500:]),
        (STEPS[:520], STEPS[STEPS.rindex("\n", 0, 520) + 1 :]),
        (STEPS[: STEPS.index("Step 9")], STEPS[STEPS.index("Step 6") :]),
        (STEPS[STEPS.index("Step 6") : 520] + "\n" + STEPS[:520], STEPS[STEPS.index("Step 6") :]),
        (f"Begin.\n{ROUND}End", f"{ROUND}Ended."),
        (f"Begin.\n{ROUND * 2}{ROUND[:30]}", f"{ROUND * 3}End."),
    ],
    ids=[
        "a part of a line",
        "the torn line alone",
        "a cut between lines",
        "lines that stand twice in the tail",
        "a torn line that says nothing",
        "a repetition with two beginnings",
    ],
)
def test_where_there_is_doubt_both_stay(before, after):
    assert measure_repetition(before, after) == 0

"""The script says what the demo promises, whatever the machine's interpreter is called."""

from everturn.cli.demo.script import MODEL, OUTPUT_CAP, PROMPT, demo_script
from everturn.models.catalog import JsonCatalog
from everturn.modelserver import Fail, Say
from everturn.modelserver.answer_cut import count_output


def test_only_the_answer_that_mends_the_bug_is_longer_than_the_output_cap():
    answers = [answer for when in demo_script().when for answer in when.answers if isinstance(answer, Say)]

    too_long = [said for said in answers if sum(map(count_output, said.blocks)) > OUTPUT_CAP]

    [mending] = too_long
    words, edit = mending.blocks
    assert (count_output(words) < OUTPUT_CAP, edit.name) == (True, "Edit")


def test_each_fault_comes_once_and_an_answer_follows_it():
    kinds = [
        ["fault" if isinstance(answer, Fail) or answer.ending else "answer" for answer in when.answers]
        for when in demo_script().when
    ]

    assert kinds == [["fault", "answer"], ["fault", "answer"], ["answer"], ["answer"], ["answer"], ["answer"]]


def test_each_answer_belongs_to_one_place_in_the_conversation():
    assert [when.match.messages for when in demo_script().when] == [1, 3, 5, 7, 9, 11]
    assert demo_script().when[0].match.last_user_contains == PROMPT


def test_the_model_that_is_played_has_a_price():
    assert JsonCatalog().card(MODEL).prices.output > 0

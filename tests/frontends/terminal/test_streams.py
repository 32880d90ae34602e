"""Answers that come in pieces, however slow they are."""

import pytest
from tests.frontends.terminal.stage import Stage

from everturn.modelserver import hold


@pytest.mark.parametrize("after", [4, 5, 6])
async def test_an_answer_of_one_word_that_pauses_before_its_end_is_shown_once(after):
    async with Stage(script=[hold("hello", after=after), "The end."]) as stage:
        await stage.type("hi\n")
        await stage.see("answering  1.")
        stage.release()
        await stage.see("hello", "1 round")
        assert "hellohello" not in stage.everything

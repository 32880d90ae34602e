"""Answers that are thrown away and made again, retries, and errors that were mended: what the screen says of them."""

from tests.frontends.terminal.stage import Stage

from everturn.modelserver import calls, cut, hold, overloaded, rate_limited, stall, text

LINES = "\n\n".join(f"Doomed line {number}." for number in range(8))


async def test_text_that_is_taken_back_disappears_and_the_new_answer_stands_there_once():
    async with Stage(script=[cut(text(LINES, chunk=20), after=8), "The whole answer."]) as stage:
        await stage.type("tell\n")
        await stage.see("The whole answer.", "1 round")
        assert "Doomed" not in stage.everything
        assert stage.everything.count("The whole answer.") == 1


async def test_text_that_has_scrolled_away_is_said_to_be_void():
    many = "\n\n".join(f"Doomed line {number}." for number in range(60))
    async with Stage(script=[cut(text(many, chunk=20), after=50), "The whole answer."], rows=12) as stage:
        await stage.type("tell\n")
        await stage.see("The whole answer.", "1 round")
        assert "Doomed line 0." in stage.everything
        told = stage.everything.rpartition("Doomed")[2].partition("The whole answer.")[0]
        assert len(told.split()) > 3, told


async def test_a_retry_is_told_calmly_and_goes():
    async with Stage(script=[overloaded(), overloaded(), "Hello."]) as stage:
        await stage.type("hi\n")
        await stage.see("Hello.", "1 round")
        assert "Traceback" not in stage.everything
        assert len(stage.requests) == 3


async def test_a_long_wait_is_shown_and_can_be_interrupted():
    async with Stage(script=[rate_limited(retry_after=600), "Hello."]) as stage:
        await stage.type("hi\n")
        await stage.see("again in 10 min")
        await stage.press("escape")
        await stage.see("Interrupted.")
        await stage.type("again\n")
        await stage.see("Hello.")


async def test_silence_is_waited_for_visibly_and_can_be_interrupted():
    async with Stage(script=[stall("Once upon a time", after=4), "Hello."]) as stage:
        await stage.type("hi\n")
        await stage.see("Once upon")
        await stage.press("escape")
        await stage.see("Interrupted.")
        await stage.type("again\n")
        await stage.see("Hello.")


async def test_a_line_that_is_being_taken_back_while_the_person_types_leaves_the_prompt_alone():
    answer = cut(text(LINES, chunk=20), after=8)
    async with Stage(script=[hold(calls(("Glob", {"pattern": "*"})), after=-1), answer, "The whole answer."]) as stage:
        await stage.type("tell\n")
        await stage.server.wait_for(1)
        await stage.type("half a prompt")
        await stage.see("> half a prompt")
        stage.release()
        await stage.see("The whole answer.", "> half a prompt")
        assert "Doomed" not in stage.everything
        assert stage.everything.count("half a prompt") == 1

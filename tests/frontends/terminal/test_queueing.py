"""What is typed while the agent works."""

from tests.frontends.terminal.stage import Stage

from everturn.modelserver import hold


async def test_enter_queues_while_the_agent_works_and_it_is_sent_afterwards():
    async with Stage(script=[hold("First answer.", after=4), "Second answer."]) as stage:
        await stage.type("first\n")
        await stage.server.wait_for(1)
        await stage.type("second\n")
        await stage.see("second")
        assert len(stage.requests) == 1
        stage.release()
        await stage.see("First answer.", "Second answer.")
        assert "second" in stage.said(1)


async def test_up_takes_back_what_was_queued():
    async with Stage(script=[hold("First answer.", after=4), "Second answer."]) as stage:
        await stage.type("first\n")
        await stage.server.wait_for(1)
        await stage.type("a mistake\n")
        await stage.see("a mistake")
        await stage.press("up")
        await stage.press("ctrl-u")
        await stage.type("better\n")
        await stage.see("better")
        stage.release()
        await stage.see("Second answer.")
        assert "better" in stage.said(1)
        assert all("a mistake" not in request.raw.decode() for request in stage.requests)


async def test_a_command_beside_the_answer_does_not_cut_the_line_that_streams():
    async with Stage(script=[hold("One line that is long enough to be cut in two.", after=20)]) as stage:
        await stage.type("talk\n")
        await stage.see("One line that")
        await stage.type("/cost\n")
        stage.release()
        await stage.see("One line that is long enough to be cut in two.", "This session cost")
        assert stage.everything.index("cut in two.") < stage.everything.index("This session cost")


async def test_whoever_leaves_is_told_how_to_go_on():
    async with Stage(script=["Hello."]) as stage:
        await stage.type("hi\n")
        await stage.see("Hello.")
        await stage.type("/exit\n")
        await stage.see("To go on: everturn --resume ")


async def test_a_shell_line_is_never_sent_to_the_model_as_a_prompt():
    async with Stage(script=[hold("Once upon a time there was", after=4), "The end."]) as stage:
        await stage.type("tell\n")
        await stage.see("Once upon")
        await stage.type("!echo mine\n")
        await stage.see("a line with ! can be used when the answer is complete", "> !echo mine")
        stage.server.release()
        await stage.see("there was", lambda stage: "answering" not in stage.text)
        await stage.type("\n")
        await stage.see("│ mine")
        assert len(stage.requests) == 1

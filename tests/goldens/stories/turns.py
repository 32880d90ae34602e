"""Scenarios of the loop itself: its transitions, its terminal reasons, its limits."""

import asyncio
from typing import Any

from tests.goldens.catalogue import scenario
from tests.goldens.stage import MODEL, Stage, StillClock, say_call

from everturn import tool
from everturn.core.events import CallEnded, Event
from everturn.core.state import AbortCause
from everturn.modelserver import (
    broken,
    call,
    calls,
    cut,
    error,
    hold,
    overloaded,
    pause,
    rate_limited,
    refusal,
    say,
    server_call,
    spend_limit,
    text,
    thinking,
    too_long,
    truncated,
    when,
)
from everturn.ports.hooks import HookInput, HookRuling, HookVerdict, PostToolVerdict, StopVerdict

SPARE = "claude-opus-5"
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}},
    "required": ["answer"],
    "additionalProperties": False,
}
LONG = "An earlier answer. " * 50
FIRST_CALL = 6
"""Events up to the end of the first call's block."""


@tool(reads_only=True)
async def look(word: str) -> str:
    """Looks at a word."""
    return f"saw {word}"


@tool
async def append(word: str) -> str:
    """Appends a word."""
    return f"appended {word}"


OWN: dict[str, Any] = {"tools": [look, append], "allowed_tools": ["look", "append"]}


def spends(tokens: int, *parts: Any) -> Any:
    return say(*(parts or ("Some work.",)), usage={"output_tokens": tokens})


def at(kind: str, act: Any) -> Any:
    """A listener that acts at the first event of a kind."""
    done = []

    def listen(event: Any) -> object:
        if event.__struct_config__.tag == kind and not done:
            done.append(event)
            return act()
        return None

    return listen


@scenario()
async def answer_alone(stage: Stage) -> None:
    stage.plays(text("Hello there, how are you?"))
    await stage.ask(stage.engine(), "Greet me.")


@scenario()
async def answer_with_every_delta(stage: Stage) -> None:
    stage.partial = True
    stage.plays(say(thinking("Let me think."), "I look first.", call("look", {"word": "a"})), text("Done."), chunk=6)
    await stage.ask(stage.engine(**OWN))


@scenario()
async def tool_rounds(stage: Stage) -> None:
    stage.plays(call("look", {"word": "a"}), say("Now I write.", call("append", {"word": "b"})), text("Done."))
    await stage.ask(stage.engine(**OWN))


@scenario()
async def two_prompts(stage: Stage) -> None:
    stage.plays(text("One."), text("Two."))
    engine = stage.engine(user_context={"style": "short"}, system_context={"team": "blue"})
    await stage.ask(engine, "First.")
    await stage.ask(engine, [{"type": "text", "text": "Second."}, {"type": "text", "text": "In two blocks."}])


@scenario()
async def parallel_calls(stage: Stage) -> None:
    second_done = asyncio.Event()

    @tool(reads_only=True, concurrent=True)
    async def wait(word: str) -> str:
        """Ends after the other one."""
        if word == "first":
            await second_done.wait()
        else:
            second_done.set()
        return f"{word} has ended"

    stage.plays(calls(("wait", {"word": "first"}), ("wait", {"word": "second"}), ("append", {"word": "c"})), "Done.")
    await stage.ask(stage.engine(tools=[wait, append], allowed_tools=["wait", "append"]))


@scenario()
async def calls_while_the_model_streams(stage: Stage) -> None:
    stage.plays(hold(say(call("append", {"word": "a"}), "And more."), after=FIRST_CALL), text("Done."))
    engine = stage.engine(**OWN, streaming_tools=True)
    await stage.ask(engine, on_event=at("tool_end", stage.server.release))


@scenario()
async def calls_that_fail(stage: Stage) -> None:
    @tool
    async def burst() -> str:
        """Raises."""
        raise LookupError("There is nothing.")

    unknown, misfit = call("Teleport", {}), call("look", {"wrod": "a"})
    stage.plays(say(call("burst", {}), unknown, misfit), text("I see."))
    await stage.ask(stage.engine(tools=[burst, look], allowed_tools=["burst", "look"]))


@scenario()
async def truncated_and_escalated(stage: Stage) -> None:
    stage.plays(truncated("Half an ans"), text("A whole answer."))
    await stage.ask(stage.engine())


@scenario()
async def truncated_and_resumed(stage: Stage) -> None:
    stage.plays(truncated("The first half, "), text("the second half."))
    await stage.ask(stage.engine(escalate=False))


@scenario()
async def truncated_to_the_end(stage: Stage) -> None:
    stage.plays(truncated("a "), truncated("b "), truncated("c "), truncated("d "))
    await stage.ask(stage.engine())


@scenario()
async def paused_and_gone_on(stage: Stage) -> None:
    search = server_call("web_search", {"query": "news"}, [])
    stage.plays(pause(), pause(search, "I look further. \n"), text("Found it."))
    await stage.ask(stage.engine())


@scenario()
async def paused_too_often(stage: Stage) -> None:
    stage.plays(pause())
    await stage.ask(stage.engine(limits={"pauses": 2}))


@scenario()
async def refused_by_the_model(stage: Stage) -> None:
    stage.plays(refusal("I would rather", category="cyber", explanation="Not this."), text("Gladly."))
    engine = stage.engine()
    await stage.ask(engine, "Do harm.")
    await stage.ask(engine, "Do good.")


@scenario()
async def failed_calls_are_retried(stage: Stage) -> None:
    stage.plays(error(500), rate_limited(retry_after=7), cut("Hello there"), text("Hello."))
    await stage.ask(stage.engine())


@scenario()
async def failed_for_good(stage: Stage) -> None:
    stage.plays(error(400), text("It works."))
    engine = stage.engine()
    await stage.ask(engine, "First.")
    await stage.ask(engine, "Second.")


@scenario()
async def failed_after_all_retries(stage: Stage) -> None:
    stage.plays(error(500))
    failures = []

    async def on_failure(failure: Any) -> None:
        failures.append(failure)

    await stage.ask(stage.engine(max_retries=2, hooks={"stop_failure": on_failure}))


@scenario()
async def spend_limit_reached(stage: Stage) -> None:
    stage.plays(spend_limit())
    await stage.ask(stage.engine())


@scenario()
async def retracted_in_mid_stream(stage: Stage) -> None:
    stage.partial = True
    stage.plays(cut(say("Let me see.", call("look", {"word": "a"})), after=8), text("Never mind."), chunk=6)
    await stage.ask(stage.engine(**OWN))


@scenario()
async def kept_in_mid_stream(stage: Stage) -> None:
    """A call with side effects has begun: what is whole stays, and the loop goes on."""
    broken_off = cut(say(call("append", {"word": "a"}), "And now the rest."), after=8)
    stage.plays(hold(broken_off, after=FIRST_CALL), text("Done."))
    engine = stage.engine(**OWN, streaming_tools=True)
    await stage.ask(engine, on_event=at("tool_end", stage.server.release))


@scenario()
async def fallback_to_another_model(stage: Stage) -> None:
    thoughtful = say(thinking("I look first."), call("look", {"word": "a"}))
    stage.plays(thoughtful, overloaded(), broken("Hel"), overloaded(), text("Hello."), text("Still here."))
    engine = stage.engine(**OWN, fallback_models=[SPARE])
    await stage.ask(engine, "First.")
    await stage.ask(engine, "Second.")


@scenario()
async def fallback_with_a_kept_attempt(stage: Stage) -> None:
    third = hold(broken(say(call("append", {"word": "a"}), "More."), after=8), after=FIRST_CALL)
    stage.plays(overloaded(), overloaded(), third, text("Done."))
    engine = stage.engine(**OWN, streaming_tools=True, fallback_models=[SPARE])
    await stage.ask(engine, on_event=at("tool_end", stage.server.release))


@scenario()
async def fallbacks_used_up(stage: Stage) -> None:
    stage.plays(overloaded())
    await stage.ask(stage.engine(fallback_models=[SPARE], max_retries=1))


@scenario()
async def goal_met_at_the_second_verification(stage: Stage) -> None:
    (stage.folder / "test.sh").write_text("echo 1 of 2 tests failed; exit $(cat left)")
    (stage.folder / "left").write_text("3")
    stage.plays(text("I stop."), say("Again.", call("append", {"word": "more"})), text("Done."))

    def mend(event: Event) -> None:
        if isinstance(event, CallEnded):
            (stage.folder / "left").write_text("0")
            (stage.folder / "test.sh").write_text("exit 0")

    await stage.ask(stage.engine(**OWN, goal="All tests pass.", verify="sh test.sh"), on_event=mend)


@scenario()
async def goal_that_is_stuck(stage: Stage) -> None:
    stage.plays(text("I stop."))
    await stage.ask(stage.engine(verify="echo no; false"))


@scenario()
async def a_prompt_is_suggested(stage: Stage) -> None:
    async def wait(_turn: Any) -> None:
        while not engine.suggestion:  # noqa: ASYNC110 (a property that a frontend looks at)
            await asyncio.sleep(0)

    stage.plays(when("Run the tests.", last_user_contains="most likely says next"), text("Done."))
    engine = stage.engine(prompt_suggestions=True, hooks={"stop": wait})
    await stage.ask(engine)


@scenario()
async def stop_hook_blocks(stage: Stage) -> None:
    async def hook(turn: Any) -> str | None:
        return None if turn.stop_hook_active else "The tests fail."

    stage.plays(text("Done."), text("Now it is."))
    await stage.ask(stage.engine(hooks={"stop": hook}))


@scenario()
async def stop_hook_blocks_too_often(stage: Stage) -> None:
    async def hook(_turn: Any) -> str:
        return "Never enough."

    stage.plays(text("Done."))
    await stage.ask(stage.engine(hooks={"stop": hook}, limits={"stop_hook_blocks": 2}))


@scenario()
async def stop_hook_prevents(stage: Stage) -> None:
    async def block(_turn: Any) -> str:
        return "More."

    async def prevent(_turn: Any) -> StopVerdict:
        return StopVerdict(prevent="Enough for today.")

    async def fail(_turn: Any) -> None:
        raise RuntimeError("broken hook")

    stage.plays(text("Done."))
    await stage.ask(stage.engine(hooks={"stop": [block, prevent, fail]}))


@scenario()
async def post_tool_hook_stops(stage: Stage) -> None:
    async def after(call: Any, _result: Any) -> PostToolVerdict:
        if call.input["word"] == "a":
            return PostToolVerdict(note="Remember the style guide.")
        return PostToolVerdict(stop="Stop here.")

    stage.plays(call("append", {"word": "a"}), calls(("append", {"word": "b"}), ("append", {"word": "c"})))
    await stage.ask(stage.engine(**OWN, hooks={"post_tool": after}))


@scenario()
async def pre_tool_hook_decides(stage: Stage) -> None:
    def before(told: HookInput) -> HookVerdict | str | None:
        match told["tool_input"]["word"]:
            case "a":
                return "Not that word."
            case "b":
                return HookVerdict(
                    ruling=HookRuling.ALLOW, input={"word": "c"}, context=("Another word stands in its place.",)
                )
        return None

    stage.plays(call("append", {"word": "a"}), call("append", {"word": "b"}), text("Done."))
    await stage.ask(stage.engine(**OWN, hooks={"PreToolUse": before}))


@scenario()
async def pre_tool_hook_defers(stage: Stage) -> None:
    def before(_told: HookInput) -> HookVerdict:
        return HookVerdict(ruling=HookRuling.DEFER)

    stage.plays(call("append", {"word": "a"}))
    await stage.ask(stage.engine(**OWN, hooks={"PreToolUse": before}))


@scenario()
async def prompt_hook_refuses_and_adds(stage: Stage) -> None:
    def on_prompt(told: HookInput) -> HookVerdict | str:
        if "secret" in told["prompt"]:
            return "No secrets."
        return HookVerdict(context=("It is Wednesday.",))

    stage.plays(text("Hello."))
    engine = stage.engine(hooks={"UserPromptSubmit": on_prompt})
    await stage.ask(engine, "A secret.")
    await stage.ask(engine, "Good day.")


@scenario()
async def structured_answer(stage: Stage) -> None:
    stage.plays(text('{"answer": "many"}'), text('{"answer": 42}'))
    await stage.ask(stage.engine(output_schema=SCHEMA))


@scenario()
async def structured_answer_never_fits(stage: Stage) -> None:
    stage.plays(text("Forty-two."))
    await stage.ask(stage.engine(output_schema=SCHEMA, limits={"structured_retries": 2}))


@scenario()
async def work_budget(stage: Stage) -> None:
    stage.plays(spends(3_000))
    await stage.ask(stage.engine(work_budget=10_000))


@scenario()
async def work_budget_with_little_gain(stage: Stage) -> None:
    stage.plays(spends(100))
    await stage.ask(stage.engine(work_budget=100_000))


@scenario()
async def max_turns(stage: Stage) -> None:
    stage.plays(call("look", {"word": "a"}), call("look", {"word": "b"}))
    await stage.ask(stage.engine(**OWN, max_turns=2))


@scenario()
async def max_budget_usd(stage: Stage) -> None:
    prices = [{"id": MODEL, "prices": {"output": 10}}]
    stage.plays(spends(10_000, call("look", {"word": "a"})), spends(20_000, call("look", {"word": "b"})))
    await stage.ask(stage.engine(**OWN, max_budget_usd=0.25, models=prices))


@scenario()
async def max_session_usd(stage: Stage) -> None:
    prices = [{"id": MODEL, "prices": {"output": 10}}]
    stage.plays(spends(20_000), spends(20_000), text("never"))
    engine = stage.engine(models=prices, limits={"max_session_usd": 0.25})
    await stage.ask(engine, "First.")
    await stage.ask(engine, "Second.")
    await stage.ask(engine, "Third.")


@scenario()
async def max_tokens_total(stage: Stage) -> None:
    stage.plays(spends(10_000, call("look", {"word": "a"})), spends(10_000, call("look", {"word": "b"})))
    await stage.ask(stage.engine(**OWN, max_total_tokens=15_000))


@scenario()
async def max_tool_calls(stage: Stage) -> None:
    stage.plays(calls(*(("append", {"word": word}) for word in "abc")))
    await stage.ask(stage.engine(**OWN, max_tool_calls=2))


@scenario()
async def max_wall_time(stage: Stage) -> None:
    clock = stage.clock = StillClock()

    @tool(reads_only=True)
    async def dawdle() -> str:
        """Takes longer than allowed."""
        clock.advance(100)
        await asyncio.Event().wait()
        return "never"

    stage.plays(call("dawdle", {}))
    options = {"tools": [dawdle], "allowed_tools": ["dawdle"], "limits": {"abort_grace_s": 0.01}}
    await stage.ask(stage.engine(max_wall_s=60, **options))


@scenario()
async def repeated_calls(stage: Stage) -> None:
    stage.plays(call("look", {"word": "a"}))
    await stage.ask(stage.engine(**OWN, limits={"max_repeated_calls": 3}))


@scenario()
async def aborted_while_it_streams(stage: Stage) -> None:
    stage.plays(hold(say("Half a sentence that goes on", call("look", {"word": "a"}))), chunk=16)
    engine = stage.engine(**OWN)
    await stage.ask(engine, on_event=at("text_delta", engine.abort))
    stage.plays(text("Fine."))
    await stage.ask(engine, "And now?")


@scenario()
async def aborted_while_it_thinks(stage: Stage) -> None:
    stage.plays(hold(say(thinking("Hm, hm, let me think about it."), "Hello"), after=5), chunk=16)
    engine = stage.engine()
    await stage.ask(engine, on_event=at("thinking_delta", engine.abort))


@scenario()
async def aborted_while_tools_run(stage: Stage) -> None:
    @tool
    async def hang() -> str:
        """Aborts, and does not obey."""
        engine.abort()
        await asyncio.Event().wait()
        return "never"

    stage.plays(say("Running.", call("hang", {}), call("append", {"word": "a"})))
    options = {"tools": [hang, append], "allowed_tools": ["hang", "append"], "limits": {"abort_grace_s": 0.01}}
    engine = stage.engine(**options)
    await stage.ask(engine)
    stage.plays(text("Fine."))
    await stage.ask(engine, "And now?")


@scenario()
async def aborted_by_sigterm_while_tools_run(stage: Stage) -> None:
    @tool
    async def leave() -> str:
        """Aborts, and ends."""
        engine.abort(AbortCause.TERMINATED)
        return "ended"

    stage.plays(call("leave", {}))
    engine = stage.engine(tools=[leave], allowed_tools=["leave"])
    await stage.ask(engine)


@scenario()
async def aborted_by_a_new_prompt(stage: Stage) -> None:
    stage.plays(hold(text("Hello there, how are you?")), chunk=16)
    engine = stage.engine()
    await stage.ask(engine, "First.", on_event=at("text_delta", lambda: engine.abort(AbortCause.NEW_PROMPT)))
    stage.plays(text("Fine."))
    await stage.ask(engine, "Something else.")


@scenario()
async def blocking_limit(stage: Stage) -> None:
    small = [{"id": MODEL, "window": 4_000, "max_output": 500}]
    stage.plays(text("never"))
    await stage.ask(stage.engine(auto_compact=False, reactive_compact=False, models=small), "word " * 3_000)


@scenario()
async def too_long_without_recovery(stage: Stage) -> None:
    stage.plays(too_long())
    await stage.ask(stage.engine(reactive_compact=False))


@scenario()
async def thinking_of_a_whole_trajectory(stage: Stage) -> None:
    first = say(thinking("I should look."), call("look", {"word": "a"}))
    second = say(thinking("And once more."), "Again.", call("look", {"word": "b"}))
    stage.plays(first, second, say(thinking("I see."), "Done."), text("Yes."))
    engine = stage.engine(**OWN, model="claude-opus-4-8", thinking="adaptive", effort="high", task_budget=50_000)
    await stage.ask(engine)
    await stage.ask(engine, "Sure?")


@scenario()
async def a_history_that_is_mended(stage: Stage) -> None:
    unsigned = error(400, message="messages.1.content.0: Invalid `signature` in `thinking` block")
    stage.plays(say(thinking("Hm."), "Yes."), unsigned, text("Mended."))
    engine = stage.engine()
    await stage.ask(engine, "One.")
    await stage.ask(engine, "Two.")


@scenario()
async def calls_with_broken_input(stage: Stage) -> None:
    stage.plays(say_call("look", {"word": 7}), say_call("look", [1, 2]), text("Sorry."))
    await stage.ask(stage.engine(**OWN))

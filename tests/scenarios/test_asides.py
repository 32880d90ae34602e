"""A side question forks from the present context, reads the warm cache, and leaves no trace in the conversation."""

import asyncio

import msgspec
import pytest

from everturn.core.errors import OptionError
from everturn.modelserver import call, text, when

ASKED = "A side question"


def answers(bench, *main, aside="It is teal."):
    bench.model(when(aside if not isinstance(aside, str) else text(aside), last_user_contains=ASKED), *main)


async def test_it_is_answered_while_a_long_tool_runs_and_the_transcript_stays_as_it_is(bench):
    answers(bench, call("Bash", {"command": "until test -e asked; do sleep 0.05; done; echo done"}), text("Done."))
    engine = bench.engine(permission_mode="bypassPermissions")
    asides = []

    async def ask():
        before, file = engine.transcript, bench.session_file(engine.session_id)
        written = file.read_bytes()
        try:
            asides.append(await engine.ask_aside("Which colour?"))
            assert engine.transcript == before
            # Byte by byte, and nothing but what it cost.
            assert file.read_bytes().startswith(written)
            [added] = file.read_bytes()[len(written) :].splitlines()
            assert msgspec.json.decode(added)["record"] == {"type": "usage", "purpose": "aside", "turn": 1}
        finally:
            (bench.folder / "asked").touch()

    tasks = []

    def notice(event):
        if event.__struct_config__.tag == "assistant" and event.message.uses:
            tasks.append(asyncio.create_task(ask()))

    run = await bench.go_on(engine, "Wait.", on_event=notice)
    await asyncio.gather(*tasks)

    assert [aside.text for aside in asides] == ["It is teal."]
    assert run.result.text == "Done."
    assert ASKED not in str(bench.sent[-1])
    assert [message.text for message in engine.transcript if ASKED in message.text] == []


async def test_its_request_begins_with_the_bytes_of_the_main_loop(bench):
    answers(bench, call("Glob", {"pattern": "*"}), text("Two files."))
    engine = bench.engine()
    await bench.go_on(engine, "Look.")

    aside = await engine.ask_aside("Which colour?")

    main, side = bench.bodies[-2], bench.bodies[-1]
    assert side["system"] == main["system"]
    assert side["tools"] == main["tools"]
    assert bench.sent[-1][: len(bench.sent[-2])] == bench.sent[-2]
    assert aside.usage.cache_read > 0
    assert side["messages"][-1]["content"][-1].get("cache_control") is None


async def test_it_is_charged_with_its_own_purpose(bench):
    answers(bench, text("Done."))
    engine = bench.engine()
    await bench.go_on(engine, "Look.")
    before = engine.total_usd

    await engine.ask_aside("Which colour?")

    assert engine.total_usd > before
    charges = [record["purpose"] for record in bench.records(engine.session_id) if record["type"] == "usage"]
    assert charges == ["main", "aside"]


async def test_a_resumed_session_answers_one_before_its_first_prompt(bench):
    answers(bench, text("Done."))
    engine = bench.engine()
    await bench.go_on(engine, "Look.")
    await engine.aclose()
    later = bench.engine(resume=engine.session_id)

    assert (await later.ask_aside("Which colour?")).text == "It is teal."
    assert bench.sent[-1][0] == bench.sent[0][0]


async def test_no_tool_runs_for_it(bench):
    answers(bench, text("Done."), aside=call("Bash", {"command": "touch ran"}))
    engine = bench.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine, "Look.")

    aside = await engine.ask_aside("Which colour?")

    assert aside.text == ""
    assert not (bench.folder / "ran").exists()


async def test_an_empty_one_is_refused(bench):
    with pytest.raises(OptionError, match="question: it is empty"):
        await bench.engine().ask_aside("  ")


async def test_several_at_once_and_the_next_prompt_is_sent_as_if_there_had_been_none(bench):
    answers(bench, text("Done."), text("Done again."))
    engine = bench.engine()
    await bench.go_on(engine, "Look.")

    asides = await asyncio.gather(*(engine.ask_aside(f"Which colour is {number}?") for number in range(4)))
    run = await bench.go_on(engine, "More.")

    assert [aside.text for aside in asides] == ["It is teal."] * 4
    assert run.result.text == "Done again."
    assert [message["role"] for message in bench.sent[-1]] == ["user", "assistant", "user"]

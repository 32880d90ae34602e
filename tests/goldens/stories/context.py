"""Scenarios of the context pipeline: compaction, collapse, snip, clearing, media, large results."""

import asyncio
import base64
from typing import Any

from tests.goldens.catalogue import scenario
from tests.goldens.stage import MODEL, Stage
from tests.goldens.stories.turns import LONG, OWN

from everturn import Engine, tool
from everturn.modelserver import call, calls, error, hold, say, text, too_long, when
from everturn.ports.hooks import CompactVerdict

SMALL = [{"id": MODEL, "window": 20_000, "max_output": 2_000}]
EAGER = {"clear_share": 0, "clear_gain": 0, "clear_worth": 0, "clear_keeps": 1, "clear_small": 0}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def filling(tokens: int, *parts: Any) -> Any:
    """An answer after which the API counts so many tokens in the window."""
    counts = {"input_tokens": tokens, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    return say(*(parts or ("Some words. " * 60,)), usage={**counts, "cache_creation": None})


def image(number: int) -> dict[str, Any]:
    """The same picture, in other bytes for each number."""
    data = base64.b64encode(base64.b64decode(PIXEL) + b"\0" * number).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def refuse_image(place: str) -> Any:
    return error(400, message=f"{place}.image.source.base64: image exceeds 5 MB maximum: 6 > 5 bytes")


def stage_work(engine: Engine, summary: str) -> None:
    engine.collapses.stage(engine.transcript[0].id, engine.transcript[-1].id, summary)


@scenario()
async def compacted_ahead_of_time(stage: Stage) -> None:
    stage.plays(filling(17_000), text("Went on."), stage.summary())
    engine = stage.engine(models=SMALL)
    await stage.ask(engine, "Begin.")
    await stage.ask(engine, "Go on.")


@scenario()
async def compacted_by_hand(stage: Stage) -> None:
    async def before(_given: Any) -> CompactVerdict:
        return CompactVerdict(instructions="Keep all numbers.")

    async def after(_given: Any) -> None:
        pass

    stage.plays(text(LONG), text("Went on."), stage.summary())
    engine = stage.engine(hooks={"pre_compact": before, "post_compact": after})
    await stage.ask(engine, "Begin.")
    await stage.compact(engine, "Keep the names of all files.")
    await stage.ask(engine, "Go on.")


@scenario()
async def compaction_that_fails(stage: Stage) -> None:
    stage.plays(*[filling(17_000)] * 5, stage.summary(error(400)))
    engine = stage.engine(models=SMALL, limits={"compact_failures": 2})
    for prompt in ("Begin.", "Go on.", "Go on again.", "And again."):
        await stage.ask(engine, prompt)
    await stage.compact(engine)


@scenario()
async def compaction_that_a_hook_forbids(stage: Stage) -> None:
    async def before(_given: Any) -> CompactVerdict:
        return CompactVerdict(block="Not now.")

    stage.plays(text(LONG))
    engine = stage.engine(hooks={"pre_compact": before})
    await stage.ask(engine, "Begin.")
    await stage.compact(engine)


@scenario()
async def compaction_that_is_aborted(stage: Stage) -> None:
    stage.plays(text(LONG), stage.summary(hold(text("A sum"), after=-1)))
    engine = stage.engine()
    await stage.ask(engine, "Begin.")
    compacting = asyncio.create_task(stage.compact(engine))
    await stage.server.wait_for(2)
    engine.abort()
    await compacting


@scenario()
async def compacted_when_refused(stage: Stage) -> None:
    stage.plays(text(LONG), too_long(), call("look", {"word": "a"}), text("Done."), stage.summary())
    engine = stage.engine(**OWN)
    await stage.ask(engine, "Begin.")
    await stage.ask(engine, "Go on.")


@scenario()
async def refused_after_compaction(stage: Stage) -> None:
    stage.plays(text(LONG), too_long(), stage.summary(too_long(), "In short.", at_end="repeat"))
    engine = stage.engine()
    await stage.ask(engine, "Begin.")
    await stage.ask(engine, "Go on.")


@scenario()
async def refused_and_nothing_to_leave_out(stage: Stage) -> None:
    stage.plays(too_long(), stage.summary(error(400)))
    await stage.ask(stage.engine(), "Begin.")


@scenario()
async def snip_in_place_of_a_failed_summary(stage: Stage) -> None:
    stage.plays(
        *[text(f"Answer {n}. " * 60) for n in range(3)], too_long(), text("Went on."), stage.summary(error(400))
    )
    engine = stage.engine()
    for number in range(4):
        await stage.ask(engine, f"Prompt {number}.")


@scenario()
async def pinned_notes_and_read_files_survive(stage: Stage) -> None:
    stage.write("a.py", "one\ntwo\n")
    stage.plays(stage.read("a.py"), text(LONG), too_long(), text("Went on."), text("Yes."), stage.summary())
    engine = stage.engine(builtin_tools=["Read"])
    engine.pin("Never touch the vendor folder.")
    await stage.ask(engine, "Begin.")
    await stage.ask(engine, "Go on.")
    engine.unpin(1)
    await stage.ask(engine, "Still?")


@scenario()
async def collapses_drained(stage: Stage) -> None:
    stage.plays(call("look", {"word": "a" * 800}), text("Found it."), too_long(), text("Went on."), text("Yes."))
    engine = stage.engine(**OWN)
    await stage.ask(engine, "Search.")
    stage_work(engine, "Searched and found it.")
    await stage.ask(engine, "Go on.")
    engine.collapses.undo(engine.collapses.committed[0].id)
    await stage.ask(engine, "And now?")


@scenario()
async def collapses_drained_then_compacted(stage: Stage) -> None:
    stage.plays(
        *(call("look", {"word": "a" * 800}), text("Found it."), too_long(), too_long(), text("Went on.")),
        stage.summary(),
    )
    engine = stage.engine(**OWN)
    await stage.ask(engine, "Search.")
    stage_work(engine, "Searched and found it.")
    engine.collapses.stage("nowhere", "nowhere", "It stands for nothing.")
    await stage.ask(engine, "Go on.")


@scenario()
async def collapse_at_the_soft_limit(stage: Stage) -> None:
    stage.plays(call("look", {"word": "long " * 900}), filling(15_500), text("Went on."))
    engine = stage.engine(**OWN, models=SMALL)
    await stage.ask(engine, "Search.")
    engine.collapses.stage(engine.transcript[0].id, engine.transcript[-2].id, "Looked at a word.")
    await stage.ask(engine, "Go on.")


@scenario()
async def collapse_made_in_the_background(stage: Stage) -> None:
    def listing(first: str, second: str) -> Any:
        states = (("A", first), ("B", second))
        return call("TodoWrite", {"todos": [{"content": n, "status": s, "activeForm": n} for n, s in states]})

    def listen(event: Any) -> None:
        if getattr(event, "purpose", "") == "collapse":
            stage.server.release()

    work = [call("look", {"word": f"{n} " * 700}) for n in range(2)]
    stage.plays(
        *(listing("in_progress", "pending"), *work, listing("completed", "in_progress")),
        *(call("look", {"word": "last"}), hold(text("Fixed.")), text("Went on.")),
        when("It was looked at.", last_user_contains="finished stretch"),
    )
    limits = {"collapse_from": 0, "collapse_share": 0, "clear_share": 1}
    engine = stage.engine(**OWN, builtin_tools=["TodoWrite"], limits=limits, small_model="claude-haiku-4-5")
    await stage.ask(engine, "Do both.", on_event=listen)
    await stage.ask(engine, "Go on.")


@scenario()
async def snipped(stage: Stage) -> None:
    stage.plays(*[text(f"Answer {n}. " * 60) for n in range(6)])
    engine = stage.engine(limits={"snip_tokens": 900})
    for number in range(6):
        await stage.ask(engine, f"Prompt {number}.")


@scenario()
async def stale_results_cleared(stage: Stage) -> None:
    names = [f"{number}.txt" for number in range(4)]
    for name in names:
        stage.write(name, f"A line of {name}.\n" * 60)
    stage.plays(*map(stage.read, names), text("Done."), text("Yes."))
    engine = stage.engine(builtin_tools=["Read"], limits=EAGER)
    await stage.ask(engine, "Read all.")
    await stage.ask(engine, "Really?")


@scenario()
async def cleared_by_the_api(stage: Stage) -> None:
    editing = [{"id": MODEL, "window": 20_000, "max_output": 2_000, "clears_results": True}]
    applied = [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 3, "cleared_input_tokens": 9_000}]
    stage.write("a.txt", "A line.\n" * 20)
    look = stage.read("a.txt", limit=19)
    stage.plays(look, look, say("Done.", extra={"context_management": {"applied_edits": applied}}))
    limits = {"clear_share": 0.5, "clear_gain": 0.1, "clear_keeps": 2}
    await stage.ask(stage.engine(models=editing, limits=limits, auto_compact=False, builtin_tools=["Read"]))


@scenario()
async def media_left_out(stage: Stage) -> None:
    same = refuse_image("messages.0.content.1")
    stage.plays(same, same, same, text("I cannot see them."), text("Yes."))
    engine = stage.engine()
    await stage.ask(engine, [{"type": "text", "text": "Which is best?"}, *map(image, range(4))])
    await stage.ask(engine, "Never mind.")


@scenario()
async def media_of_a_result_left_out(stage: Stage) -> None:
    stage.write("shot.png", base64.b64decode(PIXEL))
    stage.plays(stage.read("shot.png"), refuse_image("messages.2.content.0.tool_result.content.0"), text("Fine."))
    await stage.ask(stage.engine(builtin_tools=["Read"]))


@scenario()
async def media_error(stage: Stage) -> None:
    stage.plays(refuse_image("messages.0.content.0"))
    await stage.ask(stage.engine(), [image(0)])


@scenario()
async def large_result_in_a_file(stage: Stage) -> None:
    @tool(reads_only=True, result_limit=2_600)
    async def dump(letter: str, size: int) -> str:
        """Prints a letter many times."""
        return f"begin {letter * size} end"

    large, two = call("dump", {"letter": "a", "size": 9_000}), [("b", 900), ("c", 2_500)]
    stage.plays(large, calls(*(("dump", {"letter": letter, "size": size}) for letter, size in two)), text("I see."))
    limits = {"message_results": 3_000, "result_preview": 500}
    await stage.ask(stage.engine(tools=[dump], allowed_tools=["dump"], limits=limits))


@scenario()
async def counted_before_it_is_sent(stage: Stage) -> None:
    stage.plays(text("Went on."), text("Fine."), stage.summary())
    engine = stage.engine(models=[{"id": MODEL, "window": 8_000, "max_output": 1_000}])
    await stage.ask(engine, "Begin.")
    await stage.ask(engine, "." * 22_000)


@scenario()
async def summary_that_leaves_the_oldest_out(stage: Stage) -> None:
    answers = [text(f"Answer {n}. " * 50) for n in range(4)]
    refused_once = stage.summary(too_long(), at_end="pass")
    stage.plays(*answers, too_long(), text("Went on."), refused_once, stage.summary())
    engine = stage.engine()
    for number in range(5):
        await stage.ask(engine, f"Prompt {number}.")


@scenario()
async def cache_that_expired(stage: Stage) -> None:
    stage.plays(text("First."), text("Second."))
    engine = stage.engine(user_context={"rules": "Be brief. " * 600})
    await stage.ask(engine, "Begin.")
    stage.clock.advance(600)
    await stage.ask(engine, "Go on.")

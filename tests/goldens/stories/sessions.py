"""Scenarios of sessions: resumed, cut off, forked, cleared, left in the midst; and of the program."""

import json
from typing import Any

from tests.goldens.catalogue import scenario
from tests.goldens.stage import LEAVE, Stage
from tests.goldens.stories.context import filling, image, refuse_image, stage_work
from tests.goldens.stories.turns import LONG, OWN, at

from everturn.modelserver import call, calls, hold, say, text, thinking, too_long


@scenario()
async def resumed(stage: Stage) -> None:
    stage.write("a.txt", "alpha\n")
    stage.plays(say(thinking("I look."), stage.read("a.txt")), text("Alpha."), text("Yes."), text("Really."))
    contexts: dict[str, Any] = {"user_context": {"a": "b"}, "system_context": {"c": "d"}, "builtin_tools": ["Read"]}
    engine = stage.engine(**contexts)
    await stage.ask(engine, "One.")
    engine = await stage.reopen(engine, **contexts)
    await stage.ask(engine, "Two.")
    engine = await stage.reopen(engine, **contexts)
    await stage.ask(engine, "Three.")


@scenario()
async def resumed_after_compaction_and_collapse(stage: Stage) -> None:
    stage.plays(
        *(call("look", {"word": "a" * 800}), text(LONG), too_long(), text("Went on."), too_long(), text("Yes.")),
        *(text("Last."), stage.summary()),
    )
    engine = stage.engine(**OWN)
    await stage.ask(engine, "One.")
    stage_work(engine, "Looked at a word.")
    await stage.ask(engine, "Two.")
    await stage.ask(engine, "Three.")
    await stage.ask(await stage.reopen(engine, **OWN), "Four.")


@scenario()
async def resumed_without_media(stage: Stage) -> None:
    stage.plays(refuse_image("messages.0.content.1"), text("Two are left."), text("Still two."))
    engine = stage.engine()
    await stage.ask(engine, [image(0), image(1), image(2)])
    await stage.ask(await stage.reopen(engine), "And now?")


@scenario()
async def resumed_with_another_model_and_changed_contexts(stage: Stage) -> None:
    stage.plays(say(thinking("Hm."), "One."), text("Two."))
    engine = stage.engine(user_context={"memory": "Use tabs."})
    await stage.ask(engine, "First.")
    changed = {"user_context": {"memory": "Use spaces."}, "model": "claude-opus-5", "permission_mode": "plan"}
    await stage.ask(await stage.reopen(engine, **changed), "Second.")


async def play_and_cut(stage: Stage, *answers: Any, after: str, prompts: tuple[str, ...] = ("Do it.",)) -> str:
    """As a kill leaves it: the journal ends with the line that holds these words. Gives the session's id."""

    async def hook(turn: Any) -> str | None:
        return "The tests fail." if turn.text == "Done?" else None

    stage.plays(*answers)
    engine = stage.engine(**OWN, hooks={"stop": hook})
    for prompt in prompts:
        await stage.ask(engine, prompt)
    await engine.aclose()
    stage.cut_journal(engine, after)
    return engine.session_id


@scenario()
async def cut_in_mid_call(stage: Stage) -> None:
    """The process died while a call with side effects ran: its outcome is unknown."""
    running = say("Running.", call("append", {"word": "a"}), call("look", {"word": "b"}))
    resumed = await play_and_cut(stage, running, text("Done."), after='"type":"intent"')
    stage.plays(text("I will check."))
    await stage.go_on(stage.engine(resume=resumed, **OWN))


@scenario()
async def cut_between_rounds(stage: Stage) -> None:
    resumed = await play_and_cut(stage, call("look", {"word": "a"}), text("Done."), after='"type":"transition"')
    stage.plays(text("Went on."))
    await stage.go_on(stage.engine(resume=resumed, **OWN))


@scenario()
async def cut_and_left_open_in_mid_call(stage: Stage) -> None:
    running = say("Running.", call("append", {"word": "a"}))
    await play_and_cut(stage, running, text("Done."), after='"type":"intent"')


@scenario()
async def cut_and_left_open_after_a_prompt(stage: Stage) -> None:
    await play_and_cut(stage, text("Done."), after='"content":"Do it."')


@scenario()
async def cut_and_left_open_after_a_stop_hook(stage: Stage) -> None:
    answers = call("look", {"word": "a"}), text("Done?"), text("Now it is.")
    await play_and_cut(stage, *answers, after="A stop hook found")


@scenario()
async def cut_and_left_open_after_a_compaction(stage: Stage) -> None:
    answers, cut = (text(LONG), too_long(), text("Done."), stage.summary()), '"transition":"reactive_compact_retry"'
    await play_and_cut(stage, *answers, after=cut, prompts=("Begin.", "Go on."))


@scenario()
async def left_by_the_consumer(stage: Stage) -> None:
    stage.plays(call("look", {"word": "a"}), hold(text("Never to be read, all of it.")), text("Fine."), chunk=16)
    engine = stage.engine(**OWN)
    await stage.ask(engine, on_event=at("text_delta", lambda: LEAVE))
    await stage.ask(engine, "And now?")


@scenario()
async def forked(stage: Stage) -> None:
    stage.plays(text("One."), text("Two."), text("Another two."), text("Three."))
    engine = stage.engine()
    await stage.ask(engine, "First.")
    await stage.ask(engine, "Second.")
    await engine.aclose()
    first_answer = engine.transcript[1].id
    fork = stage.engine(resume=engine.session_id, fork_session=True, resume_at=first_answer)
    await stage.ask(fork, "Second, otherwise.")
    await stage.ask(stage.engine(resume=engine.session_id), "Third.")


@scenario()
async def gone_on_from_an_earlier_message(stage: Stage) -> None:
    stage.plays(text("One."), text("Two."), text("Another two."))
    engine = stage.engine()
    await stage.ask(engine, "First.")
    await stage.ask(engine, "Second.")
    at_first = engine.transcript[1].id
    await stage.ask(await stage.reopen(engine, resume_at=at_first), "Second, otherwise.")


@scenario()
async def cleared(stage: Stage) -> None:
    stage.plays(text("One."), text("Two."))
    engine = stage.engine()
    await stage.ask(engine, "First.")
    await stage.ask(await stage.clear(engine), "Second.")


@scenario()
async def denials_and_notes_resumed(stage: Stage) -> None:
    todo = {"content": "Look", "status": "pending", "activeForm": "Looking"}
    options: dict[str, Any] = {"builtin_tools": ["TodoWrite", "Write"]}
    denied = ("Write", {"file_path": "a.txt", "content": ""})
    stage.plays(calls(("TodoWrite", {"todos": [todo]}), denied), text("One."), text("Two."))
    engine = stage.engine(**options)
    engine.pin("Be kind.")
    await stage.ask(engine, "First.")
    await stage.ask(await stage.reopen(engine, **options), "Second.")


@scenario()
async def program(stage: Stage) -> None:
    """The terminal agent itself, in a process of its own; its ids and times are those of the real world."""
    stage.write("a.txt", "alpha\n")
    answers = stage.read("a.txt"), "Alpha.", "Again."
    stage.plays(*(filling(20_000, answer) for answer in answers))
    for words in (["-p", "What is in it?"], ["-p", "--continue", "And again?"]):
        await stage.run_program(*words, "--output-format", "json")


@scenario()
async def program_with_settings(stage: Stage) -> None:
    """What settings, memory files and flags say together."""
    rules = {"allow": ["Edit(*.txt)"], "deny": ["Edit(secret.txt)"]}
    settings = {"permissions": rules, "everturn": {"limits": {"max_repeated_calls": 5}}}
    (stage.home / "settings.json").write_text(json.dumps(settings))
    (stage.home / "AGENTS.md").write_text("Use tabs.\n")
    stage.write("AGENTS.md", "Write tests.\n")
    writes = [("Write", {"file_path": name, "content": "x"}) for name in ("a.txt", "secret.txt", "a.py")]
    stage.plays(filling(20_000, calls(*writes)), filling(20_000, "Done."))
    flags = ("--model", "claude-opus-5", "--max-turns", "3", "--append-system-prompt", "Be brief.")
    await stage.run_program("-p", *flags, "Write them.")


@scenario()
async def not_kept_on_disk(stage: Stage) -> None:
    stage.plays(call("look", {"word": "a"}), text("Done."))
    await stage.ask(stage.engine(**OWN, persist=False))


@scenario()
async def a_file_that_changed_meanwhile(stage: Stage) -> None:
    file = stage.write("a.txt", "alpha\n")
    options: dict[str, Any] = {"builtin_tools": ["Read", "Write"], "permission_mode": "acceptEdits", **OWN}
    stage.plays(stage.read("a.txt"), text("Alpha."))
    engine = stage.engine(**options)
    await stage.ask(engine, "Read it.")
    file.write_text("omega, and more\n")
    overwrite = call("Write", {"file_path": str(file), "content": "beta\n"})
    stage.plays(overwrite, call("look", {"word": "a"}), text("I see."))
    await stage.ask(await stage.reopen(engine, **options), "Overwrite it.")

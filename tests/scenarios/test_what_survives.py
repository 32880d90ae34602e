"""What a compaction keeps beside its summary: pinned notes, files read last, and what hooks have to say about it."""

import pytest

from everturn.core.state import Reason
from everturn.modelserver import call, text, too_long
from everturn.permissions.rules.rule_parser import parse_rule
from everturn.ports.hooks import CompactInput, CompactVerdict
from everturn.ports.policy import Ruling

LONG = "An earlier answer. " * 100


def texts(message):
    return [block["text"] for block in message["content"] if block["type"] == "text"]


async def refuse_once(bench, engine, prompt="Go on."):
    bench.model(too_long(), text("Went on."), bench.summary())
    return await bench.go_on(engine, prompt)


async def test_a_pinned_note_is_told_once_and_again_after_a_compaction(bench):
    bench.model(text(LONG), text("Yes."))
    engine = bench.engine()
    engine.pin("  Never touch the vendor folder. ")

    await bench.go_on(engine, "Begin.")
    await bench.go_on(engine, "Again.")
    assert str(bench.sent[-1]).count("Never touch the vendor folder.") == 1
    assert "The user pinned this note; it applies until they remove it:" in str(bench.sent[0])
    await refuse_once(bench, engine)
    assert "## Notes that the user pinned\nNever touch the vendor folder." in texts(bench.sent[-1][0])[1]
    await engine.aclose()

    resumed = bench.engine(resume=engine.session_id)
    assert resumed.notes.pins == ("Never touch the vendor folder.",)
    assert resumed.unpin(1) == "Never touch the vendor folder."
    assert resumed.notes.pins == ()


async def test_the_model_hears_that_a_note_was_taken_back_unless_it_never_heard_of_it(bench):
    bench.model(text("Yes."))
    engine = bench.engine()
    engine.pin("Use tabs.")
    engine.unpin(1)
    engine.pin("Be kind.")
    await bench.go_on(engine)
    assert "Use tabs." not in str(bench.sent[-1])
    engine.unpin(1)

    for _ in range(2):
        await bench.go_on(engine)

    assert str(bench.sent[-1]).count("The user removed this note; it no longer applies:\\nBe kind.") == 1


async def test_files_read_last_are_shown_again_as_they_are_now_and_may_be_edited(bench):
    (bench.folder / "a.py").write_text("one\ntwo\n")
    (bench.folder / "b.py").write_text("three\n")
    (bench.folder / "gone.py").write_text("four\n")
    look = [call("Read", {"file_path": str(bench.folder / name)}) for name in ("a.py", "gone.py", "b.py")]
    bench.model(*look, text(LONG))
    engine = bench.engine(permission_mode="acceptEdits")
    await bench.go_on(engine, "Read.")
    (bench.folder / "gone.py").unlink()
    (bench.folder / "a.py").write_text("one\n2\n")
    edit = {"file_path": str(bench.folder / "a.py"), "old_string": "2", "new_string": "zwei"}
    bench.model(too_long(), call("Edit", edit), text("Done."), bench.summary())

    run = await bench.go_on(engine, "Change it.")

    assert run.reason is Reason.COMPLETED
    *_, files = [part for part in texts(bench.sent[-2][0]) if part.startswith("The files that were read last:")]
    assert files == (
        "The files that were read last:\n\n"
        f"The file {bench.folder}/b.py, as it is now:\n     1\tthree\n\n"
        f"The file {bench.folder}/a.py, as it is now:\n     1\tone\n     2\t2"
    )
    assert (bench.folder / "a.py").read_text() == "one\nzwei\n"


@pytest.mark.parametrize("way", ["a link", "a folder that is a link", "a link to a denied file", "a rule"])
async def test_a_file_that_may_not_be_read_any_more_is_not_shown_again(bench, way):
    outside, path = bench.home.parent / "outside", bench.folder / "d" / "a.txt"
    outside.mkdir()
    path.parent.mkdir()
    path.write_text("plain\n")
    (outside / "a.txt").write_text("closed\n")
    (bench.folder / "b.txt").write_text("open\n")
    (bench.folder / "denied.txt").write_text("closed\n")
    bench.model(
        call("Read", {"file_path": str(path)}), call("Read", {"file_path": str(bench.folder / "b.txt")}), text(LONG)
    )
    engine = bench.engine(disallowed_tools=["Read(denied.txt)"])
    await bench.go_on(engine, "Read.")
    match way:
        case "a link":
            path.unlink()
            path.symlink_to(outside / "a.txt")
        case "a folder that is a link":
            path.parent.rename(bench.folder / "e")
            path.parent.symlink_to(outside)
        case "a link to a denied file":
            path.unlink()
            path.symlink_to(bench.folder / "denied.txt")
        case _:
            path.write_text("closed\n")
            engine.policy.add_rule(parse_rule("Read(d/**)", Ruling.DENY))
    bench.model(too_long(), text("Done."), bench.summary())

    run = await bench.go_on(engine, "Go on.")

    assert run.reason is Reason.COMPLETED
    assert "closed" not in str(bench.bodies)
    *_, files = [part for part in texts(bench.sent[-1][0]) if part.startswith("The files that were read last:")]
    assert files == f"The files that were read last:\n\nThe file {bench.folder}/b.txt, as it is now:\n     1\topen"


async def test_hooks_run_before_and_after_and_may_add_to_what_is_asked(bench):
    heard = []

    def before(compaction):
        heard.append(compaction)
        return CompactVerdict(instructions="Keep the names.")

    bench.model(text(LONG))
    engine = bench.engine(hooks={"pre_compact": before, "post_compact": heard.append})
    await bench.go_on(engine)

    await refuse_once(bench, engine)

    said = {"session_id": engine.session_id, "cause": "too_long"}
    assert heard == [CompactInput(**said), CompactInput(**said, summary="What happened, in short.")]
    assert texts(bench.sent[-2][-1])[-1].endswith("The user adds: Keep the names.")


async def test_a_hook_can_forbid_it_and_one_that_fails_does_not(bench):
    def broken(_):
        raise ValueError("broken")

    bench.model(text(LONG), bench.summary())
    engine = bench.engine(hooks={"pre_compact": [broken, lambda _: "Not now."]})
    await bench.go_on(engine)
    events = [event async for event in engine.compact()]
    assert events[-1].text == "Nothing was compacted: A hook said: Not now."

    engine = bench.engine(hooks={"pre_compact": broken, "post_compact": broken})
    await bench.go_on(engine)
    events = [event async for event in engine.compact()]
    assert events[-1].text.startswith("Compacted from")


async def test_earlier_prompts_are_repeated_as_far_as_there_is_room(bench):
    bench.model(*[text(LONG)] * 3)
    engine = bench.engine(limits={"recalled_tokens": 60})
    for prompt in ("The first wish. " * 20, "The second wish.", "The third wish."):
        await bench.go_on(engine, prompt)

    await refuse_once(bench, engine)

    assert texts(bench.sent[-1][0])[1].endswith("## The user's earlier prompts\nThe second wish.\n\nThe third wish.")


async def test_after_a_compaction_prompt_todos_failures_and_files_are_told_as_what_they_are(bench):
    (bench.folder / "a.py").write_text("one\n")
    (bench.folder / "b.py").write_text("one\n")
    todos = [
        {"content": "Look", "status": "completed", "activeForm": "Looking"},
        {"content": "Leap", "status": "in_progress", "activeForm": "Leaping"},
    ]
    bench.model(
        call("TodoWrite", {"todos": todos}),
        call("Bash", {"command": "echo broken; false"}),
        call("Read", {"file_path": "a.py"}),
        call("Edit", {"file_path": "a.py", "old_string": "one", "new_string": "two"}),
        call("Bash", {"command": "sed -i s/one/two/ b.py"}),
        call("Edit", {"file_path": f"{bench.folder}/a.py", "old_string": "two", "new_string": "three"}),
        call("Bash", {"command": "echo still broken; exit 2"}),
        text(LONG),
    )
    engine = bench.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine, "Mend it.")
    bench.model(too_long(), call("Bash", {"command": "true"}), text("Went on."), bench.summary())

    await bench.go_on(engine, "And now the tests.")

    _, facts, files, head, prompt = texts(bench.sent[-1][0])
    assert (head, prompt) == ("The prompt you are working on, word for word:", "And now the tests.")
    assert facts.split("\n\n", 1)[1] == (
        "## The user's earlier prompts\nMend it.\n\n"
        "## The list of todos, done and open\n- [completed] Look\n- [in_progress] Leap\n\n"
        f"## Files changed so far\n- {bench.folder}/a.py\n- {bench.folder}/b.py\n\n"
        "## Commands that failed and have not passed since\n"
        "$ echo broken; false\n(It failed 6 calls before this was written; files were changed since.)\n"
        "Exit code 1\nbroken\n\n"
        "$ echo still broken; exit 2\n"
        "(It failed 1 call before this was written; no file is known to have changed since.)\nExit code 2\nstill broken"
    )
    assert f"The file {bench.folder}/a.py, as it is now:" in files


async def test_a_compaction_by_hand_heads_the_prompt_as_the_last_one(bench):
    bench.model(text(LONG), text(LONG), bench.summary(), text("Yes."))
    engine = bench.engine()
    await bench.go_on(engine, "The first wish.")
    await bench.go_on(engine, "The second wish.")
    [event async for event in engine.compact()]

    await bench.go_on(engine, "And now?")

    assert "The last prompt, word for word:\n\nThe second wish." in "\n\n".join(texts(bench.sent[-1][0]))

"""A file that the model has read changes on disk: it is told after the next tool round, once."""

from everturn.modelserver import call, text

LOOK = call("Glob", {"pattern": "*"})


async def test_an_outside_edit_is_told_after_the_next_tool_round_and_only_once(bench):
    path = bench.folder / "a.txt"
    path.write_text("alpha\n")
    bench.model(call("Read", {"file_path": str(path)}), LOOK, LOOK, text("Done."))
    engine = bench.engine()

    def edit(event):
        if event.__struct_config__.tag == "request_start" and event.turn == 2:
            path.write_text("omega, at last\n")

    run = await bench.go_on(engine, on_event=edit)

    [attached] = run.of("attachment")
    assert (attached.kind, attached.detail) == ("changed_files", {"paths": [str(path)]})
    assert [str(path) in str(message) for message in bench.sent[-1][4:]] == [True, False, False]
    assert [block["type"] for block in bench.sent[-1][4]["content"]] == ["tool_result", "text"]


async def test_our_own_edit_is_no_news(bench):
    path = bench.folder / "a.txt"
    path.write_text("alpha\n")
    edit = {"file_path": str(path), "old_string": "alpha", "new_string": "beta"}
    bench.model(call("Read", {"file_path": str(path)}), call("Edit", edit), LOOK, text("Done."))

    run = await bench.run(permission_mode="acceptEdits")

    assert path.read_text() == "beta\n"
    assert run.of("attachment") == []


async def test_a_file_that_is_gone_is_told(bench):
    path = bench.folder / "a.txt"
    path.write_text("alpha\n")
    bench.model(call("Read", {"file_path": str(path)}), call("Bash", {"command": "rm a.txt"}), text("Done."))

    run = await bench.run(permission_mode="bypassPermissions")

    assert [attached.detail for attached in run.of("attachment")] == [{"paths": [str(path)]}]


async def test_a_change_between_two_prompts_is_told_in_the_next(bench):
    path = bench.folder / "a.txt"
    path.write_text("alpha\n")
    bench.model(call("Read", {"file_path": str(path)}), text("Alpha."), LOOK, text("Done."))
    engine = bench.engine()
    await bench.go_on(engine)
    path.write_text("omega, at last\n")

    run = await bench.go_on(engine)

    assert [attached.kind for attached in run.of("attachment")] == ["changed_files"]

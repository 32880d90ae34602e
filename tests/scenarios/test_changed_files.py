"""A file that the model has read changes on disk: it is told after the next tool round, once."""

import pytest

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
    bench.model(call("Read", {"file_path": str(path)}), LOOK, text("Done."))

    def remove(event):
        if event.__struct_config__.tag == "request_start" and event.turn == 2:
            path.unlink()

    run = await bench.go_on(bench.engine(), on_event=remove)

    assert [attached.detail for attached in run.of("attachment")] == [{"paths": [str(path)], "gone": True}]
    [text_] = told(bench)
    assert "no longer there" in text_
    assert "read them again" not in text_


def told(bench, place=-1):
    """What stands beside the results of a round."""
    return [block["text"] for block in bench.sent[place][-1]["content"] if block["type"] == "text"]


def said(bench, place=-1):
    return [block["content"] for block in bench.sent[place][-1]["content"] if block["type"] == "tool_result"]


def edit(path, old="alpha", new="beta"):
    return call("Edit", {"file_path": str(path), "old_string": old, "new_string": new})


@pytest.mark.parametrize("command", ["rm a.txt", 'rm "$PWD"/a.txt', "mv a.txt b.txt", "rm -r ../project/a.txt; true"])
async def test_what_the_model_removed_itself_is_no_news(bench, command):
    (bench.folder / "a.txt").write_text("alpha\n")
    bench.model(call("Read", {"file_path": "a.txt"}), call("Bash", {"command": command}), LOOK, text("Done."))

    run = await bench.run(permission_mode="bypassPermissions")

    assert run.of("attachment") == []


@pytest.mark.needs("Landlock")
async def test_a_scratch_file_that_the_model_removed_is_no_news(bench):
    engine = bench.engine()
    bench.model(call("Bash", {"command": "echo $TMPDIR"}), text("There."))
    await bench.go_on(engine)
    [folder] = said(bench)
    write = call("Write", {"file_path": f"{folder}/x.py", "content": "x"})
    bench.model(write, call("Bash", {"command": "rm $TMPDIR/x.py"}), LOOK, text("Done."))

    run = await bench.go_on(engine)

    assert [event.is_error for event in run.of("tool_end")] == [False] * 3
    assert run.of("attachment") == []


@pytest.mark.parametrize("command", ["sed -i s/alpha/omega/ a.txt", "sh format.sh"])
async def test_a_change_by_its_own_command_is_told_as_such_and_once(bench, command):
    path = bench.folder / "a.txt"
    path.write_text("alpha\n")
    (bench.folder / "format.sh").write_text("for each in a*; do echo omega > $each; done")
    read = call("Read", {"file_path": str(path)})
    bench.model(
        read, call("Bash", {"command": command}), edit(path, "omega"), LOOK, read, edit(path, "omega"), text(".")
    )

    run = await bench.run(permission_mode="bypassPermissions")

    [attached] = run.of("attachment")
    assert attached.detail == {"paths": [str(path)], "by_command": True}
    assert told(bench, 2) == [
        (
            "<system-reminder>\nThese files changed while your command ran, most likely by it, after you had read them; Read the "
            f"changed place (offset and limit) before you edit one:\n- {path}\n</system-reminder>"
        )
    ]
    assert said(bench, 3) == [
        (
            f"<tool_use_error>{path} has changed since it was read, while a command of yours ran and most likely by it. Read the "
            "lines around the place (Read with offset and limit) before you change it.</tool_use_error>"
        )
    ]
    assert path.read_text() == "beta\n"


async def test_a_second_edit_after_a_change_is_told_the_same_again(bench):
    path = bench.folder / "a.txt"
    path.write_text("alpha\n")
    bench.model(call("Read", {"file_path": str(path)}), LOOK, edit(path), edit(path), text("Done."))

    def change(event):
        if event.__struct_config__.tag == "request_start" and event.turn == 2:
            path.write_text("alpha, and more\n")

    await bench.go_on(bench.engine(permission_mode="acceptEdits"), on_event=change)

    why = (
        f"{path} has changed on disk since it was read. Read the lines around the place (Read with offset and limit) before you "
        "change it."
    )
    assert [said(bench, 3), said(bench, 4)] == [[f"<tool_use_error>{why}</tool_use_error>"]] * 2


@pytest.mark.needs("Landlock")
@pytest.mark.parametrize(
    "command",
    [
        "cat a.txt",
        "sed -n 1,200p a.txt",
        "head -50 a.txt",
        "cat b.txt a.txt",
        "cat b.txt; echo ---; cat a.txt",
        "cd . && cat a.txt",
    ],
)
async def test_a_file_that_a_command_printed_whole_may_be_edited(bench, command):
    (bench.folder / "a.txt").write_text("one\nalpha\n\nthree\n")
    (bench.folder / "b.txt").write_text("b\n")
    bench.model(call("Bash", {"command": command}), edit("a.txt"), text("Done."))

    run = await bench.run(permission_mode="acceptEdits")

    assert run.of("attachment") == []
    assert (bench.folder / "a.txt").read_text() == "one\nbeta\n\nthree\n"


LINES = ["import sys", "", "def alpha(first, second):", "    return first", "", "sys.exit(alpha(1, 2))"]


@pytest.mark.needs("Landlock")
@pytest.mark.parametrize(
    "command",
    [
        "sed -n 3,4p a.txt",
        "sed -n '3p' a.txt; echo ---; sed -n 6p a.txt",
        "head -3 a.txt",
        "tail -n 4 a.txt",
        "cat a.txt | head -4",
        "grep -n first a.txt",
        "grep -n -A1 return a.txt b.txt",
        "grep -A1 def a.txt",
        "nl a.txt",
        "cat -n a.txt | sed -n 3,4p",
        "sed -n 3,4p a.txt; grep nothing b.txt",
    ],
)
async def test_a_file_of_which_a_command_printed_lines_may_be_edited_and_not_overwritten(bench, command):
    (bench.folder / "a.txt").write_text("\n".join(LINES) + "\n")
    (bench.folder / "b.txt").write_text("b\n")
    overwrite = call("Write", {"file_path": "a.txt", "content": "x"})
    bench.model(call("Bash", {"command": command}), overwrite, edit("a.txt", "def alpha", "def beta"), text("Done."))

    await bench.run(permission_mode="acceptEdits")

    assert said(bench, 2) == [
        (
            f"<tool_use_error>Only a part of {bench.folder}/a.txt has been read. Read the whole file first, or change it with "
            "Edit.</tool_use_error>"
        )
    ]
    assert "def beta" in (bench.folder / "a.txt").read_text()


@pytest.mark.needs("Landlock")
@pytest.mark.parametrize(
    "command",
    [
        "wc a.txt",
        "ls -l a.txt",
        "sed -n 2p a.txt",
        "cut -c1-9 a.txt",
        "cat a.txt > b.txt",
        "head -c 30 a.txt",
        "grep -o def a.txt",
        "sed s/first/other/ a.txt | sed -n 3,4p",
        "grep -c . a.txt",
        "cat b.txt",
    ],
)
async def test_a_file_of_which_no_line_was_printed_as_it_is_must_be_read(bench, command):
    (bench.folder / "a.txt").write_text("\n".join(LINES) + "\n")
    (bench.folder / "b.txt").write_text(f"{LINES[2]}\n{LINES[3]}\n")
    bench.model(call("Bash", {"command": command}), edit("a.txt", "def alpha", "def beta"), text("Done."))

    await bench.run(permission_mode="acceptEdits")

    assert said(bench) == [
        (
            f"<tool_use_error>{bench.folder}/a.txt has not been read. Read the lines around the place (Read with offset and "
            "limit), or print them with a command, before you change it.</tool_use_error>"
        )
    ]


@pytest.mark.needs("Landlock")
async def test_lines_that_were_printed_before_the_file_changed_do_not_count(bench):
    (bench.folder / "a.txt").write_text("\n".join(LINES) + "\n")
    bench.model(
        call("Bash", {"command": "sed -n 3,4p a.txt"}),
        call("Bash", {"command": "sed -i s/1/2/ a.txt"}),
        edit("a.txt", "def alpha", "def beta"),
        call("Bash", {"command": "sed -n 3,4p a.txt"}),
        edit("a.txt", "def alpha", "def beta"),
        text("Done."),
    )

    await bench.run(permission_mode="bypassPermissions")

    assert "while a command of yours ran" in said(bench, 3)[0]
    assert "def beta" in (bench.folder / "a.txt").read_text()


async def test_a_change_between_two_prompts_is_told_in_the_next(bench):
    path = bench.folder / "a.txt"
    path.write_text("alpha\n")
    bench.model(call("Read", {"file_path": str(path)}), text("Alpha."), LOOK, text("Done."))
    engine = bench.engine()
    await bench.go_on(engine)
    path.write_text("omega, at last\n")

    run = await bench.go_on(engine)

    assert [attached.kind for attached in run.of("attachment")] == ["changed_files"]

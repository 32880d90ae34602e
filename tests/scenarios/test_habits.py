"""What a real model habitually sends is taken where its meaning is certain; hooks and rules judge what then runs."""

import json

import pytest

from everturn import tool
from everturn.modelserver import call, text


def results(bench, place=-1):
    """What the last round brought: for each call whether it failed, and its text."""
    blocks = [block for block in bench.sent[place][-1]["content"] if block["type"] == "tool_result"]
    return [(block.get("is_error", False), block["content"]) for block in blocks]


@pytest.fixture
def project(bench):
    (bench.folder / "src").mkdir()
    (bench.folder / "src" / "a.py").write_text("one\ntwo\nthree\ntwo\n")
    (bench.folder / "b.md").write_text("two\n")
    return bench.folder


async def test_readers_take_them(bench, project):
    bench.model(
        call("Read", {"file_path": f"file://{project}/src/a.py", "offset": 0, "limit": "2"}),
        call("Glob", {"pattern": f"{project}/src/*.py", "path": None}),
        call("Glob", {"pattern": "src/*.py,*.md", "path": ""}),
        call("Grep", {"pattern": "two", "glob": f"{project}/src/*.py", "-i": "true", "head_limit": "1"}),
        text("Done."),
    )

    run = await bench.run()

    assert run.result.denials == ()
    told = [results(bench, place)[0] for place in range(1, 5)]
    assert told == [
        (False, "     1\tone\n     2\ttwo\n\n(Lines 1 to 2 of 4. Go on with offset=3.)"),
        (False, "src/a.py"),
        (False, told[2][1]),
        (False, "src/a.py"),
    ]
    assert set(told[2][1].split("\n")) == {"src/a.py", "b.md"}


async def test_an_edit_with_the_line_numbers_of_read_changes_the_line_that_they_name(bench, project):
    edit = {"file_path": "src/a.py", "old_string": "     4\ttwo\n", "new_string": "     4\tfour\n"}
    bench.model(call("Read", {"file_path": "src/a.py"}), call("Edit", edit), text("Done."))

    await bench.run(permission_mode="acceptEdits")

    assert (project / "src" / "a.py").read_text() == "one\ntwo\nthree\nfour\n"
    assert results(bench) == [
        (
            False,
            (
                f"Edited {project}/src/a.py: line 4. (The line numbers in what was sent are not part of the file and were "
                "left out.)"
            ),
        )
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [("     3\ttwo", "four"), ("     4\ttwo\nthree", "four"), ("     4\ttwo", "     4\tfour\nfive")],
)
async def test_numbers_that_do_not_fit_the_file_are_refused(bench, project, old, new):
    edit = {"file_path": "src/a.py", "old_string": old, "new_string": new}
    bench.model(call("Read", {"file_path": "src/a.py"}), call("Edit", edit), text("Done."))

    await bench.run(permission_mode="acceptEdits")

    assert [failed for failed, _ in results(bench)] == [True]
    assert (project / "src" / "a.py").read_text() == "one\ntwo\nthree\ntwo\n"


async def test_an_edit_without_old_text_is_pointed_to_write_whatever_the_mode(bench, project):
    edit = {"file_path": "new.py", "old_string": "", "new_string": "x = 1\n"}
    bench.model(call("Edit", edit), text("Done."))

    run = await bench.run()

    assert run.result.denials == ()
    [(failed, told)] = results(bench)
    assert failed
    assert "To create a file, or to replace all of it, use Write." in told


async def test_a_list_that_was_sent_as_text_reaches_the_tool_and_the_hooks_as_a_list(bench):
    todos = [{"content": "Look", "status": "pending", "activeForm": "Looking"}]
    seen = []

    @tool(reads_only=True)
    def tag(labels: list[str]) -> str:
        """Tags something."""
        seen.append(labels)
        return "Tagged."

    bench.model(call("TodoWrite", {"todos": json.dumps(todos)}), call("tag", {"labels": '["a", "b"]'}), text("Done."))

    run = await bench.run(tools=[tag], allowed_tools=["tag"])

    assert seen == [["a", "b"]]
    assert [event.is_error for event in run.of("tool_end")] == [False, False]


async def test_a_pattern_that_names_a_folder_elsewhere_is_judged_as_a_search_there(bench, project):
    outside = project.parent / "outside"
    outside.mkdir()
    (outside / "secret.txt").touch()
    bench.model(call("Glob", {"pattern": f"{outside}/*"}), call("Glob", {"pattern": "../outside/*"}), text("Done."))

    run = await bench.run()

    assert [denial.reason for denial in run.result.denials] == [
        "mode default: reading outside the working folder, and nobody is here to approve it"
    ] * 2
    assert "secret.txt" not in str(bench.sent[-1])

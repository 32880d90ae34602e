"""Glob and Grep in the loop: allowed without asking, run side by side, their answers in the next request."""

from everturn.modelserver import call


def results_of(body):
    return [
        block["content"]
        for message in body["messages"]
        for block in message["content"]
        if block["type"] == "tool_result"
    ]


async def test_files_are_found_and_searched_without_asking(bench):
    (bench.folder / "src").mkdir()
    (bench.folder / "src" / "a.py").write_text("import os\n\ndef first():\n    pass\n")
    (bench.folder / "notes.md").write_text("first things first\n")
    bench.model(
        call("Glob", {"pattern": "**/*.py"}),
        call("Grep", {"pattern": "first", "output_mode": "content"}),
        "Found.",
    )

    run = await bench.run()

    assert results_of(bench.bodies[-1]) == ["src/a.py", "notes.md:1:first things first\nsrc/a.py:3:def first():"]
    assert [event.line for event in run.of("tool_start")] == ["Glob **/*.py", "Grep first"]
    assert run.result.denials == ()


async def test_a_search_outside_the_folder_needs_permission(bench):
    bench.model(call("Grep", {"pattern": "root", "path": "/etc"}), "Then not.")

    run = await bench.run()

    assert [denial.tool_name for denial in run.result.denials] == ["Grep"]

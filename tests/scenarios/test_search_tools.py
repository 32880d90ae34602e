"""Glob and Grep in the loop: allowed without asking, run side by side, their answers in the next request."""

import pytest

from everturn.modelserver import call

SWAP = """python3 -c '
import ctypes, time
libc, until = ctypes.CDLL(None), time.time() + 20
print("ready", flush=True)
while time.time() < until:
    libc.renameat2(-100, b"top/d", -100, b"top/l", 2)
    time.sleep(0.0005)
'"""
"""Two names change places, again and again. It runs in the background, and ends with the session."""


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


@pytest.mark.parametrize("path", [".", "top/d", "top/d/f0.txt"])
async def test_a_command_that_swaps_folders_shows_a_search_nothing_from_outside(bench, sandbox, path):
    outside = bench.home.parent / "outside"
    for folder, text in ((bench.folder / "top" / "d", "plain"), (outside, "word-outside")):
        folder.mkdir(parents=True)
        for number in range(100):
            (folder / f"f{number}.txt").write_text(f"{text}\n")
    (bench.folder / "top" / "l").symlink_to(outside)
    searches = [{"pattern": f"word|no{number}", "output_mode": "content", "path": path} for number in range(25)]
    bench.model(
        call("Bash", {"command": SWAP, "run_in_background": True}),
        *(call("Grep", search) for search in searches),
        *(call("Glob", {"pattern": f"**/*{number}.txt"}) for number in range(5)),
        "Done.",
    )

    await bench.run(sandbox=sandbox, trusted=True, disallowed_tools=[f"Read(/{outside}/**)"])

    assert "word-outside" not in str(results_of(bench.bodies[-1]))

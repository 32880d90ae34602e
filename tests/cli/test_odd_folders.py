"""Folders whose names are no UTF-8: what is said in them is kept, found again and told in strict JSON."""

import json
import os
from pathlib import Path

import pytest

from everturn.modelserver import calls

NAME = b"caf\xe9"


def make_folder(parent, name):
    folder = Path(os.fsdecode(os.fsencode(parent) + b"/" + name))
    folder.mkdir()
    return folder


@pytest.fixture
def odd(program, tmp_path):
    """Working folder and home alike."""
    program.folder, program.home = make_folder(tmp_path, NAME), make_folder(tmp_path, b"h\xf6me")
    program.env["EVERTURN_HOME"] = str(program.home)
    return program


async def test_a_session_is_continued_where_it_was_begun_and_nowhere_else(odd):
    odd.model("Hello.", "Again.", "Never.")
    assert (await odd.run("-p", "Greet me.")).code == 0
    done = await odd.run("-p", "Once more.", "--continue")
    assert (done.code, done.out) == (0, "Again.\n")
    assert odd.requests[-1].body["messages"][0]["content"][0]["text"] == "Greet me."
    odd.folder = make_folder(odd.folder.parent, b"caf\xe8")
    done = await odd.run("-p", "Here?", "--continue")
    assert (done.code, done.err) == (
        2,
        f"everturn: there is no session to continue in {odd.folder.parent}/caf\\xe8\n",
    )


async def test_it_is_listed_and_its_folder_is_told_in_json(odd):
    shown = f"{odd.folder.parent}/caf\\xe9"
    begun = await odd.run("-p", "Greet me.", "--output-format", "stream-json")
    [session] = json.loads((await odd.run("sessions", "--json")).out)
    assert begun.lines[0]["cwd"] == shown
    assert (session["id"], session["folder"]) == (begun.lines[0]["session_id"], shown)


async def test_tools_work_there(odd):
    odd.model(calls(("Write", {"file_path": "a.txt", "content": "x\n"}), ("Bash", {"command": "cat a.txt"})), "Done.")
    done = await odd.run("-p", "Go", "--permission-mode", "bypassPermissions")
    results = [block["content"] for block in odd.requests[-1].body["messages"][-1]["content"]]
    assert (done.code, results[-1]) == (0, "x")
    assert (odd.folder / "a.txt").read_text() == "x\n"


async def test_the_costs_of_a_session_are_told_without_digits_that_nobody_paid(program):
    program.model(*["Hello."] * 12)
    done = await program.run("-p", "Greet me.", "--output-format", "json")
    costs = [done.lines[0]["total_cost_usd"]]
    for _ in range(3):
        done = await program.run("-p", "Again.", "--continue", "--output-format", "json")
        costs.append(done.lines[0]["total_cost_usd"])
    [session] = json.loads((await program.run("sessions", "--json")).out)
    assert session["cost_usd"] == costs[-1]
    assert all(len(repr(cost)) <= len("0.0000000000") for cost in costs)

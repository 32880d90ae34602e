"""A change that cannot work fails with the reason, and no person is asked about it first."""

import json

import pytest
from tests.scenarios.test_longer_yes import Person

from everturn.modelserver import call, text

NOTEBOOK = {
    "cells": [{"cell_type": "code", "id": "a", "source": "1", "metadata": {}, "outputs": [], "execution_count": None}],
    "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
}  # fmt: skip


def edit(path="a.py", old="one", new="two"):
    return call("Edit", {"file_path": path, "old_string": old, "new_string": new})


def read(path="a.py"):
    return call("Read", {"file_path": path})


def answers(bench):
    return [
        block["content"]
        for message in bench.sent[-1]
        if message["role"] == "user"
        for block in message["content"]
        if isinstance(block, dict) and block["type"] == "tool_result"
    ]


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([edit()], "has not been read"),
        ([call("Write", {"file_path": "a.py", "content": "x"})], "has not been read"),
        ([call("NotebookEdit", {"notebook_path": "a.ipynb", "cell_id": "a", "new_source": "2"})], "has not been read"),
        ([read(), edit(old="three")], "does not occur"),
        ([read(), edit(old="o")], "occurs"),
        ([edit(path="nowhere.py")], "does not exist"),
    ],
)
async def test_what_cannot_work_is_answered_before_anybody_is_asked(bench, calls, said):
    (bench.folder / "a.py").write_text("one\nonly\n")
    (bench.folder / "a.ipynb").write_text(json.dumps(NOTEBOOK))
    person = Person()
    bench.model(*calls, text("Done."))

    await bench.run(approver=person)

    assert person.asked == []
    assert said in answers(bench)[-1]


async def test_a_file_that_may_not_be_read_is_asked_about_and_nothing_is_told_of_it(bench, tmp_path):
    outside = tmp_path / "outside.py"
    outside.write_text("one\n")
    person = Person()
    bench.model(edit(path=str(outside)), text("Done."))

    await bench.run(approver=person)

    assert person.lines == [f"Edit {outside}"]


async def test_a_change_that_can_work_is_asked_about_once(bench):
    (bench.folder / "a.py").write_text("one\n")
    person = Person()
    bench.model(read(), edit(), call("Write", {"file_path": "new.py", "content": "x"}), text("Done."))

    await bench.run(approver=person)

    assert person.lines == ["Edit a.py", "Write new.py"]
    assert (bench.folder / "a.py").read_text() == "two\n"

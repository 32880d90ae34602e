"""Our own credentials never get into the transcript, whoever brings them; and nothing else of the user's text is altered."""

import json

import pytest

from everturn.compose.engine import WEAK_KEY
from everturn.core.events import Level
from everturn.core.hiding import MARK
from everturn.core.state import Reason
from everturn.modelserver import call, text

WORDS = ("placeholder", "anthropic", "not-needed", "12345678")


def results_of(bench, request=-1):
    return [block for message in bench.sent[request] for block in message["content"] if block["type"] == "tool_result"]


def reminders(bench, request=-1):
    texts = [block.get("text", "") for message in bench.sent[request] for block in message["content"]]
    return [each for each in texts if each.startswith("<system-reminder>") and MARK in each]


def use_all(bench, key):
    (bench.folder / ".env").write_text(f'KEY="{key}"\nOTHER=sk-ant-somebody-elses\n')
    bench.model(call("Read", {"file_path": str(bench.folder / ".env")}), text("Read it."))


def edit(bench, old, new):
    return call("Edit", {"file_path": str(bench.folder / ".env"), "old_string": old, "new_string": new})


def write(bench, content, name=".env"):
    return call("Write", {"file_path": str(bench.folder / name), "content": content})


async def test_neither_the_model_nor_the_file_sees_the_key(bench):
    key = bench.env["ANTHROPIC_API_KEY"]
    use_all(bench, key)
    engine = bench.engine()

    run = await bench.go_on(engine, f"Is {key} in .env?")

    assert run.reason is Reason.COMPLETED
    assert key not in str(bench.bodies)
    assert key.encode() not in bench.session_file(engine.session_id).read_bytes()
    assert bench.sent[0][-1]["content"][-1]["text"] == f"Is {MARK} in .env?"
    [result] = results_of(bench)
    assert f'KEY="{MARK}"' in result["content"]
    assert "sk-ant-somebody-elses" in result["content"], "other people's secrets are the user's business"


async def test_the_person_and_the_model_are_told_where_it_was(bench):
    key = bench.env["ANTHROPIC_API_KEY"]
    use_all(bench, key)

    run = await bench.run(f"Is {key} in .env?")

    path = bench.folder / ".env"
    assert [(notice.text, notice.level) for notice in run.of("notice")] == [
        (f"There is a credential of this session in {where}. The model is shown {MARK} instead.", Level.WARNING)
        for where in ("the prompt", f"the result of Read {path}")
    ]
    assert ["the prompt" in reminders(bench, 0)[0], f"- the result of Read {path}" in reminders(bench, 1)[1]] == [
        True
    ] * 2
    assert len(reminders(bench, 1)) == 2


@pytest.mark.parametrize("key", WORDS)
async def test_a_key_that_is_also_a_word_is_left_alone_and_warned_of(bench, key):
    bench.env["ANTHROPIC_API_KEY"] = key
    source = f'hint = "{key}"\n'
    (bench.folder / ".env").write_text(source)
    bench.model(
        call("Read", {"file_path": str(bench.folder / ".env")}),
        edit(bench, f'hint = "{key}"', f'tip = "{key}"'),
        write(bench, f"{key} and more {key}s\n", "new.txt"),
        text("Done."),
    )

    run = await bench.run(f"Rename it; {key}.", permission_mode="acceptEdits")

    assert [notice.text for notice in run.of("notice")] == [WEAK_KEY]
    assert bench.sent[0][-1]["content"][-1]["text"] == f"Rename it; {key}."
    assert (bench.folder / ".env").read_text() == f'tip = "{key}"\n'
    assert (bench.folder / "new.txt").read_text() == f"{key} and more {key}s\n"


async def test_a_change_beside_the_credential_works_and_keeps_it(bench):
    key = bench.env["ANTHROPIC_API_KEY"]
    use_all(bench, key)
    bench.model(
        call("Read", {"file_path": str(bench.folder / ".env")}),
        edit(bench, "OTHER=sk-ant-somebody-elses", "OTHER=none"),
        text("Done."),
    )

    await bench.run(permission_mode="acceptEdits")

    assert (bench.folder / ".env").read_text() == f'KEY="{key}"\nOTHER=none\n'


async def test_a_text_with_the_mark_is_never_written(bench):
    key = bench.env["ANTHROPIC_API_KEY"]
    before = f'KEY="{key}"\nOTHER=1\n'
    (bench.folder / ".env").write_text(before)
    bench.model(
        call("Read", {"file_path": str(bench.folder / ".env")}),
        edit(bench, f'KEY="{MARK}"\nOTHER=1', f'KEY="{MARK}"\nOTHER=2'),
        edit(bench, "OTHER=1", f'OTHER="{MARK}"'),
        write(bench, f'KEY="{MARK}"\nOTHER=2\n'),
        write(bench, f"# Keys\n{MARK}\n", "new/notes.md"),
        text("It cannot be done."),
    )

    await bench.run(permission_mode="acceptEdits")

    _, absent, *refused = results_of(bench)
    assert "which replaces a credential in what you read" in absent["content"]
    assert [result["is_error"] for result in (absent, *refused)] == [True] * 4
    assert all("Nothing was written" in result["content"] for result in refused)
    assert (bench.folder / ".env").read_text() == before
    assert not (bench.folder / "new").exists()


async def test_a_file_that_holds_the_text_of_the_mark_itself_can_be_changed(bench):
    page = f"# Hidden\nYou see {MARK} where a credential stands.\nThe end.\n"
    (bench.folder / ".env").write_text(page)
    bench.model(
        call("Read", {"file_path": str(bench.folder / ".env")}),
        edit(bench, "The end.", "To be continued."),
        edit(bench, f"You see {MARK}", f"The model reads {MARK}"),
        write(bench, f"# Short\n{MARK}\n"),
        text("Done."),
    )

    run = await bench.run(permission_mode="acceptEdits")

    assert [result.get("is_error", False) for result in results_of(bench)] == [False] * 4
    assert (bench.folder / ".env").read_text() == f"# Short\n{MARK}\n"
    assert run.of("notice") == []


async def test_where_a_file_holds_both_the_mark_never_takes_the_credentials_place(bench):
    key = bench.env["ANTHROPIC_API_KEY"]
    before = f"mark: {MARK}\nkey: {key}\nend\n"
    (bench.folder / ".env").write_text(before)
    bench.model(
        call("Read", {"file_path": str(bench.folder / ".env")}),
        write(bench, f"key: {MARK}\nend\n"),
        edit(bench, "end\n", "the end\n"),
        text("Done."),
    )

    await bench.run(permission_mode="acceptEdits")

    assert [result.get("is_error", False) for result in results_of(bench)] == [False, True, False]
    assert (bench.folder / ".env").read_text() == before.replace("end", "the end")


async def test_a_cell_of_a_notebook_does_not_get_the_mark(bench):
    cell = {"cell_type": "code", "id": "a", "source": "x = 1", "metadata": {}, "outputs": [], "execution_count": None}
    page = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (bench.folder / "a.ipynb").write_text(page)
    path = str(bench.folder / "a.ipynb")
    bench.model(
        call("Read", {"file_path": path}),
        call("NotebookEdit", {"notebook_path": path, "cell_id": "a", "new_source": f"x = '{MARK}'"}),
        text("Done."),
    )

    await bench.run(permission_mode="acceptEdits")

    assert "Nothing was written" in results_of(bench)[-1]["content"]
    assert (bench.folder / "a.ipynb").read_text() == page


@pytest.mark.parametrize("shift", range(0, 60, 7))
async def test_no_half_of_it_is_left_where_an_output_or_a_line_is_cut(bench, shift):
    """At the cut of a command's output, of a line that Read shows, and of one that Grep shows."""
    key = bench.env["ANTHROPIC_API_KEY"]
    (bench.folder / "long.txt").write_text(f"{'x' * (1_999 - shift)} {key} {'y' * 9_000}\n")
    (bench.folder / "wide.txt").write_text(f"{'x' * (499 - shift)} {key} {'y' * 9_000}\n")
    printed = f"printf '%0{14_999 - shift}d ' 0; cat key; printf ' %0{40_000}d\\n' 0"
    (bench.folder / "key").write_text(key)
    bench.model(
        call("Read", {"file_path": str(bench.folder / "long.txt")}),
        call("Grep", {"pattern": "x", "path": str(bench.folder), "output_mode": "content"}),
        call("Bash", {"command": printed}),
        text("Done."),
    )

    engine = bench.engine(allowed_tools=["Bash"])
    await bench.go_on(engine)

    said = str(bench.bodies)
    assert [part for part in (key[:12], key[-12:]) if part in said] == []
    kept = [path.read_bytes() for path in bench.session_file(engine.session_id).parent.rglob("*") if path.is_file()]
    assert [data for data in kept if key.encode() in data] == []


async def test_what_is_sent_after_a_resume_is_what_was_sent_before(bench):
    key = bench.env["ANTHROPIC_API_KEY"]
    use_all(bench, key)
    engine = bench.engine()
    await bench.go_on(engine, f"Is {key} in .env?")
    await engine.aclose()
    before = bench.sent[1]

    bench.model(text("Went on."))
    await bench.go_on(bench.engine(resume=engine.session_id))

    assert bench.sent[-1][: len(before)] == before


async def test_what_a_helper_printed_is_hidden_as_well(bench):
    printed = "5e17c0de-1f2a-4b3c-8d4e-9a0b1c2d3e4f"
    use_all(bench, printed)
    engine = bench.engine(api_key_helper=f"echo {printed}")

    await bench.go_on(engine, "Read it.")

    assert printed not in str(bench.bodies)
    assert printed.encode() not in bench.session_file(engine.session_id).read_bytes()

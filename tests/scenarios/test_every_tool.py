"""Every built-in tool over HTTP: its result has the public field names, and it reads as one line while it runs and when done."""

import asyncio
import io
import json
import re

import msgspec
import pytest
from development.tools_page import list_tools
from PIL import Image
from tests.frontends.golden import lines_of
from tests.frontends.readers import run_piped
from tests.tools.trees import digest_of
from tests.web.conftest import PUBLIC, LoopbackNet, Site

from everturn import tool
from everturn.modelserver import call, calls, text, when
from everturn.ports.policy import Ruling, Verdict
from everturn.ports.web import Hit
from everturn.tools.builtin import NAMES
from everturn.tools.web_fetch import web_fetch_tool
from everturn.tools.web_search import web_search_tool

HUNK = " ".join(f"structuredPatch[].{name}" for name in ("oldStart", "oldLines", "newStart", "newLines", "lines"))
CELL = "new_source cell_id cell_type language edit_mode notebook_path original_file updated_file"
SEARCH = "mode numFiles filenames"
QUESTION = {
    "question": "Which database?",
    "header": "Database",
    "options": [{"label": "SQLite", "description": "One file"}, {"label": "Postgres", "description": "A server"}],
    "multiSelect": False,
}
READERS = {each.name for each in list_tools() if each.traits(None).read_only}
TODO = {"content": "Look", "status": "completed", "activeForm": "Looking"}


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One call, what may precede it, and what scripts and people see of its end."""

    name: str
    input: dict
    before: tuple = ()
    """Calls of an earlier turn."""
    fields: str
    """Public names that are always there: `a.b` inside an object, `a[].b` inside a list."""
    own: str = ""
    """Names of ours, beside them."""
    line: str
    done: str
    """A pattern."""


READ = ("Read", {"file_path": "a.py"})
CASES = {
    "Bash": Case(
        name="Bash",
        input={"command": "echo one; echo two", "description": "Counts", "dangerouslyDisableSandbox": True},
        fields="stdout stderr interrupted isImage",
        own="exitCode durationMs",
        line="Bash echo one; echo two",
        done="2 lines",
    ),
    "Bash, failing": Case(
        name="Bash",
        input={"command": "exit 3"},
        fields="stdout stderr interrupted isImage",
        own="exitCode durationMs",
        line="Bash exit 3",
        done="exit 3",
    ),
    "Bash, behind": Case(
        name="Bash",
        input={"command": "sleep 100", "run_in_background": True},
        fields="stdout stderr interrupted isImage backgroundTaskId",
        own="exitCode durationMs",
        line="Bash sleep 100 (in the background)",
        done=r"in the background as bash_\w+",
    ),
    "Bash, a picture": Case(
        name="Bash",
        input={"command": "printf data:image/png\\;base64,; base64 a.png"},
        fields="stdout stderr interrupted isImage",
        own="exitCode durationMs",
        line="Bash printf data:image/png\\;base64,; base64 a.png",
        done="a picture",
    ),
    "Edit": Case(
        name="Edit",
        input={"file_path": "a.py", "old_string": "two\n", "new_string": "2\n3\n"},
        before=(READ,),
        fields=f"filePath oldString newString originalFile {HUNK} userModified replaceAll",
        line="Edit a.py",
        done=r"\+2 −1",  # noqa: RUF001 - a minus sign
    ),
    "Glob": Case(
        name="Glob",
        input={"pattern": "*.py"},
        fields="durationMs numFiles filenames truncated totalMatches countIsComplete",
        line="Glob *.py",
        done="1 file",
    ),
    "Grep, files": Case(name="Grep", input={"pattern": "one"}, fields=SEARCH, line="Grep one", done="1 file"),
    "Grep": Case(
        name="Grep",
        input={"pattern": "o", "output_mode": "content", "path": "a.py"},
        fields=f"{SEARCH} content numLines",
        line="Grep o in a.py",
        done="2 lines",
    ),
    "Grep, count": Case(
        name="Grep",
        input={"pattern": "o", "output_mode": "count", "glob": "*.py"},
        fields=f"{SEARCH} content numMatches",
        line="Grep o",
        done="2 matches in 1 file",
    ),
    "NotebookEdit": Case(
        name="NotebookEdit",
        input={"notebook_path": "n.ipynb", "cell_id": "a1", "new_source": "2"},
        before=(("Read", {"file_path": "n.ipynb"}),),
        fields=f"{CELL} old_source",
        line="NotebookEdit n.ipynb (cell a1)",
        done="cell a1 replaced",
    ),
    "Read": Case(
        name="Read",
        input={"file_path": "a.py"},
        fields="type file.filePath file.content file.numLines file.startLine file.totalLines",
        line="Read a.py",
        done="2 lines",
    ),
    "Read, a part": Case(
        name="Read",
        input={"file_path": "a.py", "offset": 2},
        fields="type file.filePath file.content file.numLines file.startLine file.totalLines",
        line="Read a.py (lines 2–2001)",  # noqa: RUF001 - a range
        done="1 line of 2",
    ),
    "Read, again": Case(
        name="Read",
        input={"file_path": "a.py"},
        before=(READ,),
        fields="type file.filePath",
        line="Read a.py",
        done="unchanged",
    ),
    "Read, a picture": Case(
        name="Read",
        input={"file_path": "a.png"},
        fields="type file.base64 file.type file.originalSize file.dimensions.originalWidth file.dimensions.originalHeight "
        "file.dimensions.displayWidth file.dimensions.displayHeight",
        line="Read a.png",
        done="40 x 30 pixels",
    ),
    "Read, a document": Case(
        name="Read",
        input={"file_path": "a.pdf"},
        fields="type file.filePath file.base64 file.originalSize",
        line="Read a.pdf",
        done=r"PDF, [\d.]+ kB",
    ),
    "Read, pages": Case(
        name="Read",
        input={"file_path": "a.pdf", "pages": "1"},
        fields="type file.filePath file.originalSize file.count file.outputDir",
        line="Read a.pdf (pages 1)",
        done="1 page",
    ),
    "Read, a notebook": Case(
        name="Read",
        input={"file_path": "n.ipynb"},
        fields="type file.filePath file.cells[].cellId file.cells[].cellType file.cells[].source file.cells[].language",
        line="Read n.ipynb",
        done="1 cell",
    ),
    "Write": Case(
        name="Write",
        input={"file_path": "b.py", "content": "one\n"},
        fields="type filePath content structuredPatch originalFile",
        line="Write b.py",
        done="created, 1 line",
    ),
    "Write, again": Case(
        name="Write",
        input={"file_path": "a.py", "content": "one\n"},
        before=(READ,),
        fields=f"type filePath content {HUNK} originalFile",
        line="Write a.py",
        done=r"\+0 −1",  # noqa: RUF001 - a minus sign
    ),
    "TaskOutput": Case(
        name="TaskOutput",
        input={"task_id": "{task}", "block": False},
        fields="task_id task_type status summary output output_file command",
        line="TaskOutput {task}",
        done=r"running: has been running for [\d.]+ s",
    ),
    "TaskStop": Case(
        name="TaskStop",
        input={"task_id": "{task}"},
        fields="message task_id task_type command",
        line="TaskStop {task}",
        done=r"Task \w+ was stopped after [\d.]+ s",
    ),
    "WebFetch": Case(
        name="WebFetch",
        input={"url": "https://example.com/", "prompt": "Which version?"},
        fields="bytes code codeText result durationMs url",
        line="WebFetch https://example.com/",
        done="200 OK, 18 bytes",
    ),
    "WebSearch": Case(
        name="WebSearch",
        input={"query": "h11"},
        fields="query results[].tool_use_id results[].content[].title results[].content[].url durationSeconds searchCount",
        line="WebSearch h11",
        done="1 hit",
    ),
    "TodoWrite": Case(
        name="TodoWrite",
        input={"todos": [TODO]},
        fields="oldTodos newTodos[].content newTodos[].status newTodos[].activeForm",
        line="TodoWrite 1 of 1 done",
        done="1 of 1 done",
    ),
    "AskUserQuestion": Case(
        name="AskUserQuestion",
        input={"questions": [QUESTION]},
        fields="questions[].question questions[].header questions[].options[].label questions[].options[].description "
        "questions[].multiSelect answers.Which database?",
        line="AskUserQuestion Which database?",
        done="Postgres",
    ),
    "EnterPlanMode": Case(
        name="EnterPlanMode", input={}, fields="", line="EnterPlanMode", done="Plan mode is on: nothing may be .*"
    ),
    "ExitPlanMode": Case(
        name="ExitPlanMode",
        input={"plan": "# Split the parser"},
        before=(("EnterPlanMode", {}),),
        fields="plan isAgent",
        line="ExitPlanMode Split the parser",
        done="approved",
    ),
    "ToolSearch": Case(
        name="ToolSearch",
        input={"query": "create issue"},
        fields="matches query",
        own="totalDeferredTools",
        line="ToolSearch create issue",
        done="create_issue",
    ),
}


class Person:
    """Approves everything, and answers what is asked."""

    async def approve(self, call, reason):
        answers = {asked["question"]: "Postgres" for asked in call.input.get("questions", ())}
        return Verdict(
            ruling=Ruling.ALLOW, reason="asked for", input={**call.input, "answers": answers} if answers else None
        )


class OneHit:
    async def search(self, question):
        return (Hit(title="h11", url="https://example.com/"),)


@tool(deferred=True)
def create_issue(title: str) -> str:
    """Creates an issue in the tracker."""
    return title


@pytest.fixture
async def net():
    site = Site()
    site.page("/", "<p>Version 2.</p>\n")
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    made = LoopbackNet(server.sockets[0].getsockname()[1])
    made.knows("example.com", [PUBLIC])
    yield made
    await site.close()
    server.close()
    await server.wait_closed()


@pytest.fixture
def engine(bench, net):
    """In a folder with one file of each kind."""
    cell = {"cell_type": "code", "id": "a1", "metadata": {}, "execution_count": 1, "outputs": [], "source": ["1"]}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    picture = Image.new("RGB", (40, 30), "red")
    (bench.folder / "a.py").write_text("one\ntwo\n")
    (bench.folder / "n.ipynb").write_text(json.dumps(notebook, indent=1))
    for name, form in (("a.png", "PNG"), ("a.pdf", "PDF")):
        out = io.BytesIO()
        picture.save(out, form)
        (bench.folder / name).write_bytes(out.getvalue())
    return bench.engine(
        permission_mode="default",
        approver=Person(),
        tools=[web_fetch_tool(net=net), web_search_tool(OneHit()), create_issue],
    )


async def start_task(bench, engine):
    bench.model(call("Bash", {"command": "echo on; sleep 100", "run_in_background": True}), text("Started."))
    await bench.go_on(engine)
    [task] = engine.tasks.running
    return task.id


def names_in(value, at=""):
    """Every name in it, with the way to it; an empty or plain value is its own end."""
    match value:
        case dict() if value:
            return {name for key, item in value.items() for name in names_in(item, f"{at}.{key}" if at else key)}
        case [dict(), *_]:
            return {name for item in value for name in names_in(item, f"{at}[]")}
        case _:
            return {at}


def words_of(text):
    """Names are separated by spaces; one that holds a space itself comes last."""
    first, found, question = text.partition(" answers.")
    return {*first.split(), *([f"answers.{question}"] if found else [])}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_a_call_has_its_public_result_and_its_two_lines(bench, engine, case):
    task = await start_task(bench, engine) if "{task}" in case.line else ""
    fields = {
        key: value.replace("{task}", task) if isinstance(value, str) else value for key, value in case.input.items()
    }
    before = [calls(*case.before)] if case.before else []
    small = when("It is 2.", last_user_contains="The question:")
    tree = digest_of(bench.folder)
    bench.model(small, *before, call(case.name, fields), text("Done."))

    code, written, _ = await run_piped(engine, "Go.", output_format="stream-json")

    lines = lines_of(written)
    began = [line for line in lines if line["type"] == "tool_progress" and "description" in line][-1]
    ended = [line for line in lines if "tool_use_line" in line][-1]
    assert code == 0
    assert (began["tool_name"], began["description"]) == (case.name, case.line.replace("{task}", task))
    assert re.fullmatch(case.done, ended["tool_use_line"])
    found = names_in(ended["tool_use_result"]) if "tool_use_result" in ended else set()
    assert found == words_of(case.fields) | set(case.own.split())
    assert case.name not in READERS or digest_of(bench.folder) == tree


def test_no_tool_is_left_out():
    assert {case.name for case in CASES.values()} == set(NAMES)

"""What holds for every built-in tool."""

import json
import re
from contextlib import suppress
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.tools.trees import digest_of

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.tool import Access, Traits
from everturn.tools.builtin import NAMES as OFFERED
from everturn.tools.builtin import Web, builtin_tools
from everturn.tools.definition.decorator import tool as define

SNAPSHOTS = Path(__file__).parent / "snapshots"


class Unplugged:
    """A network and a search engine that nobody reaches."""

    async def resolve(self, host, port):
        raise OSError(-2, "Name or service not known")

    async def search(self, question):
        raise ToolFault("Nobody answers.")


@define(deferred=True)
def create_issue(title: str) -> str:
    """Creates an issue in the tracker."""
    return title


WEB = Web(net=Unplugged(), searcher=Unplugged())
DEFERRED = (create_issue,)
NAMES = [tool.name for tool in builtin_tools(web=WEB, deferred=DEFERRED)]
CALLS = {
    "Bash": {"command": "echo one\necho two"},
    "Edit": {"file_path": "src/a.py", "old_string": "a", "new_string": "b"},
    "Glob": {"pattern": "**/*.py"},
    "Grep": {"pattern": "def"},
    "NotebookEdit": {"notebook_path": "a.ipynb", "cell_id": "b2", "new_source": "x"},
    "Read": {"file_path": "src/a.py", "offset": 1, "limit": 200},
    "TaskOutput": {"task_id": "bash_1", "block": False, "timeout": 1},
    "TaskStop": {"task_id": "bash_1"},
    "Write": {"file_path": "src/a.py", "content": "x"},
    "WebFetch": {"url": "https://example.com/", "prompt": "What is it?"},
    "WebSearch": {"query": "h11"},
    "TodoWrite": {
        "todos": [
            {"content": "Look", "status": "completed", "activeForm": "Looking"},
            {"content": "Run the tests", "status": "in_progress", "activeForm": "Running the tests"},
        ]
    },
    "AskUserQuestion": {
        "questions": [
            {
                "question": "Which database?",
                "header": "Database",
                "options": [
                    {"label": "SQLite", "description": "One file"},
                    {"label": "Postgres", "description": "A server"},
                ],
                "multiSelect": False,
            }
        ]
    },
    "EnterPlanMode": {},
    "ExitPlanMode": {"plan": "# Split the parser\n\n1. Move the lexer."},
    "ToolSearch": {"query": "create issue", "max_results": 3},
}
LINES = {
    "Bash": "Bash echo one echo two",
    "Edit": "Edit src/a.py",
    "Glob": "Glob **/*.py",
    "Grep": "Grep def",
    "NotebookEdit": "NotebookEdit a.ipynb (cell b2)",
    "Read": "Read src/a.py (lines 1–200)",  # noqa: RUF001 - a range
    "TaskOutput": "TaskOutput bash_1",
    "TaskStop": "TaskStop bash_1",
    "Write": "Write src/a.py",
    "WebFetch": "WebFetch https://example.com/",
    "WebSearch": "WebSearch h11",
    "TodoWrite": "TodoWrite 1 of 2 done, now: Running the tests",
    "AskUserQuestion": "AskUserQuestion Which database?",
    "EnterPlanMode": "EnterPlanMode",
    "ExitPlanMode": "ExitPlanMode Split the parser",
    "ToolSearch": "ToolSearch create issue",
}
TRAITS = {
    "Bash": Traits(destructive=True),
    "Edit": Traits(access=Access.EDIT),
    "Glob": Traits(read_only=True, concurrent=True, access=Access.READ),
    "Grep": Traits(read_only=True, concurrent=True, access=Access.READ),
    "NotebookEdit": Traits(access=Access.EDIT),
    "Read": Traits(read_only=True, concurrent=True, access=Access.READ),
    "TaskOutput": Traits(read_only=True, concurrent=True, access=Access.READ),
    "TaskStop": Traits(access=Access.READ),
    "Write": Traits(access=Access.EDIT),
    "WebFetch": Traits(read_only=True, concurrent=True, access=Access.NETWORK),
    "WebSearch": Traits(read_only=True, concurrent=True, access=Access.NETWORK),
    "TodoWrite": Traits(read_only=True, access=Access.READ),
    "AskUserQuestion": Traits(access=Access.READ, needs_person=True),
    "EnterPlanMode": Traits(access=Access.READ, needs_person=True),
    "ExitPlanMode": Traits(access=Access.READ, needs_person=True),
    "ToolSearch": Traits(read_only=True, access=Access.READ),
}


def tool_named(name):
    return next(tool for tool in builtin_tools(web=WEB, deferred=DEFERRED) if tool.name == name)


def test_the_order_is_fixed():
    assert NAMES == [
        "Bash",
        "Edit",
        "Glob",
        "Grep",
        "NotebookEdit",
        "Read",
        "TaskOutput",
        "TaskStop",
        "Write",
        "WebFetch",
        "WebSearch",
        "TodoWrite",
        "AskUserQuestion",
        "EnterPlanMode",
        "ExitPlanMode",
        "ToolSearch",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_what_the_model_sees_is_as_recorded(name):
    tool = tool_named(name)

    seen = {"name": tool.name, "description": tool.description, "input_schema": tool.schema}

    assert seen == json.loads((SNAPSHOTS / f"{name.lower()}.json").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_is_a_plain_object_and_takes_the_sample_call(name):
    tool = tool_named(name)

    Draft202012Validator.check_schema(tool.schema)

    assert tool.schema["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf", "$ref"} & set(tool.schema)
    assert list(Draft202012Validator(tool.schema).iter_errors(CALLS[name])) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_call_reads_as_one_line(name):
    tool = tool_named(name)

    assert tool.line(tool.parse(CALLS[name])) == LINES[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_long_call_still_reads_as_one_short_line(name):
    tool = tool_named(name)
    longer = {key: value * 300 if isinstance(value, str) else value for key, value in CALLS[name].items()}

    line = tool.line(tool.parse(longer))

    assert len(line) <= 120
    assert line.isprintable()


@pytest.mark.parametrize("name", NAMES)
def test_the_traits_are_what_the_gate_expects(name):
    tool = tool_named(name)

    assert tool.traits(tool.parse(CALLS[name])) == TRAITS[name]


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_field_is_named_with_those_that_exist(name):
    tool = tool_named(name)

    with pytest.raises(InputFault, match="`colour`") as fault:
        tool.parse({**CALLS[name], "colour": "red"})

    assert all(field in str(fault.value) for field in tool.schema["properties"])


@pytest.mark.parametrize("name", [name for name in NAMES if tool_named(name).schema["required"]])
def test_a_missing_field_is_named(name):
    tool = tool_named(name)
    required = tool.schema["required"][0]

    with pytest.raises(InputFault, match=f"`{required}` is missing"):
        tool.parse({key: value for key, value in CALLS[name].items() if key != required})


@pytest.mark.parametrize(
    ("name", "field"),
    [
        (name, field)
        for name in NAMES
        for field, rule in tool_named(name).schema["properties"].items()
        if rule.get("type") != "array" and "anyOf" not in rule
    ],
)
def test_a_wrong_type_is_named_with_what_came(name, field):
    with pytest.raises(InputFault, match=rf"^`{re.escape(field)}`: expected .*\['wrong'\]"):
        tool_named(name).parse({**CALLS[name], field: ["wrong"]})


@pytest.mark.parametrize(
    ("name", "field"),
    [("Bash", "command"), ("Edit", "file_path"), ("Glob", "pattern"), ("Glob", "path"), ("Grep", "pattern"),
     ("Grep", "path"), ("Grep", "glob"), ("NotebookEdit", "notebook_path"), ("Read", "file_path"), ("Write", "file_path")],
)  # fmt: skip
def test_a_nul_in_a_path_or_command_is_refused(name, field):
    with pytest.raises(InputFault, match=f"`{field}`.*NUL"):
        tool_named(name).parse({**CALLS[name], field: "a\0b"})


@pytest.mark.parametrize("name", [name for name in NAMES if TRAITS[name].read_only])
async def test_what_claims_to_read_only_leaves_the_tree_as_it_was(name, desk):
    desk.write("src/a.py", "def f():\n    pass\n")
    desk.write(".gitignore", "*.log\n")
    before = digest_of(desk.folder)

    with suppress(ToolFault):
        await desk.use(tool_named(name), **CALLS[name])

    assert digest_of(desk.folder) == before


def test_each_built_in_tool_stands_in_the_table_under_its_own_name():
    assert [tool.name for tool in builtin_tools(web=WEB, deferred=DEFERRED)] == list(OFFERED)

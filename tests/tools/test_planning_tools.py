"""TodoWrite, the plan tools and ToolSearch by themselves, at the desk."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.errors import InputFault, ToolFault
from everturn.core.notes import Notes, Todo, TodoStatus
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.tool import Notepad, ToolContext
from everturn.tools.builtin import builtin_tools
from everturn.tools.definition.decorator import tool
from everturn.tools.plan_mode import enter_plan_mode_tool, exit_plan_mode_tool
from everturn.tools.todo_write import MAX_TODOS, todo_write_tool
from everturn.tools.tool_search import tool_search_tool

TEXTS = st.text(min_size=1, max_size=20)
TODOS = st.lists(st.builds(Todo, content=TEXTS, status=st.sampled_from(TodoStatus), active_form=TEXTS), max_size=6).map(
    tuple
)


@tool(deferred=True)
def create_issue(title: str) -> str:
    """Creates an issue in the tracker."""
    return title


@given(TODOS, TODOS)
@settings(max_examples=60, deadline=None)
async def test_any_list_replaces_the_one_before_and_leaves_the_other_notes(before, after):
    notepad = Notepad(Notes(todos=before, plan="The plan.", found_tools=("x",)))
    context = ToolContext(
        folder="/", tool_use_id="t", abort=AbortSignal(), files=FileStates(), progress=print, notepad=notepad
    )
    made = todo_write_tool()
    call = made.parse({"todos": msgspec.to_builtins(list(after))})

    result = await made.run(call, context)

    assert notepad.notes == Notes(todos=after, plan="The plan.", found_tools=("x",))
    assert (result.shown.old_todos, result.shown.new_todos) == (before, after)
    assert made.line(call).isprintable()


def test_the_entry_that_does_not_fit_is_shown():
    good = {"content": "first", "status": "pending", "activeForm": "b"}

    with pytest.raises(InputFault) as fault:
        todo_write_tool().parse({"todos": [good, {"content": "second", "status": "pending"}]})

    assert str(fault.value).startswith("`todos[1]`")
    assert "second" in str(fault.value)
    assert "first" not in str(fault.value)


@pytest.mark.parametrize(
    ("todos", "problem"),
    [
        ([{"content": "a", "status": "pending"}], "missing required field `activeForm`"),
        ([{"content": "a", "status": "later", "activeForm": "b"}], "`todos[0].status`"),
        ([{"content": "", "status": "pending", "activeForm": "b"}], "`todos[0].content`"),
        ([{"content": "a", "status": "pending", "activeForm": "b"}] * (MAX_TODOS + 1), "`todos`"),
        ("one, two", "`todos`"),
    ],
)
def test_a_list_that_does_not_fit_is_explained(todos, problem):
    with pytest.raises(InputFault) as fault:
        todo_write_tool().parse({"todos": todos})

    assert problem in str(fault.value)


def test_fields_that_some_models_add_are_passed_over():
    item = {"content": "a", "status": "pending", "activeForm": "b", "id": "1", "priority": "high"}

    assert todo_write_tool().parse({"todos": [item]}).todos[0].content == "a"


@pytest.mark.parametrize(("make", "fields"), [(enter_plan_mode_tool, {}), (exit_plan_mode_tool, {"plan": "x"})])
async def test_where_the_policy_has_no_modes_there_is_no_plan_mode(desk, make, fields):
    with pytest.raises(ToolFault, match="no permission modes"):
        await desk.use(make(), **fields)


async def test_a_search_that_finds_nothing_names_what_there_is(desk):
    result = await desk.use(tool_search_tool((create_issue,)), query="telephone")

    assert result.content == "No tool fits. Those that can be searched for: create_issue."
    assert desk.context.notepad.notes == Notes()


async def test_a_tool_that_is_found_twice_is_kept_once(desk):
    search = tool_search_tool((create_issue,))

    await desk.use(search, query="issue")
    await desk.use(search, query="select:create_issue")

    assert desk.context.notepad.notes == Notes(found_tools=("create_issue",))


async def test_of_very_many_tools_only_some_are_named_but_all_are_found(desk):
    many = tuple(tool(name=f"mcp__tracker__tool_{n:04}", deferred=True)(create_issue.function) for n in range(1_000))

    search = tool_search_tool(many)
    result = await desk.use(search, query="tool 0999")

    assert len(search.description) < 5_000
    assert search.description.endswith(" and 840 more, which words will find.")
    assert result.shown.matches[0] == "mcp__tracker__tool_0999"


def test_the_schema_of_a_built_in_tool_is_made_once_for_all_sessions():
    for one, other in zip(builtin_tools(), builtin_tools(), strict=True):
        assert one is not other
        assert one.made is not other.made
        assert one.schema is other.schema
        assert one.made._signature is other.made._signature

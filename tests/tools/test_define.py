"""A function becomes a tool, or the author hears at once why it cannot."""

import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from everturn.core.errors import InputFault, OptionError, ToolFault
from everturn.ports.tool import Access, ToolContext, ToolResult, Traits
from everturn.tools.definition.decorator import tool


class Point(msgspec.Struct):
    x: int
    y: int = 0


@dataclass
class Order:
    item: str
    count: int = 1


class Tree(msgspec.Struct):
    name: str
    children: "list[Tree]" = []


class Row(msgspec.Struct, array_like=True):
    x: int


def test_a_bare_function_gives_name_description_and_schema():
    @tool
    def add(first: int, second: Annotated[int, "The other one"] = 2) -> int:
        """Adds two numbers."""
        return first + second

    assert (add.name, add.description, add.result_limit) == ("add", "Adds two numbers.", 50_000)
    assert add.schema == {
        "type": "object",
        "properties": {
            "first": {"type": "integer"},
            "second": {"type": "integer", "description": "The other one", "default": 2},
        },
        "required": ["first"],
        "additionalProperties": False,
    }
    assert add(1, second=3) == 4


async def test_plain_parameters_and_the_context_reach_the_function(desk):
    @tool
    async def where(name: str, context: ToolContext, loud: bool = False) -> str:
        """Says where."""
        return f"{name} {context.folder} {loud}"

    assert await desk.use(where, name="it", loud=True) == ToolResult(content=f"it {desk.folder} True")


@pytest.mark.parametrize("record", [Point, Order, Tree])
def test_a_record_gives_a_plain_object_schema(record):
    def take(call: record) -> str:
        """Takes it."""
        return str(call)

    made = tool(take)

    Draft202012Validator.check_schema(made.schema)
    assert made.schema["type"] == "object"
    assert "$ref" not in made.schema


async def test_a_record_reaches_the_function_whole(desk):
    @tool
    def take(call: Order) -> Any:
        """Takes it."""
        return {"item": call.item, "count": call.count}

    assert await desk.use(take, item="tea", count="3") == ToolResult(
        content='{"item":"tea","count":3}', shown={"item": "tea", "count": 3}
    )


async def test_a_record_that_contains_itself_is_taken(desk):
    @tool
    def depth(call: Tree) -> int:
        """Measures."""
        return len(call.children)

    assert "$defs" in depth.schema
    assert (await desk.use(depth, name="a", children=[{"name": "b"}])).content == "1"


async def test_a_record_among_other_parameters_is_a_field(desk):
    @tool
    def move(point: Point, by: int) -> int:
        """Moves."""
        return point.x + by

    assert move.schema["properties"]["point"] == {"$ref": "#/$defs/Point"}
    assert (await desk.use(move, point={"x": 1}, by=2)).content == "3"


async def test_a_function_without_parameters_takes_an_empty_object(desk):
    @tool
    def ping() -> None:
        """Pings."""

    assert ping.schema == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    assert await desk.use(ping) == ToolResult(content="(no result)")


async def test_a_default_list_is_not_shared_between_calls(desk):
    @tool
    def collect(item: str, into: list[str] = ["first"]) -> list[str]:  # noqa: B006 - what is tested
        """Collects."""
        into.append(item)
        return into

    await desk.use(collect, item="a")

    assert (await desk.use(collect, item="b")).shown == ["first", "b"]


def test_custom_tools_are_careful_by_default():
    @tool
    def act() -> str:
        """Acts."""
        return ""

    assert act.traits(act.parse({})) == Traits()


def test_traits_may_depend_on_the_input():
    @tool(
        reads_only=lambda call: call.verb == "get",
        destructive=lambda call: call.verb == "delete",
        concurrent=True,
        access=Access.READ,
    )
    def http(verb: str) -> str:
        """Calls."""
        return verb

    assert http.traits(http.parse({"verb": "get"})) == Traits(read_only=True, concurrent=True, access=Access.READ)
    assert http.traits(http.parse({"verb": "delete"})) == Traits(destructive=True, concurrent=True, access=Access.READ)


def test_what_only_reads_may_run_beside_others_unless_said_otherwise():
    def look() -> str:
        """Looks."""
        return ""

    assert tool(reads_only=True)(look).traits(None).concurrent is True
    assert tool(reads_only=True, concurrent=False)(look).traits(None).concurrent is False


def test_a_trait_that_fails_gets_the_careful_answer():
    def broken(call):
        raise RuntimeError

    @tool(reads_only=broken, concurrent=broken, destructive=broken)
    def act() -> str:
        """Acts."""
        return ""

    assert act.traits(act.parse({})) == Traits(destructive=True)


async def test_a_sync_function_runs_beside_the_loop(desk):
    @tool
    def thread() -> str:
        """Names its thread."""
        return threading.current_thread().name

    assert (await desk.use(thread)).content != threading.current_thread().name


async def test_a_function_that_ends_the_program_only_fails(desk):
    @tool
    def leave() -> str:
        """Leaves."""
        raise SystemExit(3)

    with pytest.raises(ToolFault, match="tried to end the program"):
        await desk.use(leave)


async def test_a_stop_iteration_does_not_hang_the_call(desk):
    @tool
    def exhausted() -> str:
        """Takes the next of nothing."""
        return next(iter(()))

    with pytest.raises(RuntimeError):
        await desk.use(exhausted)


async def test_a_value_that_json_cannot_carry_is_an_error_for_the_model(desk):
    @tool
    def odd() -> object:
        """Gives an object."""
        return object()

    with pytest.raises(ToolFault, match="odd returned a value that JSON cannot carry"):
        await desk.use(odd)


def unannotated(x):
    """Has no annotation."""


def starred(*args: int):
    """Takes anything."""


def double_starred(**kwargs: int):
    """Takes anything."""


def positional(x: int, /):
    """Takes it by position."""


def path_taker(where: Path):
    """Takes a path."""


def array_taker(call: Row):
    """Takes an array."""


def silent(x: int):
    pass


def generator(x: int):
    """Yields."""
    yield x


def unresolved(x: "Nowhere"):  # noqa: F821 - what is tested
    """Names a type that is not there."""


@pytest.mark.parametrize(
    ("function", "options", "text"),
    [
        (unannotated, {}, "tool unannotated, parameter x: has no type annotation"),
        (starred, {}, "tool starred, parameter args: a tool cannot take"),
        (double_starred, {}, "tool double_starred, parameter kwargs: a tool cannot take"),
        (positional, {}, "tool positional, parameter x: a tool's parameters are given by name"),
        (path_taker, {}, "tool path_taker, parameter where: type `Path` is not supported"),
        (array_taker, {}, "tool array_taker: the input must be one object"),
        (silent, {}, "tool silent: has no description"),
        (generator, {}, "tool generator: a generator cannot be a tool"),
        (unresolved, {}, "tool unresolved: an annotation cannot be resolved"),
        (silent, {"name": "no spaces", "description": "x"}, "tool no spaces: the name must be"),
        (silent, {"name": "x" * 65, "description": "x"}, "the name must be 1 to 64"),
        (silent, {"description": "x", "result_limit": 0}, "result_limit: must be at least 1"),
        ("text", {}, "only a function or a method can be a tool"),
    ],
)
def test_a_function_that_does_not_fit_is_refused_when_it_is_defined(function, options, text):
    with pytest.raises(OptionError) as refused:
        tool(**options)(function)

    assert text in str(refused.value)


@tool
def sample(count: int, mode: Literal["fast", "slow"] = "fast", ratio: float = 1.0, loud: bool = False, file: str = ""):
    """Takes one of each."""


@pytest.mark.parametrize(
    ("fields", "taken"),
    [
        ({"count": "12"}, 12),
        ({"count": 12.0}, 12),
        ({"count": "-3"}, -3),
        ({"count": "12", "mode": None}, 12),
    ],
)
def test_a_number_sent_as_text_is_taken(fields, taken):
    assert sample.parse(fields).count == taken


def test_a_truth_value_sent_as_text_is_taken():
    assert sample.parse({"count": 1, "loud": "true"}).loud is True


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"count": "twelve"}, "`count`: expected `int`, got `str` ('twelve')."),
        ({"count": "1.5"}, "`count`: expected `int`, got `str` ('1.5')."),
        ({"count": True}, "`count`: expected `int`, got `bool` (True)."),
        ({"count": None}, "`count`: expected `int`, got `null` (None)."),
        ({"count": 1, "loud": 1}, "`loud`: expected `bool`, got `int` (1)."),
        ({"count": 1, "file": 7}, "`file`: expected `str`, got `int` (7)."),
        ({"count": 1, "mode": "warp"}, """`mode`: expected one of "fast", "slow", got 'warp'."""),
        ({}, "`count` is missing: expected integer."),
        ({"count": 1, "x": 2, "y": 3}, "sample has no field `x`, `y`. Its fields are: count, mode, ratio, loud, file."),
        ({"count": 1, "file": "a\0"}, r"`file`: expected text without NUL characters, got 'a\x00'."),
        ([], "The input of sample must be an object, not []."),
    ],
)
def test_bad_input_is_explained_to_the_model(fields, text):
    with pytest.raises(InputFault) as fault:
        sample.parse(fields)

    assert str(fault.value) == text


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["count", "mode", "ratio", "loud", "file", "other"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
            max_leaves=4,
        ),
    )
)
def test_any_json_is_taken_or_refused_and_nothing_else_is_raised(fields):
    with suppress(InputFault):
        call = sample.parse(fields)
        assert isinstance(call.count, int)
        assert sample.line(call).isprintable()


def test_a_field_that_the_model_is_not_told_of_is_not_named_to_it():
    @tool(untold_fields=("quietly",))
    def greet(name: str, quietly: bool = False) -> str:
        """Greets."""
        return name.lower() if quietly else name

    with pytest.raises(InputFault, match=r"Its fields are: name\."):
        greet.parse({"nom": "Ann"})
    assert greet.parse({"name": "Ann", "quietly": True})

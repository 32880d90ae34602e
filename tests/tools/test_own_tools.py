"""Own tools in all the ways in which people write them: every kind of annotation, every kind of docstring."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Annotated, Literal, Optional

import msgspec
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec import Meta

from everturn.core.errors import InputFault, OptionError
from everturn.ports.tool import ToolContext, ToolResult
from everturn.tools.definition.decorator import tool
from everturn.tools.definition.docstrings import Docstring, parse_docstring


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Size(Enum):
    SMALL = 1
    LARGE = 2


class Place(msgspec.Struct):
    city: Annotated[str, Meta(description="Where it is")]
    tags: list[str] = []


@dataclass
class Parcel:
    place: Place
    weight: float = 1.0
    notes: dict[str, str] = field(default_factory=dict)


class Person(pydantic.BaseModel):
    name: str = pydantic.Field(description="The full name", min_length=1)
    age: int = pydantic.Field(default=0, ge=0)
    friends: "list[Person]" = []


class Team(pydantic.BaseModel):
    lead: Person
    title: str = "none"


@tool
def paint(
    colour: Colour,
    *,
    mode: Literal["fast", "slow"] = "fast",
    size: Size = Size.SMALL,
    count: Optional[int] = None,  # noqa: UP045 - as people write it
    words: list[str] | None = None,
    place: Place | None = None,
) -> str:
    """Paints."""
    return f"{colour!s} {mode} {size.name} {count} {words} {place.city if place else None}"


@tool
async def send(parcel: Parcel) -> dict[str, float]:
    """Sends a parcel."""
    return {parcel.place.city: parcel.weight}


@tool
def greet(person: Person) -> str:
    """Greets a person."""
    return f"Hello {person.name} ({person.age}, {len(person.friends)} friends)"


@tool
def invite(people: list[Person], team: Team, loud: bool = False) -> Team:
    """Invites people."""
    return team.model_copy(update={"title": f"{len(people)} {loud}"})


SAMPLES = [
    (paint, {"colour": "red"}, "red fast SMALL None None None"),
    (paint, {"colour": "blue", "size": 2, "count": 3, "words": ["a"]}, "blue fast LARGE 3 ['a'] None"),
    (paint, {"colour": "blue", "mode": "slow", "place": {"city": "Oslo"}}, "blue slow SMALL None None Oslo"),
    (send, {"place": {"city": "Oslo"}, "weight": 2.5}, '{"Oslo":2.5}'),
    (greet, {"name": "Ada", "age": 36}, "Hello Ada (36, 0 friends)"),
    (greet, {"name": "Ada", "friends": [{"name": "Bob"}]}, "Hello Ada (0, 1 friends)"),
    (
        invite,
        {"people": [{"name": "Ada"}], "team": {"lead": {"name": "Bob"}}},
        '{"lead":{"name":"Bob","age":0,"friends":[]},"title":"1 False"}',
    ),
]


@pytest.mark.parametrize(("made", "fields", "answer"), SAMPLES)
async def test_typed_arguments_reach_the_function(desk, made, fields, answer):
    assert (await desk.use(made, **fields)).content == answer


@pytest.mark.parametrize(("made", "fields"), [(made, fields) for made, fields, _ in SAMPLES])
def test_the_schema_is_valid_and_takes_what_the_tool_takes(made, fields):
    Draft202012Validator.check_schema(made.schema)

    assert list(Draft202012Validator(made.schema).iter_errors(fields)) == []
    assert made.schema["type"] == "object"
    assert made.line(made.parse(fields)).startswith(made.name)


def test_a_pydantic_model_is_shown_without_titles_and_with_its_descriptions():
    person = {
        "properties": {
            "name": {"description": "The full name", "minLength": 1, "type": "string"},
            "age": {"default": 0, "minimum": 0, "type": "integer"},
            "friends": {"default": [], "items": {"$ref": "#/$defs/Person"}, "type": "array"},
        },
        "required": ["name"],
    }
    assert greet.schema == {
        "type": "object",
        **person,
        "additionalProperties": False,
        "$defs": {"Person": {"type": "object", **person}},
    }


@pytest.mark.parametrize(
    ("made", "fields", "problem"),
    [
        (greet, {"name": ""}, "`name`: string should have at least 1 character, got ''."),
        (greet, {}, "`name` is missing."),
        (greet, {"name": "Ada", "age": "old"}, "`age`: input should be a valid integer"),
        (greet, {"name": "Ada", "friends": [{"age": 1}]}, "`friends.0.name` is missing."),
        (greet, {"name": "Ada", "shoe": 1}, "greet has no field `shoe`. Its fields are: name, age, friends."),
        (invite, {"people": [{"name": 7}], "team": {}}, "`name`: input should be a valid string, got 7."),
        (paint, {"colour": "green"}, "`colour`: expected "),
        (send, {"place": {"city": 1}}, "`place.city`: expected `str`, got `int`"),
    ],
)
def test_bad_input_names_the_field(made, fields, problem):
    with pytest.raises(InputFault) as fault:
        made.parse(fields)

    assert str(fault.value).startswith(problem)


DOCSTRINGS = {
    "google": """Tells the weather.

    Only for cities with a station.

    Args:
        city (str): Its name,
            in English.
        days: How many days ahead.

    Returns:
        One line per day.
    """,
    "numpy": """Tells the weather.

    Only for cities with a station.

    Parameters
    ----------
    city : str
        Its name,
        in English.
    days
        How many days ahead.

    Returns
    -------
    str
        One line per day.
    """,
    "sphinx": """Tells the weather.

    Only for cities with a station.

    :param city: Its name,
        in English.
    :type city: str
    :param int days: How many days ahead.
    :returns: One line per day.
    """,
}


@pytest.mark.parametrize("manner", DOCSTRINGS)
def test_the_docstrings_section_of_parameters_describes_them(manner):
    def weather(city: str, days: int = 1) -> str:
        return f"{city} {days}"

    weather.__doc__ = DOCSTRINGS[manner]
    made = tool(weather)

    assert made.schema["properties"] == {
        "city": {"type": "string", "description": "Its name, in English."},
        "days": {"type": "integer", "description": "How many days ahead.", "default": 1},
    }
    assert made.description.startswith("Tells the weather.\n\nOnly for cities with a station.\n\n")
    assert "Its name" not in made.description
    assert "One line per day." in made.description


def test_an_annotation_beats_the_docstring():
    @tool
    def count(most: Annotated[int, Meta(ge=1, description="From the annotation")], other: Annotated[int, Meta(ge=1)]):
        """Counts.

        Args:
            most: From the docstring.
            other: From the docstring.

        """

    assert count.schema["properties"] == {
        "most": {"type": "integer", "minimum": 1, "description": "From the annotation"},
        "other": {"type": "integer", "minimum": 1, "description": "From the docstring."},
    }


@pytest.mark.parametrize(
    "text",
    [
        "Explains.\n\nArgs:\n\nand nothing else.",
        "Parameters\nwithout a line below.",
        "Says :param x: in between.",
        "Args:",
    ],
)
def test_a_docstring_that_only_looks_like_a_section_is_left_alone(text):
    assert parse_docstring(text) == Docstring(description=text)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            (
                "Args:",
                "  a: b",
                "    more",
                "",
                "Parameters",
                "----",
                "a : int",
                ":param a: b",
                ":type a: b",
                "text",
                "  (",
            )
        ),
        max_size=8,
    ).map("\n".join)
)
def test_any_docstring_is_read_to_its_end(text):
    said = parse_docstring(text)

    assert said.description == said.description.strip()
    assert all(said.parameters.values())


@pytest.mark.parametrize(
    ("extra", "problem"),
    [
        ({"enum": []}, ".x: `enum` must list at least one value"),
        ({"$ref": "#/$defs/Nowhere"}, ".x: #/$defs/Nowhere is not defined"),
        ({"items": {"type": "words"}}, ".x.items: JSON has no type 'words'"),
    ],
)
def test_a_schema_that_the_api_would_refuse_is_refused_when_the_tool_is_defined(extra, problem):
    def take(x: Annotated[str, Meta(extra_json_schema=extra)]):
        """Takes it."""

    with pytest.raises(OptionError) as refused:
        tool(take)

    assert str(refused.value) == f"tool take: {problem}"


def test_a_parameter_with_a_name_that_the_api_refuses_is_named():
    def take(größe: int):  # noqa: PLC2401 - what is tested
        """Takes it."""

    with pytest.raises(OptionError, match="field 'größe'"):
        tool(take)


def test_functions_of_the_same_code_share_their_schema_and_others_do_not():
    def make(kind, default):
        @tool
        def take(x: kind = default) -> str:
            """Takes it."""
            return str(x)

        return take

    assert make(int, 1).schema is make(int, 1).schema
    assert make(int, 1).schema != make(int, 2).schema
    assert make(int, 1).schema != make(bool, True).schema
    assert make(list[int], [1]).schema == make(list[int], [1]).schema


async def test_the_persons_fields_are_hidden_from_the_model(desk):
    @tool(needs_person=True, person_fields=("answer",))
    async def ask(question: str, context: ToolContext, answer: str = "") -> str:
        """Asks."""
        return f"{question} {answer} {context.input_changed}"

    assert list(ask.schema["properties"]) == ["question"]
    assert ask.traits(ask.parse({"question": "?"})).needs_person
    with pytest.raises(InputFault, match="has no field `answer`"):
        ask.parse({"question": "?", "answer": "forged"})
    approved = ask.parse_approved({"question": "?", "answer": "yes"})
    assert await ask.run(approved, desk.context) == ToolResult(content="? yes False")


def test_a_tool_that_uses_no_pydantic_does_not_import_it():
    program = (
        "import sys; from everturn import tool\n@tool\ndef f(x: int):\n  'F.'\nassert 'pydantic' not in sys.modules"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=120).returncode == 0


class Kitchen:
    def __init__(self, stock):
        self.stock = stock

    def fetch(self, item: str) -> str:
        """Fetches something."""
        return f"{item}: {self.stock[item]}"


async def test_a_method_is_a_tool_of_its_object(desk):
    one, other = tool(Kitchen({"tea": 1}).fetch), tool(Kitchen({"tea": 2}).fetch)

    assert (await desk.use(one, item="tea")).content == "tea: 1"
    assert (await desk.use(other, item="tea")).content == "tea: 2"


class Listener(pydantic.BaseModel):
    name: str
    heard: Callable[[str], None]


def listen(listener: Listener):
    """Listens."""


def listen_beside(listener: Listener, loud: bool):
    """Listens, with something else beside it."""


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (len, "tool len, parameter obj: a tool's parameters are given by name"),
        (min, "tool min: its parameters cannot be seen"),
        (listen, "tool listen, parameter heard: type "),
        (listen_beside, "tool listen_beside, parameter listener: type `Listener` is not supported"),
    ],
)
def test_what_no_model_could_send_is_refused_by_name(function, problem):
    with pytest.raises(OptionError) as refused:
        tool(description="Takes it.")(function)

    assert str(refused.value).startswith(problem)

"""What others rely on by name: the library, its options, settings files, events, records, and the tools as they are sent."""

import json
import types
import typing
from enum import Enum
from typing import Any

import msgspec
import pytest
from tests.goldens.recording import SURFACE, settle
from tests.goldens.stage import Stage

import everturn
from everturn import Options, modelserver, testing, tool
from everturn.core.events import Event
from everturn.core.limits import Limits
from everturn.core.records import Record
from everturn.modelserver import ModelServer
from everturn.settings.keys import KEYS

PLAIN = {str, bytes, int, float, bool, type(None), Any}


def render_type(of: Any, above: tuple[type, ...] = ()) -> Any:
    """By what is in it, and not by the name of its class, which is free to change."""
    if isinstance(of, list):
        return [render_type(argument, above) for argument in of]
    arguments = [render_type(argument, above) for argument in typing.get_args(of) if argument is not Ellipsis]
    match typing.get_origin(of):
        case typing.Union | types.UnionType:
            return {"any": sorted(arguments, key=json.dumps)}
        case typing.Literal:
            return {"one of": sorted(map(str, typing.get_args(of)))}
        case typing.Annotated:
            return arguments[0]
        case None:
            return render_plain(of, above)
        case origin:
            return {getattr(origin, "__name__", str(origin)): arguments}


def render_plain(of: Any, above: tuple[type, ...]) -> Any:
    if of in PLAIN:
        return getattr(of, "__name__", str(of))
    if not isinstance(of, type):
        return "anything"
    if issubclass(of, Enum):
        return {"one of": sorted(str(member.value) for member in of)}
    if issubclass(of, msgspec.Struct):
        return "as above" if of in above else render_struct(of, above)
    return of.__name__ if of.__module__ == "builtins" else "object"


def render_struct(of: type[msgspec.Struct], above: tuple[type, ...] = ()) -> dict[str, Any]:
    return {field.encode_name: render_type(field.type, (*above, of)) for field in msgspec.structs.fields(of)}


def render_defaults(of: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.name: msgspec.to_builtins(find_default(field), enc_hook=str) for field in msgspec.structs.fields(of)}


def find_default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return "(required)" if field.default is msgspec.NODEFAULT else field.default


def by_tag(root: type[msgspec.Struct]) -> dict[str, Any]:
    return {str(kind.__struct_config__.tag): render_struct(kind) for kind in root.__subclasses__()}


def render(value: Any) -> bytes:
    return json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n"


PARTS = {
    "names": lambda: {module.__name__: sorted(module.__all__) for module in (everturn, testing, modelserver)},
    "options": lambda: {"fields": render_struct(Options), "defaults": render_defaults(Options)},
    "limits": lambda: {"fields": render_struct(Limits), "defaults": render_defaults(Limits)},
    "settings": lambda: {
        name: {"option": key.option, "joins": key.joins, "reach": key.reach} for name, key in sorted(KEYS.items())
    },
    "events": lambda: dict(sorted(by_tag(Event).items())),
    "records": lambda: dict(sorted(by_tag(Record).items())),
}


@pytest.mark.parametrize("part", PARTS)
def test_it_is_what_it_was(part):
    settle(SURFACE / part, {f"{part}.json": render(PARTS[part]())})


async def test_every_tool_is_sent_as_it_was():
    @tool(deferred=True)
    def rare(subject: str) -> str:
        """Seldom needed."""
        return subject

    class Person:
        async def approve(self, call: Any, reason: str) -> Any:
            raise AssertionError("nobody is asked")

    async with ModelServer() as server:
        stage = Stage(server)
        try:
            options = {"web_search": "brave", "web_search_key": "made-up-key", "approver": Person(), "tools": [rare]}
            sent = stage.engine(builtin_tools=True, **options).told_before[1]
            settle(SURFACE / "tools", {"tools.json": render({name: json.loads(raw) for name, raw in sent.items()})})
        finally:
            await stage.close()
            stage.remove()

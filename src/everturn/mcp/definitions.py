"""What a server offers: tools, resources, prompts, as it describes them. Texts are the server's own: data, never instructions."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")


class ServerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a server has said of itself when it was connected."""

    name: str
    version: str
    protocol_version: str
    title: str = ""
    instructions: str = ""
    capabilities: Mapping[str, Any] = {}

    def offers(self, kind: str) -> bool:
        """`tools`, `resources` or `prompts`."""
        return self.capabilities.get(kind) is not None


class ToolHints(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the server claims of a tool; None where it says nothing. Nothing that rules could rely on."""

    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


class ToolDefinition(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """`input_schema` is always that of an object; a tool that says nothing takes no arguments."""

    name: str
    title: str | None = None
    description: str | None = None
    input_schema: dict[str, Any] = msgspec.field(default_factory=lambda: {"type": "object", "properties": {}})
    output_schema: dict[str, Any] | None = None
    annotations: ToolHints | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class ResourceDefinition(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    uri: str
    name: str = ""
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: float | None = None


class ResourceTemplate(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """`uri_template` is that of RFC 6570."""

    uri_template: str
    name: str = ""
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None


class PromptArgument(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    name: str
    title: str | None = None
    description: str | None = None
    required: bool | None = None


class PromptDefinition(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    name: str
    title: str | None = None
    description: str | None = None
    arguments: tuple[PromptArgument, ...] | None = None


class Listing(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """All pages of a list, in the server's order."""

    items: tuple[T, ...] = ()
    fresh_s: float | None = None
    """How long the server says that it will not change; None where it does not say."""
    problems: tuple[str, ...] = ()
    """A sentence for each entry that was left out because it cannot be read."""

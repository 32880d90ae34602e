"""A model, and what is known about it: one streaming call, and the card with its window, caps, prices and abilities."""

from collections.abc import AsyncGenerator, Sequence
from enum import StrEnum
from typing import Any, Literal, Protocol

import msgspec

from everturn.core.budget import Prices
from everturn.core.stream import StreamEvent
from everturn.core.transcript import Wire

Effort = Literal["low", "medium", "high", "xhigh", "max"]
USUAL_BUDGET = 16_000
"""Tokens for thoughts, for a model that needs a number where none was given."""


class ThinkingMode(StrEnum):
    ADAPTIVE = "adaptive"
    ENABLED = "enabled"
    DISABLED = "disabled"


_USUAL_MODES: tuple[ThinkingMode, ...] = (ThinkingMode.ADAPTIVE, ThinkingMode.ENABLED)


class ThinkingConfig(msgspec.Struct, frozen=True, kw_only=True):
    """`budget_tokens` goes with `enabled` only. `display` is `summarized` or `omitted`."""

    mode: ThinkingMode
    budget_tokens: int | None = None
    display: str | None = None


class TaskBudget(msgspec.Struct, frozen=True, kw_only=True):
    """Told to the API; it is the API's to keep. `remaining` is named only after a compaction of ours."""

    total: int
    remaining: int | None = None


class Clearing(msgspec.Struct, frozen=True, kw_only=True):
    """Old results that the API itself is to leave out of what the model reads."""

    above: int
    """Tokens of input above which it begins."""
    keep: int
    """The latest calls stay."""
    at_least: int
    """Tokens that it must free at once, since it breaks the cache."""
    excluded: tuple[str, ...] = ()
    """Tools whose results stay."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One model call, ready but for its encoding. The order of sending is tools, system, messages."""

    model: str
    messages: Sequence[Wire]
    max_tokens: int
    system: tuple[str, ...] = ()
    """Text blocks, static before dynamic."""
    environment: int = 0
    """How many of these, at the end, tell of the environment: other sessions have others, so the mark stands before them."""
    tools: tuple[bytes, ...] = ()
    """Each tool's JSON (name, description, input_schema), byte-stable in a session."""
    thinking: ThinkingConfig | None = None
    """None: the model thinks if it can."""
    effort: Effort | None = None
    betas: tuple[str, ...] = ()
    task_budget: TaskBudget | None = None
    fast: bool = False
    cache: bool = True
    """Place cache marks."""
    cache_write: bool = True
    """False: the newest message gets no mark, so that the cache is read and nothing is added."""
    cache_ttl: Literal["5m", "1h"] = "5m"
    output_schema: dict[str, Any] | None = None
    stop_sequences: tuple[str, ...] = ()
    clearing: Clearing | None = None
    opening: int = 0
    """Blocks of the first message that are the user's context."""
    anchor: int | None = None
    """Index of the first message that may change later. A cache mark before it can stay where it is."""
    kept: int | None = None
    """Messages that stand as in the request before, where that is not all it had: a mark there saves what is before it."""


class ModelCard(msgspec.Struct, frozen=True, kw_only=True):
    """What the catalogue knows of a model."""

    id: str
    family: str = ""
    window: int = 200_000
    max_output: int = 64_000
    prices: Prices = Prices()
    fast_prices: Prices | None = None
    """Set where fast mode exists."""
    thinking: tuple[ThinkingMode, ...] = ()
    """Modes that the API takes, the default one first."""
    thinking_default_on: bool = False
    efforts: tuple[Effort, ...] = ()
    task_budget: bool = False
    max_media: int = 100
    min_cacheable: int = 1_024
    clears_results: bool = False
    """The API clears stale results itself (context editing); then ours are left to it."""
    prefill: bool = False
    """Takes a conversation that ends with an assistant message."""
    knowledge: str = ""
    """How far its knowledge reaches, such as `2026-06`; empty where that is not known."""
    known: bool = True
    """False: the card is a guess from the model's family."""

    def choose_thinking(self, config: ThinkingConfig | None) -> ThinkingMode | None:
        """How the model thinks when it is asked so: as wanted, or in the nearest way that it knows. None: not at all.

        Nothing asked: it thinks if it can.
        """
        if config is None:
            wanted = _USUAL_MODES
        elif config.mode is ThinkingMode.DISABLED:
            always = self.thinking_default_on and ThinkingMode.DISABLED not in self.thinking
            return ThinkingMode.ADAPTIVE if always else None
        else:
            wanted = (config.mode, *_USUAL_MODES)
        return next((mode for mode in wanted if mode in self.thinking), None)


class Model(Protocol):
    """Contract: yields at least one event or raises `ModelFault`; may be closed at any time; never retries by itself."""

    def stream(self, request: Request) -> AsyncGenerator[StreamEvent]: ...

    async def count_tokens(self, request: Request) -> int:
        """Tokens of the request's input, by the API's own count. Raises `ModelFault`."""
        ...

    async def aclose(self) -> None:
        """May be called again."""
        ...


class Catalog(Protocol):
    """Never raises: an unknown model gets its family's card, marked as a guess."""

    def card(self, model: str) -> ModelCard: ...

    def resolve(self, name: str) -> str:
        """The id behind an alias (`sonnet`); any other name is itself."""
        ...

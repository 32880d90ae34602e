"""Building requests: system prompt, tools and contexts are encoded once, so that every prefix is byte-stable."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec

from everturn.core.contexts import Contexts
from everturn.core.messages import Message, RedactedThinking, Thinking, ToolResult, text_block
from everturn.core.normaliser import Normaliser
from everturn.core.tokens import estimate_bytes
from everturn.core.transcript import Abilities, Wire, normalise
from everturn.core.window import CONTEXT_CATEGORIES, MCP_PREFIX, Category, Item
from everturn.engine import wording
from everturn.engine.deps import AgentContext, Config, Deps, Prompting
from everturn.ports.model import USUAL_BUDGET, ModelCard, Request, ThinkingConfig, ThinkingMode
from everturn.ports.tool import Tool

NO_THOUGHTS = ThinkingConfig(mode=ThinkingMode.DISABLED)
"""Side questions without thinking."""


class Requests:
    def __init__(self, deps: Deps, config: Config, prompting: Prompting) -> None:
        self._deps = deps
        self._config = config
        self._schema: dict[str, Any] | None = dict(prompting.output_schema) if prompting.output_schema else None
        self._render_system = prompting.system
        self._tools: dict[str, bytes] = {}
        self._listed: tuple[Tool, ...] = ()
        """The tools of the last request, whose encoding is reused."""
        self._listed_encoded: tuple[bytes, ...] = ()
        self._put_before(Contexts())

    def put_before(self, contexts: Contexts) -> None:
        """Sets the contexts that every request from now on has before the messages."""
        if contexts != self._contexts:
            self._put_before(contexts)

    def _put_before(self, contexts: Contexts) -> None:
        self._contexts = contexts
        closing = (wording.system_context(contexts.system),) if contexts.system else ()
        self._system, self._environment = (*self._render_system(contexts.permissions), *closing), len(closing)
        self._opening = (text_block(wording.user_context(contexts.user)),) if contexts.user else ()
        self._own_tokens = sum(map(estimate_text, self._system)) + sum(block.tokens for block in self._opening)
        self._normaliser = Normaliser(self._opening)

    def card(self, agent: AgentContext) -> ModelCard:
        return self._deps.catalog.card(agent.model)

    @property
    def cache_ttl(self) -> Literal["5m", "1h"]:
        return "1h" if self._config.cache_ttl == "1h" else "5m"

    def output_cap(self, agent: AgentContext, override: int | None) -> int:
        """Output tokens to ask for. A model that thinks gets more, because thinking counts as output."""
        limits, card = self._config.limits, self.card(agent)
        usual = limits.output_cap_thinking if card.choose_thinking(agent.thinking) else limits.output_cap
        return min(override or agent.max_output or usual, card.max_output)

    @property
    def media_dropped(self) -> int:
        """Pieces of media that the last request left out because the model takes no more."""
        return self._normaliser.dropped

    def fixed_tokens(self, agent: AgentContext) -> int:
        """Estimated tokens of everything before the messages: system prompt, tools, contexts."""
        return self._own_tokens + estimate_bytes(sum(map(len, self._encoded(agent.tools))))

    def list_fixed(self, agent: AgentContext) -> tuple[Item, ...]:
        """Everything before the messages, part by part."""
        tools = tuple(
            Item(
                category=Category.MCP_TOOLS if tool.name.startswith(MCP_PREFIX) else Category.TOOLS,
                name=tool.name,
                tokens=estimate_bytes(len(encoded)),
            )
            for tool, encoded in zip(agent.tools, self._encoded(agent.tools), strict=True)
        )
        own = len(self._system) - self._environment
        system = (
            Item(
                category=Category.SYSTEM,
                name="system" if number < own else "environment",
                tokens=text_block(text).tokens,
            )
            for number, text in enumerate(self._system)
        )
        opening = (
            Item(category=CONTEXT_CATEGORIES.get(key, Category.CONTEXT), name=key, tokens=text_block(text).tokens)
            for key, text in self._contexts.user.items()
        )
        return (*system, *tools, *opening)

    def build(
        self, messages: Sequence[Message], agent: AgentContext, *, max_tokens: int, apart: bool = False
    ) -> Request:
        """The request. `apart`: a side question, which does not change what is remembered of the main call."""
        card = self.card(agent)
        abilities = Abilities(model=agent.model, max_media=card.max_media)
        normaliser = Normaliser(self._opening) if apart else self._normaliser
        wires = normaliser.normalise(messages, abilities)
        return Request(
            model=agent.model,
            messages=wires,
            max_tokens=max_tokens,
            system=self._system,
            environment=self._environment,
            tools=self._encoded(agent.tools),
            thinking=self._plan_thinking(agent, wires),
            effort=agent.effort,
            betas=agent.betas,
            task_budget=agent.task_budget if card.task_budget else None,
            fast=self._config.fast and card.fast_prices is not None,
            cache=self._config.cache,
            cache_write=self._config.cache_write,
            cache_ttl=self.cache_ttl,
            output_schema=self._schema,
            clearing=agent.clearing,
            opening=len(self._opening),
        )

    def side_cap(self, agent: AgentContext, wanted: int) -> int:
        """Output cap of a side question with the main call's prefix: the same thinking budget must fit, or the cache is not read."""
        by_budget = self.card(agent).choose_thinking(agent.thinking) is ThinkingMode.ENABLED
        return max(wanted, self.output_cap(agent, None)) if by_budget else wanted

    def _plan_thinking(self, agent: AgentContext, wires: Sequence[Wire]) -> ThinkingConfig | None:
        """How the model thinks. The budget is the same in all requests of a session, whatever their output cap."""
        thinking = agent.thinking
        if self.card(agent).choose_thinking(thinking) is not ThinkingMode.ENABLED:
            return thinking
        if not may_think_on(wires):
            return NO_THOUGHTS
        if thinking is not None and thinking.budget_tokens is not None:
            return thinking
        budget = min(USUAL_BUDGET, self.output_cap(agent, None) // 2)
        display = thinking.display if thinking is not None else None
        return ThinkingConfig(mode=ThinkingMode.ENABLED, budget_tokens=budget, display=display)

    def encode_tools(self, tools: tuple[Tool, ...]) -> dict[str, bytes]:
        """The tools as they are sent, by name."""
        return dict(zip((tool.name for tool in tools), self._encoded(tools), strict=True))

    def build_plain(
        self, messages: tuple[Message, ...], model: str, system: tuple[str, ...], max_tokens: int
    ) -> Request:
        """A side question that shares nothing with the main loop."""
        card = self._deps.catalog.card(model)
        wires = normalise(messages, Abilities(model=model, max_media=card.max_media))
        return Request(
            model=model,
            messages=wires,
            max_tokens=min(max_tokens, card.max_output),
            system=system,
            cache=False,
            thinking=NO_THOUGHTS,
        )

    def _encoded(self, tools: tuple[Tool, ...]) -> tuple[bytes, ...]:
        if tools is self._listed:
            return self._listed_encoded
        for tool in tools:
            if tool.name not in self._tools:
                body = {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
                self._tools[tool.name] = msgspec.json.encode(body)
        self._listed, self._listed_encoded = tools, tuple([self._tools[tool.name] for tool in tools])
        return self._listed_encoded


@lru_cache(maxsize=64)
def estimate_text(text: str) -> int:
    """Tokens of a part of the system prompt. Many sessions have the same."""
    return text_block(text).tokens


def may_think_on(wires: Sequence[Wire]) -> bool:
    """Whether thinking with a budget can be asked for: an unfinished trajectory must begin with thinking of this model.

    It does not where another model began it, or where thinking was off.
    """
    first: Wire | None = None
    for wire in reversed(wires):
        if wire.role == "assistant":
            first = wire
        elif not any(isinstance(block.view, ToolResult) for block in wire.blocks):
            break
    return first is None or isinstance(first.blocks[0].view, Thinking | RedactedThinking)

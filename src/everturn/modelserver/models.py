"""The models this server knows: the limits and abilities on which rules and usage depend."""

from typing import Literal

import msgspec

EFFORTS = ("low", "medium", "high", "xhigh", "max")


class Model(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str = ""
    aliases: tuple[str, ...] = ()
    window: int = 1_000_000
    max_output: int = 128_000
    min_cacheable: int = 1_024
    """Shorter prefixes are not written to the prompt cache."""
    thinking: tuple[str, ...] = ("adaptive", "disabled")
    """The values of `thinking.type` that the model takes."""
    thinks_unasked: bool = False
    off_up_to_high: bool = False
    """Thinking can be switched off only at effort high or below."""
    efforts: tuple[str, ...] = EFFORTS
    images: int = 600
    image_tokens: int = 4_784
    """The most that one image costs: larger ones are scaled down."""
    fast: Literal["no", "beta", "yes"] = "no"
    """Whether it has a fast mode; `beta`: with the beta header only."""
    task_budget: bool = False
    system_messages: bool = False
    """Takes `system` messages in mid-conversation."""
    prefill: bool = False
    binds_thinking: bool = False
    """Refuses thinking when something before it has changed since it was given out."""
    sampling: bool = False
    """Takes `temperature`, `top_p` and `top_k` other than their defaults."""


_SMALL = {"window": 200_000, "max_output": 64_000, "images": 100, "image_tokens": 1_568}
_MANUAL = {"thinking": ("enabled", "disabled"), "prefill": True, "sampling": True, **_SMALL}
_BOTH = {
    "thinking": ("adaptive", "enabled", "disabled"),
    "efforts": ("low", "medium", "high", "max"),
    "image_tokens": 1_568,
    "sampling": True,
}
_NEWER = {"min_cacheable": 512, "thinks_unasked": True, "system_messages": True}
_ALWAYS_THINKING = {"thinking": ("adaptive",), **_NEWER}
_BINDING = {"binds_thinking": True, **_ALWAYS_THINKING}


def _model(identity: str, name: str, **traits: object) -> Model:
    return msgspec.convert({"id": identity, "name": name, **traits}, Model)


KNOWN = (
    _model("claude-fable-5-2", "Claude Fable 5.2", **_BINDING),
    _model("claude-fable-5-1", "Claude Fable 5.1", task_budget=True, **_BINDING),
    _model("claude-mythos-5-1", "Claude Mythos 5.1", task_budget=True, **_ALWAYS_THINKING),
    _model("claude-fable-5", "Claude Fable 5", task_budget=True, **_ALWAYS_THINKING),
    _model("claude-mythos-5", "Claude Mythos 5", task_budget=True, **_ALWAYS_THINKING),
    _model("claude-opus-5-5", "Claude Opus 5.5", fast="yes", task_budget=True, **_ALWAYS_THINKING),
    _model("claude-opus-5", "Claude Opus 5", off_up_to_high=True, fast="beta", task_budget=True, **_NEWER),
    _model("claude-opus-4-8", "Claude Opus 4.8", fast="beta", task_budget=True, system_messages=True),
    _model("claude-opus-4-7", "Claude Opus 4.7", min_cacheable=2_048, task_budget=True),
    _model("claude-opus-4-6", "Claude Opus 4.6", min_cacheable=4_096, **_BOTH),
    _model(
        "claude-opus-4-5-20251101",
        "Claude Opus 4.5",
        aliases=("claude-opus-4-5",),
        min_cacheable=4_096,
        efforts=("low", "medium", "high"),
        **_MANUAL,
    ),
    _model("claude-sonnet-5-5", "Claude Sonnet 5.5", task_budget=True, **_ALWAYS_THINKING),
    _model("claude-sonnet-5", "Claude Sonnet 5", thinks_unasked=True),
    _model("claude-sonnet-4-6", "Claude Sonnet 4.6", **_BOTH),
    _model("claude-sonnet-4-5-20250929", "Claude Sonnet 4.5", aliases=("claude-sonnet-4-5",), efforts=(), **_MANUAL),
    _model("claude-haiku-5-5", "Claude Haiku 5.5", task_budget=True, **_NEWER),
    _model(
        "claude-haiku-4-5-20251001",
        "Claude Haiku 4.5",
        aliases=("claude-haiku-4-5",),
        min_cacheable=4_096,
        efforts=(),
        **_MANUAL,
    ),
)


def permissive(identity: str) -> Model:
    """A model that takes whatever any model takes."""
    return Model(
        id=identity,
        name=identity,
        min_cacheable=0,
        thinking=("adaptive", "enabled", "disabled"),
        fast="yes",
        task_budget=True,
        system_messages=True,
        prefill=True,
        sampling=True,
    )


class Models(msgspec.Struct, frozen=True, kw_only=True):
    """The models that a script serves."""

    listed: tuple[Model, ...] = KNOWN
    any: bool = False
    """Every other name is served too, as a permissive model."""

    def find(self, identity: str) -> Model | None:
        for model in self.listed:
            if identity == model.id or identity in model.aliases:
                return model
        return permissive(identity) if self.any else None


KNOWN_MODELS = Models()
ANY_MODEL = Models(any=True)

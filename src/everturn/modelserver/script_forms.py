"""The JSON of a whole script: answers, matches, settings; and the script it stands for."""

from typing import Annotated, Any, Literal

import msgspec

from everturn.modelserver.answer_forms import AnswerForm, Form, answer_of
from everturn.modelserver.models import KNOWN_MODELS, Model, permissive
from everturn.modelserver.scripts import Match, Script, When, models_of
from everturn.modelserver.wire import Wire


class WhenForm(Form, frozen=True, kw_only=True):
    match: Match
    answers: Annotated[tuple[str | AnswerForm, ...], msgspec.Meta(min_length=1)]
    at_end: Literal["repeat", "pass", "error"] = "repeat"

    def value(self) -> When:
        return When(match=self.match, answers=tuple(map(answer_of, self.answers)), at_end=self.at_end)


class ModelForm(Form, frozen=True, kw_only=True):
    """A model of the script's own; what is not said is as in the model it is like, else permissive."""

    id: str
    like: str | None = None
    window: int | None = None
    max_output: int | None = None
    min_cacheable: int | None = None

    def __post_init__(self) -> None:
        if self.like is not None and KNOWN_MODELS.find(self.like) is None:
            raise ValueError(f"there is no model {self.like!r} to be like")

    def value(self) -> Model:
        pattern = (KNOWN_MODELS.find(self.like) if self.like else None) or permissive(self.id)
        said = {
            field: getattr(self, field)
            for field in ("window", "max_output", "min_cacheable")
            if getattr(self, field) is not None
        }
        return msgspec.structs.replace(pattern, id=self.id, name=self.id, aliases=(), **said)


class ScriptForm(Form, frozen=True, kw_only=True):
    """A script; in JSON lines each has its id. `responses` are bytes and switch strictness off."""

    id: str = ""
    answers: tuple[str | AnswerForm, ...] = ()
    responses: tuple[Wire, ...] | None = None
    when: tuple[WhenForm, ...] = ()
    at_end: Literal["repeat", "error"] = "repeat"
    strict: bool | None = None
    models: Literal["known", "any"] | tuple[ModelForm, ...] | None = None
    key: str | None = None
    window: Annotated[int, msgspec.Meta(ge=1)] | None = None
    min_cacheable: Annotated[int, msgspec.Meta(ge=0)] | None = None
    chunk: Annotated[int, msgspec.Meta(ge=1)] = 20
    what: Any = None
    """Notes for readers, here and below; the server does not look at them."""
    layer: Any = None
    expect: Any = None
    ref: Any = None

    def __post_init__(self) -> None:
        if "/" in self.id:
            raise ValueError("an id holds no slash: it is a part of a path")
        if self.responses is not None and self.answers:
            raise ValueError("responses does not go with answers")
        if not (self.answers or self.responses or self.when):
            raise ValueError("there is no answer: give answers, responses or when")

    def value(self) -> Script:
        raw = self.responses is not None
        models = self.models or ("any" if raw else "known")
        return Script(
            answers=self.responses or tuple(map(answer_of, self.answers)),
            when=tuple(form.value() for form in self.when),
            at_end=self.at_end,
            strict=not raw if self.strict is None else self.strict,
            models=models_of(models if isinstance(models, str) else [form.value() for form in models]),
            key=self.key,
            window=self.window,
            min_cacheable=self.min_cacheable,
            chunk=self.chunk,
        )

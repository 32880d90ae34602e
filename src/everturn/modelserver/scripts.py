"""What a server plays: answers in turn, and answers for requests that match."""

import re
from collections.abc import Callable, Iterable
from typing import Literal, TypedDict, Unpack

import msgspec

from everturn.modelserver.answers import Answer, Fail, Say
from everturn.modelserver.ask import Ask, text_of
from everturn.modelserver.models import ANY_MODEL, KNOWN, KNOWN_MODELS, Model, Models
from everturn.modelserver.sentences import text
from everturn.modelserver.wire import Wire

Reply = Answer | Callable[[Ask], "Answer | str"]
"""An answer, or (in Python) a function of the request that makes one."""


class Match(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a request must look like; what is not given does not matter."""

    model: str | None = None
    last_user_contains: str | None = None
    last_user_matches: str | None = None
    """A regular expression, searched in the text of the last user message: the purpose of a request shows there."""
    system_contains: str | None = None
    has_tool_result: bool | None = None
    """Whether the last user message brings tool results."""
    tool_result_of: str | None = None
    """The name of a tool whose result the last user message brings."""
    tool_result_contains: str | None = None
    offers_tool: str | None = None
    messages: int | None = None
    stream: bool | None = None

    def __post_init__(self) -> None:
        if self.last_user_matches is not None:
            try:
                re.compile(self.last_user_matches)
            except re.error as error:
                raise ValueError(f"last_user_matches is no regular expression: {error}") from error


class When(msgspec.Struct, frozen=True, kw_only=True):
    match: Match
    answers: tuple[Reply, ...]
    at_end: Literal["repeat", "pass", "error"] = "repeat"
    """After the last answer: it repeats, or the request passes on to the next match and the script, or that is an error."""


class Script(msgspec.Struct, frozen=True, kw_only=True):
    answers: tuple[Reply, ...] = ()
    when: tuple[When, ...] = ()
    """Looked at before `answers`, in order."""
    at_end: Literal["repeat", "error"] = "repeat"
    strict: bool = True
    """Refuse what the API refuses; off, every request gets its answer."""
    models: Models = KNOWN_MODELS
    key: str | None = None
    """The only key that is let in; None: any."""
    window: int | None = None
    """The context window of every model, in tokens; None: each its own."""
    min_cacheable: int | None = None
    """The shortest prefix that is cached, in tokens; None: as the model has it."""
    chunk: int = 20
    """Characters in a delta."""


class ScriptSettings(TypedDict, total=False):
    at_end: Literal["repeat", "error"]
    strict: bool
    key: str | None
    window: int | None
    min_cacheable: int | None
    chunk: int


def script(
    *parts: Reply | str | When,
    models: Models | Iterable[Model] | Literal["known", "any"] = "known",
    **settings: Unpack[ScriptSettings],
) -> Script:
    """A script of answers in turn and of `when(…)`."""
    return Script(
        answers=tuple(reply(part) for part in parts if not isinstance(part, When)),
        when=tuple(part for part in parts if isinstance(part, When)),
        models=models_of(models),
        **settings,
    )


def models_of(models: Models | Iterable[Model] | str) -> Models:
    """Models of one's own are added to the known ones, and come before them."""
    match models:
        case "known":
            return KNOWN_MODELS
        case "any":
            return ANY_MODEL
        case str():
            raise ValueError(f"models are known, any or a list, not {models!r}")
        case Models():
            return models
        case _:
            return Models(listed=(*models, *KNOWN))


def reply(part: Reply | str) -> Reply:
    return text(part) if isinstance(part, str) else part


class _Conditions(TypedDict, total=False):
    """The fields of `Match`."""

    model: str
    last_user_contains: str
    last_user_matches: str
    system_contains: str
    has_tool_result: bool
    tool_result_of: str
    tool_result_contains: str
    offers_tool: str
    messages: int
    stream: bool


def when(
    *then: Reply | str, at_end: Literal["repeat", "pass", "error"] = "repeat", **conditions: Unpack[_Conditions]
) -> When:
    """Answers for the requests that meet all conditions: `when("A summary.", last_user_contains="Summarise")`."""
    if not then:
        raise ValueError("when(…) needs at least one answer")
    return When(match=Match(**conditions), answers=tuple(reply(part) for part in then), at_end=at_end)


def matches(match: Match, ask: Ask) -> bool:
    wanted_and_found = (
        (match.model, ask.body.get("model")),
        (match.has_tool_result, bool(ask.last_results)),
        (match.messages, len(ask.messages)),
        (match.stream, ask.streams),
    )
    held_in = (
        (match.last_user_contains, ask.last_user_text),
        (match.system_contains, text_of(ask.body.get("system"))),
        (match.tool_result_contains, "\n".join(text_of(block.get("content")) for block in ask.last_results)),
        (match.tool_result_of, [ask.tool_names.get(str(block.get("tool_use_id"))) for block in ask.last_results]),
        (match.offers_tool, [tool.get("name") for tool in ask.tools]),
    )
    return (
        all(wanted is None or wanted == found for wanted, found in wanted_and_found)
        and all(wanted is None or wanted in where for wanted, where in held_in)
        and (match.last_user_matches is None or re.search(match.last_user_matches, ask.last_user_text) is not None)
    )


class Playhead:
    """How far a script has been played."""

    def __init__(self, played: Script) -> None:
        self.script = played
        self._spent = [0] * (len(played.when) + 1)

    def next(self, ask: Ask) -> Answer:
        """The answer to this request; an error that says so when the script has none."""
        for at, when_ in enumerate(self.script.when):
            passed = when_.at_end == "pass" and self._spent[at] >= len(when_.answers)
            if not passed and matches(when_.match, ask):
                return self._take(at, when_.answers, when_.at_end, ask)
        return self._take(-1, self.script.answers, self.script.at_end, ask)

    def _take(self, at: int, answers: tuple[Reply, ...], at_end: str, ask: Ask) -> Answer:
        turn = self._spent[at]
        self._spent[at] += 1
        if turn >= len(answers) and (at_end == "error" or not answers):
            return Fail(
                status=400,
                type="invalid_request_error",
                message=f"The script has no answer left: it holds {len(answers)}, this is request {turn + 1}.",
            )
        chosen = answers[min(turn, len(answers) - 1)]
        made = chosen if isinstance(chosen, Say | Fail | Wire) else chosen(ask)
        return text(made) if isinstance(made, str) else made

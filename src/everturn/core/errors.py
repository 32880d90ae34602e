"""Everything that can go wrong, in one tree.

```
EverturnError
├── OptionError            an option or a setting is wrong; names the field
├── ModelFault             one attempt at a model call failed; `kind` says how
├── InputFault             a tool call's input does not fit; names the field
├── ToolFault              a tool could not do what it was asked; the text goes to the model
├── TranscriptError        an invariant of the transcript does not hold
├── JournalError           a session file cannot be read, written or understood
├── McpFault               an MCP server could not do what it was asked; its kinds are in `mcp/faults.py`
├── ApproverError          an approver returned something other than a verdict
├── BusyError              the engine still answers another prompt
└── ClosedError            the engine is closed
```

The library raises nothing else. The texts never contain a credential: text from elsewhere is masked before it goes into one.
"""

from collections.abc import Sequence
from enum import StrEnum


class EverturnError(Exception):
    """The class of all errors that Everturn raises: `except EverturnError` catches each of them."""


class OptionError(EverturnError):
    """An option, a variable, a setting or a tool is wrong. `field` names it, `problem` says what is wrong.

    `others` are the errors of other fields; `all` has one for each field.
    """

    def __init__(self, field: str, problem: str, others: tuple["OptionError", ...] = ()) -> None:
        super().__init__("\n".join((f"{field}: {problem}", *map(str, others))))
        self.field = field
        self.problem = problem
        self.others = others

    @classmethod
    def join(cls, errors: Sequence["OptionError"]) -> "OptionError":
        """One error for at least one."""
        first, *others = errors
        return cls(first.field, first.problem, tuple(others))

    @property
    def all(self) -> tuple["OptionError", ...]:
        """One for each field."""
        return (OptionError(self.field, self.problem), *self.others)


class FaultKind(StrEnum):
    """Kind of a failed attempt. It alone decides whether another attempt makes sense."""

    OVERLOADED = "overloaded"
    RATE_LIMITED = "rate_limit"
    SERVER = "server_error"
    TIMEOUT = "timeout"
    CONFLICT = "conflict"
    CONNECTION = "connection"
    STREAM_BROKEN = "stream_broken"
    STALLED = "stalled"
    TOO_LONG = "too_long"
    MEDIA = "media_too_large"
    SIGNATURE = "invalid_signature"
    PAIRING = "broken_pairing"
    FALLBACK = "fallback_requested"
    MODEL_NOT_FOUND = "model_not_found"
    AUTHENTICATION = "authentication_failed"
    PERMISSION = "permission_denied"
    BILLING = "billing_error"
    SPEND_LIMIT = "spend_limit"
    INVALID = "invalid_request"
    TLS = "tls"
    NOT_AN_API = "not_an_api"
    OVERSIZED = "response_too_large"


RETRYABLE = frozenset(
    {
        FaultKind.OVERLOADED,
        FaultKind.RATE_LIMITED,
        FaultKind.SERVER,
        FaultKind.TIMEOUT,
        FaultKind.CONFLICT,
        FaultKind.CONNECTION,
        FaultKind.STREAM_BROKEN,
        FaultKind.STALLED,
    }
)
"""Faults that may pass by themselves, so another attempt is made after a wait."""


class ModelFault(EverturnError):
    """One attempt at a model call failed. A `Model` raises it; the engine never does, but turns it into an outcome."""

    def __init__(
        self,
        kind: FaultKind,
        text: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
        reached: bool = True,
        answered: bool = True,
        place: tuple[int, ...] = (),
    ) -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.status = status
        self.retry_after = retry_after
        """Seconds the server asked us to wait, or None."""
        self.request_id = request_id
        self.reached = reached
        """False where no connection could be opened."""
        self.answered = answered and reached
        """False where the server sent no part of an answer, not even a refusal."""
        self.place = place
        """Part of the request that the refusal names: index of a message, of one of its blocks, and of a part of that; empty where it names none."""


class InputFault(EverturnError):
    """The input of a call does not fit. The text is for the model: it names the field and what was expected."""


class ToolFault(EverturnError):
    """Raised by a tool, your own included, to give the model an error as the result. The text is that result."""


class TranscriptError(EverturnError):
    """A transcript breaks one of its rules, such as one result for each call."""


class JournalError(EverturnError):
    """The file of a session cannot be read, written or understood."""


class ApproverError(EverturnError):
    """The approver returned something other than a `Verdict`. It ends the query and is raised where the query was started."""


class BusyError(EverturnError):
    """The engine still answers another prompt."""


class ClosedError(EverturnError):
    """The engine is closed."""

"""Everything that can go wrong, in one tree.

```
EverturnError
├── OptionError            an option or a setting is wrong; names the field
├── ModelFault             one attempt at a model call failed; `kind` says how
├── InputFault             a tool call's input does not fit; names the field
├── ToolFault              a tool could not do what it was asked; the text goes to the model
├── TranscriptError        an invariant of the transcript does not hold
├── JournalError           a session file cannot be read, written or understood
├── ApproverError          an approver answered with something that is no verdict
├── BusyError              the engine is at work on another prompt
└── ClosedError            the engine is closed
```

Nothing else leaves the library. Texts never hold a credential: whoever builds one from foreign text masks it first.
"""

from enum import StrEnum


class EverturnError(Exception):
    """The root: catch this to catch us."""


class OptionError(EverturnError):
    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class FaultKind(StrEnum):
    """What kind of failure an attempt met. The kind alone decides whether another attempt makes sense."""

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
"""Faults that pass by themselves: another attempt is worth a wait."""


class ModelFault(EverturnError):
    """One attempt failed. Raised by a `Model`; never by the engine, which turns it into an outcome."""

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
        """False where no connection came about: nobody was there to ask."""
        self.answered = answered and reached
        """False where nothing of an answer came, not even a refusal."""
        self.place = place
        """What in the request the refusal names: a message, one of its blocks, and a part of that; empty where it names none."""


class InputFault(EverturnError):
    """The text is written for the model: it names the field and what was expected, so that it can correct itself."""


class ToolFault(EverturnError):
    """An expected failure of a tool; its text is the error result."""


class TranscriptError(EverturnError):
    pass


class JournalError(EverturnError):
    pass


class ApproverError(EverturnError):
    """A mistake in the caller's own code: it ends the query and is raised where the query was started."""


class BusyError(EverturnError):
    pass


class ClosedError(EverturnError):
    pass

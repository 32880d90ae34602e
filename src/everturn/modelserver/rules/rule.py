"""What a rule is: a sentence, where it comes from, and a check that says what is wrong."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

import msgspec

from everturn.modelserver.ask import Ask

Subject = TypeVar("Subject")
REFERENCE = "API reference"
REPORTS = "public bug reports"


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    rule: str
    status: int
    type: str
    message: str
    details: dict[str, Any] | None = None


class ApiRule(msgspec.Struct, Generic[Subject], frozen=True, kw_only=True):
    id: str
    source: str
    summary: str
    check: Callable[[Subject], str | None]
    """The API's message when the rule is broken, else None. May rely on the rules before it."""
    status: int = 400
    type: str = "invalid_request_error"
    details: dict[str, Any] | None = None
    """What programs read of the error, besides its type."""


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """A request before its body is understood."""

    method: str
    path: str
    """Without the prefix of the case and without the query."""
    headers: Mapping[str, str]
    """Names in lower case."""
    size: int
    raw: bytes
    key: str | None = None
    """The only key that is let in; None: any."""


class Rules(Generic[Subject]):
    """The rules of one area, in the order in which they are checked."""

    def __init__(self) -> None:
        self.all: list[ApiRule[Subject]] = []

    def rule(
        self,
        identity: str,
        source: str,
        summary: str,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
        details: dict[str, Any] | None = None,
    ) -> Callable[[Callable[[Subject], str | None]], Callable[[Subject], str | None]]:
        def add(check: Callable[[Subject], str | None]) -> Callable[[Subject], str | None]:
            rule = ApiRule(
                id=identity, source=source, summary=summary, check=check, status=status, type=kind, details=details
            )
            self.all.append(rule)
            return check

        return add


BodyRules = Rules[Ask]


def first_violation(rules: Iterable[ApiRule[Subject]], subject: Subject) -> Violation | None:
    for rule in rules:
        message = rule.check(subject)
        if message is not None:
            return Violation(rule=rule.id, status=rule.status, type=rule.type, message=message, details=rule.details)
    return None

"""Recognises failures from a refused request or an error event: the kind, and a text that a person can act on. Pure."""

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from everturn.core.errors import FaultKind, ModelFault
from everturn.models.anthropic.excerpts import clean_text, render_page
from everturn.models.anthropic.key_mask import mask_secrets
from everturn.models.anthropic.retry_after import parse_retry_after

NOT_FOUND = 404
NO_SUCH_THING = frozenset({NOT_FOUND, 405, 501})
"""How a server refuses that has no such path, or takes nothing there."""
PROXY_AUTHENTICATION = 407
TOO_LARGE = 413
REDIRECTS = range(300, 400)
SERVER_FAILURES = 500
STATUS_OF = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": NOT_FOUND,
    "conflict_error": 409,
    "request_too_large": TOO_LARGE,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
KIND_OF = {
    401: FaultKind.AUTHENTICATION,
    402: FaultKind.BILLING,
    403: FaultKind.PERMISSION,
    PROXY_AUTHENTICATION: FaultKind.AUTHENTICATION,
    408: FaultKind.TIMEOUT,
    409: FaultKind.CONFLICT,
    TOO_LARGE: FaultKind.TOO_LONG,
    429: FaultKind.RATE_LIMITED,
    504: FaultKind.TIMEOUT,
    524: FaultKind.TIMEOUT,
    529: FaultKind.OVERLOADED,
}
ADVICE = {
    FaultKind.AUTHENTICATION: "Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN (or the command {helper}).",
    FaultKind.BILLING: "Check the billing of the account that the key belongs to.",
    FaultKind.PERMISSION: "The key may not do this, or something between here and the API forbids it.",
    FaultKind.MODEL_NOT_FOUND: "Check the model's name, and that the key may use it.",
    FaultKind.SPEND_LIMIT: "Raise the spend limit of the account, or wait until it is renewed.",
    FaultKind.NOT_AN_API: "Check ANTHROPIC_BASE_URL.",
    FaultKind.TOO_LONG: "Start a new session, or send less at once.",
}
NO_KEY = "There is no key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN."
PATH_ADVICE = "Check ANTHROPIC_BASE_URL: it ends where /v1 begins."
PROXY_ADVICE = "The proxy wants a user name and password: write them into its address (http://user:password@host:port)."
_WORDS: tuple[tuple[FaultKind, tuple[str, ...]], ...] = (
    (FaultKind.SPEND_LIMIT, ("reached your specified", "enforced_spend_limit_reached")),
    (FaultKind.BILLING, ("credit balance is too low",)),
    (
        FaultKind.MEDIA,
        (
            "image exceeds",
            "many-image requests",
            "could not process image",
            "could not process pdf",
            "could not process document",
            "image dimensions",
            "too many images",
            "pdf pages",
            "pdf exceeds",
            "pdf specified",
            "image specified",
            "document exceeds",
            "pages maximum",
            "too much media",
            "image does not match",
            "'image/jpeg'",
        ),
    ),
    (
        FaultKind.TOO_LONG,
        ("prompt is too long", "exceed context limit", "input is too long", "exceeds the context window"),
    ),
    (
        FaultKind.SIGNATURE,
        ("invalid `signature`", "cannot be modified", "expected `thinking`", "expected `redacted_thinking`"),
    ),
    (
        FaultKind.PAIRING,
        (
            "without `tool_result`",
            "unexpected `tool_use_id`",
            "`tool_use` ids must be unique",
            "corresponding `tool_use`",
            "multiple `tool_result`",
        ),
    ),
)
_PLACE = r"\bmessages\.(\d{1,6})\.content\.(\d{1,6})(?:(?:\.tool_result)?\.content\.(\d{1,6}))?"
_REFUSED = frozenset({400, TOO_LARGE, 422})


class Complaint(msgspec.Struct, frozen=True, kw_only=True):
    """What the body of a refusal says, as far as it is the API's own form."""

    type: str = ""
    message: str = ""
    code: str = ""
    request_id: str | None = None
    by_api: bool = False


def classify_error(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    now: float | None = None,
    model: str = "",
    helper: str = "api_key_helper",
    keyless: bool = False,
    mask: Callable[[str], str] = lambda text: mask_secrets(text, ()),
) -> ModelFault:
    """`now` (seconds since the epoch) dates a `retry-after` where the answer has no date of its own.

    `helper` is how the user knows the command that prints the key; `keyless`: the request carried none.
    Texts are masked before they are shortened, so that no half of a key is left.
    """
    retry_after = parse_retry_after(headers, now)
    complaint = read_complaint(body)
    said = clean_text(mask(complaint.message)) if complaint.by_api else render_page(body, mask)
    kind = judge_kind(status, complaint, retry_after=retry_after)
    request_id = headers.get("request-id") or complaint.request_id
    advice = _advise(kind, status, keyless=keyless).replace("{helper}", helper)
    return ModelFault(
        kind,
        mask(_render(_headline(kind, status, model=model, target=headers.get("location", "")), said, advice)),
        status=status,
        retry_after=retry_after,
        request_id=mask(request_id) if request_id else None,
        place=find_place(complaint.message),
    )


def find_place(message: str) -> tuple[int, ...]:
    """`messages.2.content.0.tool_result.content.1.image…` is block 0 of message 2, and in it part 1."""
    found = re.search(_PLACE, message)
    return tuple(int(number) for number in found.groups() if number) if found else ()


def classify_event(event: dict[str, Any]) -> ModelFault:
    """An error that came inside the stream, after a status that said all is well."""
    complaint = _complaint(event)
    status = STATUS_OF.get(complaint.type, 500)
    kind = judge_kind(status, complaint, retry_after=None)
    said = clean_text(mask_secrets(complaint.message, ())) or complaint.type or "no reason given"
    return ModelFault(kind, f"The stream ended with an error: {said}", request_id=complaint.request_id)


def judge_kind(status: int, complaint: Complaint, *, retry_after: float | None) -> FaultKind:
    if complaint.type == "overloaded_error":
        return FaultKind.OVERLOADED
    if status in REDIRECTS:
        return FaultKind.NOT_AN_API
    if status in _REFUSED and (told := _judge_words(complaint.message)) is not None:
        return told
    if complaint.code == "enforced_spend_limit_reached" and retry_after is None:
        return FaultKind.SPEND_LIMIT
    if status in NO_SUCH_THING and not complaint.by_api:
        return FaultKind.NOT_AN_API
    if status == NOT_FOUND:
        return FaultKind.MODEL_NOT_FOUND if "model" in complaint.message.lower() else FaultKind.INVALID
    if (kind := KIND_OF.get(status)) is not None:
        return kind
    return FaultKind.SERVER if status >= SERVER_FAILURES else FaultKind.INVALID


def read_complaint(body: bytes) -> Complaint:
    try:
        value = msgspec.json.decode(body.decode("utf-8", "replace").encode())
    except (msgspec.DecodeError, RecursionError):
        return Complaint()
    return _complaint(value) if isinstance(value, dict) else Complaint()


def _complaint(value: dict[str, Any]) -> Complaint:
    """Gateways write `error` as a plain text, or put `message` beside it."""
    error = value.get("error")
    fields = error if isinstance(error, dict) else {}
    details = fields.get("details")
    message = fields.get("message") or (error if isinstance(error, str) else value.get("message"))
    request_id = value.get("request_id")
    return Complaint(
        type=_word(fields.get("type")),
        message=_word(message),
        code=_word(details.get("error_code")) if isinstance(details, dict) else "",
        request_id=_word(request_id) or None,
        by_api=bool(error) or bool(message),
    )


def _judge_words(message: str) -> FaultKind | None:
    lowered = message.lower()
    return next((kind for kind, signs in _WORDS if any(sign in lowered for sign in signs)), None)


def _render(headline: str, said: str, advice: str) -> str:
    text = f"{headline}: {said.rstrip('.')}" if said else headline
    return f"{text}. {advice}" if advice else f"{text}."


def _advise(kind: FaultKind, status: int, *, keyless: bool) -> str:
    if status == PROXY_AUTHENTICATION:
        return PROXY_ADVICE
    if status == NOT_FOUND and kind is FaultKind.INVALID:
        return PATH_ADVICE
    return NO_KEY if keyless and kind is FaultKind.AUTHENTICATION else ADVICE.get(kind, "")


def _headline(kind: FaultKind, status: int, *, model: str, target: str) -> str:
    match kind:
        case FaultKind.NOT_AN_API if target:
            return f"The server did not answer as an API: it redirects to {_host(target)} (HTTP {status})"
        case FaultKind.NOT_AN_API:
            return f"The server did not answer as an API (HTTP {status})"
        case FaultKind.TOO_LONG if status == TOO_LARGE:
            return "The request is too large (HTTP 413)"
        case FaultKind.MODEL_NOT_FOUND if model:
            return f"The API does not know the model {model} (HTTP {status})"
        case FaultKind.OVERLOADED:
            return f"The API is overloaded (HTTP {status})"
        case FaultKind.AUTHENTICATION if status == PROXY_AUTHENTICATION:
            return f"The proxy refused the request (HTTP {status})"
        case FaultKind.RATE_LIMITED:
            return f"The rate limit is reached (HTTP {status})"
        case FaultKind.SERVER | FaultKind.TIMEOUT:
            return f"The API failed (HTTP {status})"
        case _:
            return f"The API refused the request (HTTP {status})"


def _host(target: str) -> str:
    try:
        return clean_text(urlsplit(target).hostname or "another path of the same host", 100)
    except ValueError:
        return "an address that is no URL"


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""

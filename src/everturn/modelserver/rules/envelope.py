"""Rules about the request around its body: path, method, size, key, version, JSON."""

import json
import re
from typing import Any

from everturn.modelserver.rules.rule import REFERENCE, REPORTS, Envelope, Rules

MESSAGES = "/v1/messages"
COUNT_TOKENS = "/v1/messages/count_tokens"
MODELS = "/v1/models"
MAX_BYTES = 32 * 1024 * 1024
_MODEL = re.compile(r"/v1/models/[^/]+")
_BEARER = "bearer "

ADDRESS = Rules[Envelope]()
HEADERS = Rules[Envelope]()
CONTENT = Rules[Envelope]()


def method_of(path: str) -> str | None:
    """The method that a path takes; None for an unknown path."""
    if path in {MESSAGES, COUNT_TOKENS}:
        return "POST"
    return "GET" if path == MODELS or _MODEL.fullmatch(path) else None


def key_of(headers: Any) -> str:
    """The client's key: x-api-key, or the bearer token; empty when there is none."""
    authorization: str = headers.get("authorization", "")
    bearer = authorization[len(_BEARER) :] if authorization.lower().startswith(_BEARER) else ""
    return str(headers.get("x-api-key", "") or bearer).strip()


def decode_body(raw: bytes) -> Any:
    """May raise ValueError or RecursionError."""
    return json.loads(raw, parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


@ADDRESS.rule("path-known", "conventions §6.8", "The path is one of the API's.", status=404, kind="not_found_error")
def _path(request: Envelope) -> str | None:
    return "Not Found" if method_of(request.path) is None else None


@ADDRESS.rule("method-allowed", "conventions §6.8", "Messages are posted, models are got.", status=405)
def _method(request: Envelope) -> str | None:
    return None if request.method == method_of(request.path) else "Method Not Allowed"


@ADDRESS.rule("size-limit", "conventions §6.8", "A request is at most 32 MB.", status=413, kind="request_too_large")
def _size(request: Envelope) -> str | None:
    return "Request exceeds the maximum size" if request.size > MAX_BYTES else None


@HEADERS.rule(
    "key-present",
    "conventions §6.8",
    "A key is sent, in x-api-key or as a bearer token.",
    status=401,
    kind="authentication_error",
)
def _key(request: Envelope) -> str | None:
    return None if key_of(request.headers) else "x-api-key header is required"


@HEADERS.rule(
    "key-valid",
    "conventions §6.8",
    "The key is the script's, if it names one.",
    status=401,
    kind="authentication_error",
)
def _valid_key(request: Envelope) -> str | None:
    return None if request.key in {None, key_of(request.headers)} else "invalid x-api-key"


@HEADERS.rule("version-header", REFERENCE, "The header anthropic-version is sent.")
def _version(request: Envelope) -> str | None:
    return None if request.headers.get("anthropic-version") else "anthropic-version: header is required"


@CONTENT.rule("json-valid", REFERENCE, "The body is a JSON object.")
def _json(request: Envelope) -> str | None:
    if request.method != "POST":
        return None
    try:
        body = decode_body(request.raw)
    except (ValueError, RecursionError) as error:
        return f"The request body is not valid JSON: {error}"
    return None if isinstance(body, dict) else "Input should be a valid dictionary"


@CONTENT.rule("json-surrogates", REPORTS, "No string holds half of a surrogate pair.")
def _surrogates(request: Envelope) -> str | None:
    # Only an escape can bring one in, and few requests have any.
    if request.method == "POST" and b"\\ud" in request.raw.lower():
        try:
            json.dumps(decode_body(request.raw), ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return "The request body is not valid JSON: no low surrogate in string"
    return None

"""Refusals of the API: which kind they are, and what they tell the person who has to act."""

import json
from email.utils import formatdate

import pytest

from everturn.core.errors import FaultKind
from everturn.models.anthropic.faults import classify_error

PAIRS = "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1"


def refusal(message="x", type_="invalid_request_error", **more):
    return json.dumps({"type": "error", "error": {"type": type_, "message": message, **more}}).encode()


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, refusal("prompt is too long: 210000 tokens > 200000 maximum"), FaultKind.TOO_LONG),
        (400, refusal("input length and `max_tokens` exceed context limit: 1 + 2 > 2"), FaultKind.TOO_LONG),
        (400, refusal("Input is too long for requested model."), FaultKind.TOO_LONG),
        (413, refusal("Request exceeds the maximum size", "request_too_large"), FaultKind.TOO_LONG),
        (413, b"<html>Entity too large</html>", FaultKind.TOO_LONG),
        (400, refusal("messages.0.content.2.image.source: image exceeds 5 MB maximum: 6 > 5"), FaultKind.MEDIA),
        (400, refusal("image dimensions exceed max allowed size for many-image requests: 2000"), FaultKind.MEDIA),
        (400, refusal("Could not process image"), FaultKind.MEDIA),
        (400, refusal("A maximum of 100 PDF pages may be provided."), FaultKind.MEDIA),
        (400, refusal("messages.3.content.0.image.source.base64.data: Invalid base64 data"), FaultKind.MEDIA),
        (400, refusal("messages.1.content.0.tool_result.content.2.image.source.url: Bad"), FaultKind.MEDIA),
        (400, refusal("messages.0.content.1.document.source.base64.data: Not readable"), FaultKind.MEDIA),
        (400, refusal("Unable to download the file. Please verify the URL and try again."), FaultKind.MEDIA),
        (400, refusal("messages.1.content.0.text: Field required"), FaultKind.INVALID),
        (400, refusal("messages.1.content.0: Invalid `signature` in `thinking` block"), FaultKind.SIGNATURE),
        (400, refusal("`thinking` blocks in the latest assistant message cannot be modified."), FaultKind.SIGNATURE),
        (400, refusal("Expected `thinking` or `redacted_thinking`, but found `text`"), FaultKind.SIGNATURE),
        (400, refusal(PAIRS), FaultKind.PAIRING),
        (400, refusal("unexpected `tool_use_id` found in `tool_result` blocks: toolu_1"), FaultKind.PAIRING),
        (400, refusal("messages.1.content.1: `tool_use` ids must be unique"), FaultKind.PAIRING),
        (400, refusal("You have reached your specified workspace API usage limits."), FaultKind.SPEND_LIMIT),
        (429, refusal("x", details={"error_code": "enforced_spend_limit_reached"}), FaultKind.SPEND_LIMIT),
        (400, refusal("Your credit balance is too low to access the API."), FaultKind.BILLING),
        (400, refusal("max_tokens: must be positive"), FaultKind.INVALID),
        (401, refusal("invalid x-api-key", "authentication_error"), FaultKind.AUTHENTICATION),
        (402, refusal(type_="billing_error"), FaultKind.BILLING),
        (403, refusal(type_="permission_error"), FaultKind.PERMISSION),
        (403, b"<html><body>blocked by proxy</body></html>", FaultKind.PERMISSION),
        (404, refusal("model: nope", "not_found_error"), FaultKind.MODEL_NOT_FOUND),
        (404, refusal("no such thing", "not_found_error"), FaultKind.INVALID),
        (404, b"404 page not found", FaultKind.NOT_AN_API),
        (405, b"", FaultKind.NOT_AN_API),
        (501, b"<html><title>Error response</title></html>", FaultKind.NOT_AN_API),
        (407, b"", FaultKind.AUTHENTICATION),
        (408, b"", FaultKind.TIMEOUT),
        (409, refusal(type_="conflict_error"), FaultKind.CONFLICT),
        (418, b"", FaultKind.INVALID),
        (422, refusal(), FaultKind.INVALID),
        (429, refusal(type_="rate_limit_error"), FaultKind.RATE_LIMITED),
        (500, refusal(type_="api_error"), FaultKind.SERVER),
        (500, b'{"type":"error"', FaultKind.SERVER),
        (502, b"<html>Bad gateway</html>", FaultKind.SERVER),
        (503, b"", FaultKind.SERVER),
        (504, b"", FaultKind.TIMEOUT),
        (529, b"", FaultKind.OVERLOADED),
        (500, refusal("Overloaded", "overloaded_error"), FaultKind.OVERLOADED),
        (400, b"[1]", FaultKind.INVALID),
        (400, b"\xff\xfe", FaultKind.INVALID),
        (400, b'{"error":{"message":{"deep":1}}}', FaultKind.INVALID),
        (301, b"", FaultKind.NOT_AN_API),
    ],
)
def test_a_refusal_is_of_this_kind(status, body, kind):
    fault = classify_error(status, {}, body)

    assert (fault.kind, fault.status) == (kind, status)


def test_a_spend_limit_that_passes_soon_is_a_rate_limit():
    body = refusal("x", details={"error_code": "enforced_spend_limit_reached"})

    fault = classify_error(429, {"retry-after": "3"}, body)

    assert (fault.kind, fault.retry_after) == (FaultKind.RATE_LIMITED, 3.0)


@pytest.mark.parametrize(
    ("status", "headers", "body", "text"),
    [
        (
            401,
            {},
            refusal("invalid x-api-key"),
            (
                "The API refused the request (HTTP 401): invalid x-api-key. "
                "Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN (or the command api_key_helper)."
            ),
        ),
        (
            404,
            {},
            refusal("model: nope"),
            (
                "The API does not know the model nope (HTTP 404): model: nope. "
                "Check the model's name, and that the key may use it."
            ),
        ),
        (
            404,
            {},
            refusal("Not Found"),
            "The API refused the request (HTTP 404): Not Found. Check ANTHROPIC_BASE_URL: it ends where /v1 begins.",
        ),
        (
            413,
            {},
            refusal("Too big."),
            "The request is too large (HTTP 413): Too big. Start a new session, or send less at once.",
        ),
        (
            301,
            {"location": "http://127.0.0.1:9/evil?key=1"},
            b"",
            "The server did not answer as an API: it redirects to 127.0.0.1 (HTTP 301). Check ANTHROPIC_BASE_URL.",
        ),
        (
            403,
            {"content-type": "text/html"},
            b"<html><head><style>p{}</style><title>Access &amp; denied</title></head><body>x</body></html>",
            (
                "The API refused the request (HTTP 403): Access & denied. "
                "The key may not do this, or something between here and the API forbids it."
            ),
        ),
        (502, {}, b"<html><script>alert(1)</script><p>Bad\n gateway</p>", "The API failed (HTTP 502): Bad gateway."),
        (500, {}, b'{"type":"error"', "The API failed (HTTP 500)."),
        (400, {}, refusal("a\x1b[31mred\x07"), "The API refused the request (HTTP 400): a [31mred."),
        (
            407,
            {},
            b"",
            (
                "The proxy refused the request (HTTP 407). The proxy wants a user name and password: "
                "write them into its address (http://user:password@host:port)."
            ),
        ),
    ],
)
def test_a_refusal_says_what_happened_and_what_to_do(status, headers, body, text):
    assert classify_error(status, headers, body, model="nope").text == text


def test_a_page_is_never_shown_whole():
    page = b"<html><body>" + b"word " * 10_000 + b"</body></html>"

    assert len(classify_error(500, {}, page).text) < 250


def test_markup_that_never_ends_costs_no_time():
    assert classify_error(500, {}, b"<" * 200_000 + b"<script" * 20_000).kind is FaultKind.SERVER


def test_the_id_of_the_request_is_kept():
    body = json.dumps({"type": "error", "error": {"type": "api_error"}, "request_id": "req_body"}).encode()

    ids = [classify_error(500, headers, body).request_id for headers in ({"request-id": "req_head"}, {})]

    assert ids == ["req_head", "req_body"]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"retry-after": formatdate(1_000_007, usegmt=True)}, 7.0),
        ({"retry-after": formatdate(999_000, usegmt=True)}, None),
        (
            {"retry-after": formatdate(2_000_003, usegmt=True), "date": formatdate(2_000_000, usegmt=True)},
            3.0,
        ),
        ({"retry-after": "Mon, 99 Foo 9999 99:99:99 GMT"}, None),
    ],
)
def test_the_wait_that_a_server_asks_for_is_understood(headers, seconds):
    assert classify_error(429, headers, b"", now=1_000_000.0).retry_after == seconds

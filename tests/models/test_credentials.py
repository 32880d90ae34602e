"""Keys are sent where they belong and shown nowhere; a helper is asked rarely, and its failures are told."""

import asyncio
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.errors import FaultKind, ModelFault, OptionError
from everturn.core.hiding import is_unmistakable
from everturn.models.anthropic.credentials import Credentials
from everturn.models.anthropic.faults import classify_error
from everturn.models.anthropic.key_mask import mask_echoes, mask_secrets

KEY = "sk-ant-api03-abcdefghijklmnop"
TOKEN = "token-of-a-gateway-7f3a9c1e5b2d"


async def test_a_key_and_a_token_have_a_header_each():
    given_both = Credentials(api_key=f" {KEY}\n", auth_token=TOKEN)

    assert await given_both.headers() == {"x-api-key": KEY, "authorization": f"Bearer {TOKEN}"}
    assert await Credentials().headers() == {}


def test_nothing_secret_is_in_the_repr():
    credentials = Credentials(api_key=KEY, auth_token=TOKEN)

    assert (repr(credentials), repr(Credentials())) == ("Credentials(api_key, auth_token)", "Credentials(none)")


@pytest.mark.parametrize("value", ["a\nb: c", "a\x00", "\u4f60\u597d"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(value):
    with pytest.raises(OptionError) as caught:
        Credentials(api_key=value)

    assert str(caught.value) == "ANTHROPIC_API_KEY: holds characters that no header may carry"


async def test_a_helper_is_asked_once_in_five_minutes(tmp_path):
    now = [1_000.0]
    log = tmp_path / "asked"
    credentials = Credentials(helper=f"echo x >> {log}; echo '  {KEY} '", clock=lambda: now[0])

    first = await asyncio.gather(credentials.headers(), credentials.headers())
    now[0] += 299
    await credentials.headers()
    asked_within = len(log.read_text().split())
    now[0] += 2
    await credentials.headers()
    credentials.forget()
    await credentials.headers()

    assert first == [{"x-api-key": KEY, "authorization": f"Bearer {KEY}"}] * 2
    assert (asked_within, len(log.read_text().split())) == (1, 3)


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("echo hunter2secret; exit 3", "failed (exit code 3)"),
        ("true", "printed nothing that could be a key"),
        ("printf 'hunter2secret\\nmore'", "printed nothing that could be a key"),
        (f"echo hunter2secret; exec {sys.executable} -c 'import time; time.sleep(60)'", "did not finish within 0.2 s"),
    ],
)
async def test_a_helper_that_fails_is_told_without_its_output(command, problem):
    credentials = Credentials(helper=command, helper_limit_s=0.2 if "sleep" in command else 20)

    with pytest.raises(ModelFault) as caught:
        await credentials.headers()

    assert caught.value.kind is FaultKind.AUTHENTICATION
    assert caught.value.text == f"The command api_key_helper {problem}. Run it by hand to see why."


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"bad key {KEY}!", "bad key [key]!"),
        (f"cut {TOKEN[:12]}...", "cut [key]..."),
        ("looks like sk-ant-other_Key-1, yes", "looks like [key], yes"),
        (f"{TOKEN}{TOKEN}", "[key][key]"),
        ("nothing here", "nothing here"),
    ],
)
def test_a_text_is_shown_without_its_keys(text, masked):
    assert Credentials(api_key=KEY, auth_token=TOKEN).mask(text) == masked


RANDOM = st.binary(min_size=12, max_size=20).map(bytes.hex).filter(is_unmistakable)
WORDS = st.sampled_from(["placeholder", "anthropic", "not-needed", "12345678"])
SECRETS = st.one_of(RANDOM, WORDS, st.text("abc0123456789", min_size=8, max_size=40))
WRAPS = st.sampled_from(
    [
        '{{"type":"error","error":{{"type":"authentication_error","message":"bad key {} here"}}}}',
        "<html><title>denied {}</title></html>",
        "<html><body>you sent {} to us</body></html>",
        "plain {} text",
        '{{"error":"{}"}}',
        '{{"message":"{}","request_id":"{}"}}',
        '{{"broken": "{}"',
    ]
)


@given(SECRETS, SECRETS, WRAPS, st.sampled_from([301, 400, 401, 403, 404, 407, 429, 500, 529]), st.integers(0, 1_200))
def test_no_fault_holds_a_credential_whatever_the_server_says(key, token, wrap, status, padding):
    credentials = Credentials(api_key=key, auth_token=token)
    body = wrap.format(*[f"{'x ' * padding}{key}/{token}"] * wrap.count("{}")).encode()
    headers = {"request-id": token, "location": f"http://{key}.example/{token}"}

    fault = classify_error(status, headers, body, mask=credentials.mask, model="m")

    for secret in (key, token):
        assert secret[:8] not in f"{fault.text} {fault} {fault.request_id}".replace("[key]", "")


@given(RANDOM, st.lists(st.text("abcABC0123456789-_ ", max_size=12), max_size=6))
def test_a_masked_text_holds_no_secret_however_it_is_woven_in(secret, parts):
    assert secret not in mask_secrets(secret.join(parts), [secret])


@pytest.mark.parametrize("word", ["placeholder", "anthropic", "not-needed", "12345678"])
@pytest.mark.parametrize("mask", [mask_secrets, mask_echoes])
def test_a_key_that_is_also_a_word_stays_inside_other_words(word, mask):
    text = f"{word}-version, {word}s, x{word}"
    assert mask(text, [word]) == text


@pytest.mark.parametrize("word", ["placeholder", "anthropic", "not-needed", "12345678"])
def test_in_logs_and_exports_a_key_that_is_also_a_word_is_masked_as_a_whole_value(word):
    prose = f"The {word} is a {word}; see import {word} and https://{word}.com/{word}/v1."
    assert mask_secrets(prose, [word]) == prose
    values = [
        word,
        f"KEY={word}",
        f"x-api-key: {word}",
        f'{{"key": "{word}", "n": 1}}',
        f"Bearer {word}",
        f"a='{word}'",
    ]
    assert [mask_secrets(value, [word]) for value in values] == [value.replace(word, "[key]") for value in values]


def test_another_key_that_begins_like_ours_is_hidden_whole():
    assert mask_secrets("sk-ant-api03-zyxwvutsrq, gateway token-of-another-9c8b7a.", [KEY, TOKEN]) == (
        "[key], gateway [key]."
    )

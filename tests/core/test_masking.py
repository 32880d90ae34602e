"""Keys are known by their shape; what only looks a little like one stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pace import measured

from everturn.core.masking import MASK, KeyMask, mask_keys

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
PRIVATE = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n/=+\n-----END RSA PRIVATE KEY-----"
KEYS = (
    *(
        "sk-ant-api03-abcdefgh",
        "sk-proj-abcdefghijklmnopqrst",
        "sk-1234567890abcdefghij",
        "sk_live_abcdefghijklmnop1234",
    ),
    *("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "github_pat_11ABCDEFG0abcdefghij_xyz", "glpat-abcdefghij0123456789"),
    *("AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE", "AIzaSyA1234567890abcdefghijklmnopqrstuv"),
    *(
        "xoxb-123456789012-abcdefghijkl",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "hf_abcdefghijklmnopqrstuvwxyz0123",
    ),
    *(JWT, PRIVATE, "ya29.abcdefghijklmnopqrstuvwxyz", "SG.abcdefghijklmnop1234.abcdefghijklmnop1234"),
)
NO_KEYS = (
    "3cedf7d4a8e5b1c2d3e4f5061728394a5b6c7d8e",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "0f8fad5b-d9cb-469f-a165-70867728950e",
    "toolu_01A09q90qw90lq917835lq9",
    "msg_013Zva2CMHLNnXjNJJKqJ2EF",
    "the task-list of disk-usage-of-all-machines",
    "risk-based-assessment-of-things",
    "import sk-learn-contrib-packages-of-all-kinds",
    "pip install scikit-learn==1.5.0",
    "AKIAPACIFICANDSOUTHX",
    "http://localhost:8080/a@b",
    "user@example.com: hello",
    "the bearer of this letter is my friend",
    "api_key = os.environ['KEY']",
    "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "eyJ is how a token begins",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
)
LONG = 1_000_000
ATTACKS = {
    "beginnings without end": "eyJaaaaaaaaaaa-",
    "short keys": "sk-",
    "dashes": "sk-a-",
    "blanks after a name": "api_key=" + " " * 50,
    "headers": "authorization: bearer ",
    "addresses": "http://a:",
    "begun keys": "-----BEGIN PRIVATE KEY",
    "begun keys that go on": "-----BEGIN PRIVATE KEY-----",
    "points": "SG.aaaaaaaaaaaaaaaa.",
    "three parts": "eyJaaaaaaaaaaa.eyJaaaaaaaaaaa.",
    "letters": "a",
    "slack": "hooks.slack.com/services/",
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("around", ["{}", "export X={} now", '{{"token":"{}"}}', "a {}\nb"])
def test_a_key_is_hidden_and_what_surrounds_it_stays(key, around):
    assert mask_keys(around.format(key)) == around.format(MASK)


@pytest.mark.parametrize(
    ("words", "masked"),
    [
        ("Authorization: Bearer abcdefghijklmnopqrstuvwx", "Authorization: Bearer [key]"),
        ("authorization: Basic dXNlcjpwYXNzd29yZDEyMw==", "authorization: Basic [key]"),
        ("X-Api-Key: abcdefghijklmnop1234", "X-Api-Key: [key]"),
        ('{"x-api-key": "abcdefghijklmnop1234"}', '{"x-api-key": "[key]"}'),
        ("api_key = 'abcdefghijklmnop1234'", "api_key = '[key]'"),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "aws_secret_access_key = [key]",
        ),
        ("postgres://ada:secret@db/x", "postgres://ada:[key]@db/x"),
        ("https://hooks.slack.com/services/T000/B000/XXXXXXXXXXXX", "https://[key]"),
    ],
)
def test_what_is_said_to_be_a_key_is_hidden(words, masked):
    assert mask_keys(words) == masked


@pytest.mark.parametrize("words", NO_KEYS)
def test_what_is_no_key_stays(words):
    assert mask_keys(words) == words


@pytest.mark.parametrize("piece", ATTACKS.values(), ids=ATTACKS)
def test_no_text_takes_more_than_linear_time(piece):
    text = piece * (LONG // len(piece))
    with measured() as spent:
        mask_keys(text)
    assert spent.seconds < 2


@given(
    st.sampled_from((*KEYS, "Bearer abcdefghijklmnopqrstuvwx")), st.lists(st.integers(1, 9), min_size=30, max_size=30)
)
def test_a_key_that_comes_in_pieces_is_hidden(key, sizes):
    text = f"Here it is: {key} and more words\nafter it"
    mask, given_, at = KeyMask(), "", 0
    for size in (*sizes, len(text)):
        given_ += mask.feed(text[at : at + size])
        at += size
    assert given_ + mask.finish() == mask_keys(text)


@given(st.lists(st.text(max_size=20), max_size=10))
def test_words_that_are_no_key_come_whole_in_however_many_pieces(pieces):
    mask = KeyMask()
    given_ = "".join(mask.feed(piece) for piece in pieces) + mask.finish()
    assert given_ == mask_keys("".join(pieces))


def test_a_language_without_blanks_is_not_kept_waiting():
    assert KeyMask().feed("你好世界") == "你好世界"


def test_a_word_without_end_is_not_kept_back_for_ever():
    assert len(KeyMask().feed("x" * 10_000)) == 10_000

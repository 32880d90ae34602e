"""Media lies beside the session: once, by its hash, and a session without it still goes on."""

import base64
import json
import random
import stat

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.messages import Kind, Message, decode_block, encode_block, result_block, text_block
from everturn.core.record_codec import record_message
from everturn.modelserver import text
from everturn.sessions.blobs import MIN_SIZE
from everturn.sessions.journal import FileJournal
from everturn.sessions.places import blobs_folder
from everturn.sessions.session_files import load_session


def media(seed, size=8_000):
    return base64.b64encode(random.Random(seed).randbytes(size)).decode()  # noqa: S311 (a picture, not a secret)


def image(data):
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def said(id_, *blocks):
    return Message(id=id_, role="user", kind=Kind.PROMPT, blocks=blocks)


def write(path, *messages):
    journal = FileJournal(path, path.stem)
    for message in messages:
        journal.append(record_message(message))
    journal.close()


def test_a_picture_is_stored_once_for_its_owner_and_comes_back_byte_for_byte(tmp_path):
    path = tmp_path / "s.jsonl"
    picture = encode_block(image(media(1)))
    shown = encode_block(msgspec.json.decode(result_block("t", [image(media(1)), {"type": "text", "text": "x"}]).raw))
    messages = (said("m1", picture, text_block("Look.")), said("m2", shown), said("m3", encode_block(image(media(2)))))

    write(path, *messages)

    assert load_session(path)[0].messages == messages
    stored = sorted(blobs_folder(path).iterdir())
    assert len(stored) == 2
    assert {stat.S_IMODE(blob.stat().st_mode) for blob in stored} == {0o600}
    assert base64.b64decode(media(1)) in {blob.read_bytes() for blob in stored}
    assert path.stat().st_size < 3_000


def test_small_media_and_what_is_no_base64_stay_in_their_line(tmp_path):
    path = tmp_path / "s.jsonl"
    odd = ("A" * MIN_SIZE + "B", "A" * MIN_SIZE + "AB==", media(1, 2_000), "x\\n" * MIN_SIZE)
    messages = tuple(said(f"m{number}", encode_block(image(data))) for number, data in enumerate(odd))
    write(path, *messages)
    assert load_session(path)[0].messages == messages
    assert not blobs_folder(path).exists()


def test_a_text_about_media_is_a_text(tmp_path):
    path = tmp_path / "s.jsonl"
    quoted = text_block(json.dumps(image(media(1))))
    named = encode_block(image("everturn-blob:" + "0" * 64))
    write(path, said("m1", quoted), said("m2", named))
    assert load_session(path)[0].messages == (said("m1", quoted), said("m2", named))
    assert not blobs_folder(path).exists()


GONE = "[This media is no longer there: the file that held it was deleted.]"


def test_media_that_was_deleted_or_damaged_is_said_in_its_place(tmp_path):
    path = tmp_path / "s.jsonl"
    shown = result_block("t", [image(media(2)), {"type": "text", "text": "kept"}])
    write(path, said("m1", encode_block(image(media(1))), text_block("Look.")), said("m2", shown))
    first, second = sorted(blobs_folder(path).iterdir())
    first.unlink()
    second.write_bytes(b"something else")

    replay, warnings = load_session(path)

    assert replay.messages[0] == said("m1", text_block(GONE), text_block("Look."))
    assert json.loads(replay.messages[1].blocks[0].raw)["content"] == [
        {"type": "text", "text": GONE},
        {"type": "text", "text": "kept"},
    ]
    assert [warning.split(":")[0] for warning in warnings] == [
        "Media of message m1 is gone",
        "Media of message m2 is gone",
    ]


async def test_a_session_whose_media_was_deleted_is_resumed(bench):
    engine = bench.engine()
    bench.model(text("A picture."))
    await bench.go_on(engine, [image(media(1)), {"type": "text", "text": "What is it?"}])
    await engine.aclose()
    for blob in blobs_folder(bench.session_file(engine.session_id)).iterdir():
        blob.unlink()

    resumed = bench.engine(resume=engine.session_id)
    bench.model(text("Gone."))
    run = await bench.go_on(resumed)

    assert run.result.text == "Gone."
    assert bench.sent[-1][0]["content"][0] == {"type": "text", "text": GONE}
    assert [notice for notice in run.of("notice") if "is gone" in notice.text]


async def test_what_is_sent_after_a_resume_is_the_picture_byte_for_byte(bench):
    engine = bench.engine()
    bench.model(text("A picture."))
    await bench.go_on(engine, [image(media(1)), {"type": "text", "text": "What is it?"}])
    await engine.aclose()

    bench.model(text("Still there."))
    await bench.go_on(bench.engine(resume=engine.session_id))

    assert bench.sent[-1][0]["content"][0] == image(media(1))


SPACES = st.sampled_from([b"", b" "])


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([100, 3_000, 3_071, 3_072, 3_073, 9_000]), SPACES), max_size=4
    )
)
@settings(max_examples=60, deadline=None)
def test_any_mixture_comes_back_byte_for_byte(tmp_path_factory, parts):
    path = tmp_path_factory.mktemp("home") / "s.jsonl"
    raws = [
        b'{"type":"document","source":{"type":"base64","data":%b"%b","media_type":"x"},"more":1.50}'
        % (space, media(seed, size).encode())
        for seed, size, space in parts
    ]
    message = said("m", text_block("x"), *map(decode_block, raws))
    write(path, message)
    assert load_session(path) == (load_session(path)[0], ())
    assert load_session(path)[0].messages == (message,)

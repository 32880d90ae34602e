"""Files that were damaged, shuffled or robbed resume all the same, and what is wrong is said."""

import random
import shutil
from pathlib import Path

import pytest

from everturn.core.errors import JournalError
from everturn.core.messages import Kind
from everturn.core.state import Reason
from everturn.modelserver import call, say, text, thinking
from everturn.sessions.places import blobs_folder
from everturn.sessions.session_files import load_session

FORMATS = Path(__file__).parents[1] / "sessions" / "fixtures"
SESSIONS = sorted(FORMATS.glob("format-*/*.jsonl"))
PICTURE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" + "A" * 8_001},
}


@pytest.fixture
def bench(bench):
    """Engines that are opened on a file which the test then damages are not compared with it."""
    yield bench
    bench.engines.clear()


def look(bench, number):
    return call("Read", {"file_path": str(bench.folder / "a.txt"), "offset": number}, call_id=f"toolu_{number}")


async def write_session(bench):
    (bench.folder / "a.txt").write_text("alpha\n" * 100)
    write = call("Write", {"file_path": str(bench.folder / "b.txt"), "content": "x"}, call_id="toolu_9")
    bench.model(
        *(say(thinking("Hm."), look(bench, 1)), say(look(bench, 2), look(bench, 3)), write, text("One.")),
        *(look(bench, 4), text("Two.")),
    )
    engine = bench.engine(session_id="s", permission_mode="acceptEdits")
    await bench.go_on(engine, "First.")
    await bench.go_on(engine, "Second.")
    await engine.aclose()
    bench.engines.clear()
    return bench.session_file("s")


async def go_on(bench, **options):
    bench.model(text("Went on."))
    engine = bench.engine(resume="s", **options)
    run = await bench.go_on(engine)
    await engine.aclose()
    assert (run.reason, run.result.text) == (Reason.COMPLETED, "Went on.")
    return engine, run


@pytest.mark.parametrize("damage", ["duplicated", "reordered", "missing", "foreign"])
async def test_whatever_happened_to_its_lines_the_api_takes_what_is_sent(bench, damage):
    file = await write_session(bench)
    first, *rest = file.read_bytes().splitlines(keepends=True)
    for seed in range(12):
        rng = random.Random(seed)  # noqa: S311 (repeatable, not secret)
        lines = rest.copy()
        for _ in range(rng.randint(1, 4)):
            at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
            match damage:
                case "duplicated":
                    lines.insert(other, lines[at])
                case "reordered":
                    lines[at], lines[other] = lines[other], lines[at]
                case "missing":
                    del lines[at]
                case _:
                    lines.insert(at, b'{"type":"custom-title","customTitle":"T"}\n')
        file.write_bytes(b"".join([first, *lines]))
        engine, _ = await go_on(bench)

        ids = [message.id for message in engine.transcript]
        assert len(ids) == len(set(ids))


async def test_every_line_twice_is_every_line_once(bench):
    file = await write_session(bench)
    lines = file.read_bytes().splitlines(keepends=True)
    paid = load_session(file)[0].usd
    await go_on(bench)
    expected = bench.requests[-1].raw
    file.write_bytes(b"".join(line * 2 for line in lines))
    assert load_session(file)[0].usd == pytest.approx(paid)
    await go_on(bench)

    assert bench.requests[-1].raw == expected


async def test_a_message_that_was_gone_back_behind_does_not_return_with_a_doubled_line(bench):
    file = await write_session(bench)
    lines = file.read_bytes().splitlines(keepends=True)
    last = next(line for line in reversed(lines) if b'"type":"assistant"' in line)
    engine = bench.engine(resume="s")
    first = next(message.id for message in engine.transcript if message.kind is Kind.ANSWER)
    await engine.aclose()
    await bench.engine(resume="s", resume_at=first).aclose()
    with file.open("ab") as end:
        end.write(last)
    engine, _ = await go_on(bench)

    assert "Two." not in str(bench.sent[-1])


async def test_a_picture_whose_file_was_deleted_is_said_to_be_gone(bench):
    bench.model(text("A picture."))
    engine = bench.engine(session_id="s")
    await bench.go_on(engine, [PICTURE, {"type": "text", "text": "What is it?"}])
    await engine.aclose()
    bench.engines.clear()
    shutil.rmtree(blobs_folder(bench.session_file("s")))
    _, run = await go_on(bench)

    assert "This media is no longer there" in str(bench.sent[-1][0])
    assert any("Media of message" in notice.text for notice in run.of("notice"))


async def test_a_clock_that_jumped_back_changes_nothing(bench):
    file = await write_session(bench)
    expected, _ = await go_on(bench)
    ahead = file.read_bytes().replace(b'"timestamp":"20', b'"timestamp":"29')
    file.write_bytes(ahead)
    engine, _ = await go_on(bench)
    times = [
        line.split(b'"timestamp":"')[1][:24] for line in file.read_bytes().splitlines() if b'"timestamp":"' in line
    ]

    assert times == sorted(times)
    assert engine.transcript[: len(expected.transcript)] == expected.transcript
    assert bench.engine(continue_conversation=True).session_id == "s"


@pytest.mark.parametrize("path", SESSIONS, ids=[f"{path.parent.name}-{path.stem}" for path in SESSIONS])
@pytest.mark.parametrize("fork", [True, False])
async def test_a_session_of_every_format_is_resumed(bench, path, fork):
    file = bench.session_file("s")
    file.parent.mkdir(parents=True)
    shutil.copy(path, file)
    before = file.read_bytes()
    bench.model(text("Went on."), bench.summary())
    engine = bench.engine(resume="s", fork_session=fork)
    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    bench.assert_settled(engine)
    assert (file.read_bytes() == before) == fork


@pytest.mark.parametrize("options", [{}, {"fork_session": True}, {"resume_at": "m"}])
async def test_a_session_of_a_later_format_is_refused_and_left_as_it_is(bench, options):
    file = await write_session(bench)
    later = b'{"type":"everturn","record":{"type":"session","format":99,"session_id":"s"}}\n'
    file.write_bytes(later + file.read_bytes())
    before = file.read_bytes()
    with pytest.raises(JournalError, match="written by a later version of Everturn"):
        bench.engine(resume="s", **options)

    assert file.read_bytes() == before
    assert [entry.name for entry in file.parent.glob("*.jsonl")] == ["s.jsonl"]

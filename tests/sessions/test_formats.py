"""Sessions of every format that ever was load for ever, and what is written now comes back as it went in."""

import json
import math
import shutil
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from everturn.core.budget import Usage
from everturn.core.contexts import Contexts
from everturn.core.events import GoalFile
from everturn.core.facts import Facts
from everturn.core.messages import Answer, Kind, Message, decode_block, text_block
from everturn.core.notes import Notes
from everturn.core.prefix import Sent
from everturn.core.record_codec import record_message
from everturn.core.records import (
    FORMAT,
    AnyRecord,
    CallIntended,
    MessageAdded,
    MessageRetracted,
    QueryBegan,
    SeenFile,
    SessionOpened,
    UsageCharged,
)
from everturn.core.state import Guards, Transition
from everturn.core.tokens import Scale
from everturn.modelserver import text
from everturn.sessions.formats import decode_line
from everturn.sessions.journal import FileJournal
from everturn.sessions.lines import LineEncoder
from everturn.sessions.places import old_session_file
from everturn.sessions.session_files import load_session

FIXTURES = Path(__file__).parent / "fixtures"
OLD = sorted(FIXTURES.glob("format-*/*.jsonl"))
BEFORE_THE_REDESIGN = sorted((FIXTURES / "before-the-redesign").glob("*.jsonl"))
"""What 0.1.0 wrote, and what it read there: between them every kind of record and every field of these."""
SESSIONS = [*OLD, *BEFORE_THE_REDESIGN]
NOON = 1_794_830_400.0
OPENED = SessionOpened(format=FORMAT, session_id="s", at=NOON, folder="/home/ada/project", version="0.1.0")


def encoder(now=lambda: NOON):
    made = LineEncoder("s", now=now)
    made.encode(OPENED)
    made.check_out("main")
    return made


def prompt(id_="u1", said="hi", **fields):
    return Message(id=id_, role="user", kind=Kind.PROMPT, blocks=(text_block(said),), **fields)


def known_part(replay, told):
    """Fields that came later, at any depth, have their defaults in an old session."""
    match replay, told:
        case dict(), dict():
            return {name: known_part(value, told[name]) for name, value in replay.items() if name in told}
        case list(), list() if len(replay) == len(told):
            return [known_part(value, known) for value, known in zip(replay, told, strict=True)]
        case float(), float() if math.isclose(replay, told, rel_tol=1e-12):
            # Money was added less exactly then.
            return told
        case _:
            return replay


@pytest.mark.parametrize("path", SESSIONS, ids=[f"{path.parent.name}-{path.stem}" for path in SESSIONS])
def test_a_session_of_every_format_tells_what_it_told_then(path):
    replay, warnings = load_session(path)
    told = json.loads(path.with_suffix(".replay.json").read_bytes())
    assert warnings == ()
    assert known_part(msgspec.json.decode(msgspec.json.encode(replay)), told) == told


def test_a_session_of_the_first_format_goes_on_in_the_second_in_its_place(tmp_path):
    path = tmp_path / "rich.jsonl"
    shutil.copy(FIXTURES / "format-1" / "rich.jsonl", path)
    before = path.read_bytes()
    earlier, _ = load_session(path)
    journal = FileJournal(path, "rich", must_exist=True, now=lambda: NOON)
    journal.append(OPENED)
    journal.append(record_message(prompt()))
    journal.close()

    written = path.read_bytes()
    assert written.startswith(before)
    opened, message = map(json.loads, written[len(before) :].splitlines())
    assert opened == {"type": "session", **msgspec.to_builtins(OPENED)}, "an Everturn of the first format refuses this"
    assert message["parentUuid"] == earlier.messages[-1].id
    assert load_session(path)[0].messages == (*earlier.messages, prompt())


@pytest.mark.parametrize("source", BEFORE_THE_REDESIGN, ids=lambda source: source.stem)
def test_a_session_from_before_the_redesign_is_gone_on_with(source, tmp_path):
    path = tmp_path / source.name
    shutil.copy(source, path)
    before, (earlier, _) = path.read_bytes(), load_session(path)
    journal = FileJournal(path, path.stem, must_exist=True, now=lambda: NOON)
    journal.append(record_message(prompt("later")))
    journal.close()

    assert path.read_bytes().startswith(before)
    assert load_session(path)[0].messages == (*earlier.messages, prompt("later"))


async def test_a_session_in_the_old_place_is_resumed_over_http(bench):
    path = old_session_file(bench.home, "rich")
    path.parent.mkdir(parents=True)
    shutil.copy(FIXTURES / "format-1" / "rich.jsonl", path)
    bench.model(text("Went on."))

    run = await bench.go_on(bench.engine(resume="rich"), "Go on.")

    assert run.result.text == "Went on."
    assert load_session(path)[0].messages[-1].text == "Went on."


def test_a_prompt_is_the_public_line_and_nothing_else():
    line = encoder().encode(record_message(prompt()))
    assert line == (
        b'{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/ada/project","sessionId":"s",'
        b'"version":"0.1.0","gitBranch":"main","type":"user","message":{"role":"user","content":"hi"},"uuid":"u1",'
        b'"timestamp":"2026-11-16T12:00:00.000Z"}\n'
    )


def test_an_answer_carries_the_whole_message_of_the_api():
    made = encoder()
    made.encode(record_message(prompt()))
    usage = Usage(input=1, output=2, cache_write=3, cache_read=4, cache_write_1h=1)
    answer = Answer(api_id="msg_1", asked="opus", model="claude-opus-5", stop_reason="end_turn", usage=usage)
    said = Message(id="a1", role="assistant", kind=Kind.ANSWER, blocks=(text_block("Yes."),), answer=answer)
    line = json.loads(made.encode(record_message(said)))
    assert (line["parentUuid"], line["type"], line["uuid"], line["requestId"]) == ("u1", "assistant", "a1", "a1")
    assert line["message"] == {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "content": [{"type": "text", "text": "Yes."}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 1,
            "output_tokens": 2,
            "cache_creation_input_tokens": 3,
            "cache_read_input_tokens": 4,
            "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 1},
        },
    }
    assert line["everturn"] == {"asked": "opus"}


def test_a_charge_can_be_counted_by_others():
    charge = UsageCharged(
        purpose="summary", model="m", usage=Usage(input=5), usd=0.5, turn=3, api_id="msg_2", request_id="r"
    )
    line = json.loads(encoder().encode(charge))
    assert (line["requestId"], line["costUSD"], line["message"]["id"], line["message"]["model"]) == (
        "r",
        0.5,
        "msg_2",
        "m",
    )
    assert line["record"] == {"type": "usage", "purpose": "summary", "turn": 3}


def test_the_time_never_goes_back():
    times = iter([NOON, NOON + 5.5, NOON - 3_600, NOON + 6])
    made = LineEncoder("s", now=lambda: next(times))
    lines = [json.loads(made.encode(record_message(prompt(str(number))))) for number in range(4)]
    assert [line["timestamp"][17:] for line in lines] == ["00.000Z", "05.500Z", "05.500Z", "06.000Z"]


def test_after_a_message_was_taken_back_the_next_one_hangs_on_the_one_before():
    made = encoder()
    for record in (record_message(prompt("u1")), record_message(prompt("u2")), MessageRetracted(id="u2", cause="x")):
        made.encode(record)
    assert json.loads(made.encode(record_message(prompt("u3"))))["parentUuid"] == "u1"


USERS = [kind for kind in Kind if kind is not Kind.ANSWER]


@pytest.mark.parametrize("kind", USERS)
def test_only_what_the_user_said_looks_like_a_prompt(kind):
    said = Message(id="x", role="user", kind=kind, blocks=(text_block("words"),))
    line = json.loads(encoder().encode(record_message(said)))
    looks_said = line["type"] == "user" and not line.get("isMeta")
    assert looks_said == (kind in {Kind.PROMPT, Kind.RESULTS})


RAWS = [
    b'{"type":"text","text":"plain"}',
    b'{"type":"text","text":""}',
    b'{"type":"text","text":"\\u00e9 \\" }"}',
    b'{"type":"text","text":"a","citations":null}',
    b'{"type": "text", "text": "spaced"}',
    b'{"type":"text","text": "half spaced" }',
    b'{"text":"turned","type":"text"}',
    b'{"type":"novelty","field":[1,2.50,"\\u00e9"]}',
    b'{"type":"tool_use","id":"t","name":"Bash","input":{"command": "x"}}',
    b'{"type":"tool_result","tool_use_id":"t","content":"done"}',
]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
IDS = st.text('abc-"\\é', min_size=1, max_size=8)
COUNTS = st.integers(0, 2**40)


@st.composite
def usages(draw):
    write = draw(COUNTS)
    hourly = draw(st.integers(0, write))
    output = draw(COUNTS)
    return Usage(
        input=draw(COUNTS),
        output=output,
        cache_write=write,
        cache_read=draw(COUNTS),
        cache_write_1h=hourly,
        estimated_output=draw(st.just(0) | st.integers(0, output)),
    )


ANSWERS = st.builds(
    Answer,
    api_id=st.just("") | TEXTS.map("msg_{}".format),
    asked=TEXTS,
    model=TEXTS,
    stop_reason=st.none() | TEXTS,
    usage=usages(),
    incomplete=st.booleans(),
)
MESSAGES = st.builds(
    MessageAdded,
    id=IDS,
    role=st.sampled_from(["user", "assistant"]),
    kind=st.sampled_from(Kind),
    blocks=st.lists(st.sampled_from(RAWS), max_size=3).map(tuple),
    answer=st.none() | ANSWERS,
    blames=st.lists(IDS, max_size=2).map(tuple),
    keeps=st.lists(IDS, max_size=2).map(tuple),
)


@given(MESSAGES)
@example(MessageAdded(id="x", role="user", kind=Kind.BOUNDARY, blocks=()))
@settings(max_examples=400, deadline=None)
def test_any_message_comes_back_byte_for_byte(message):
    wrapped = msgspec.structs.replace(message, blocks=tuple(map(msgspec.Raw, message.blocks)))
    told = decode_line(encoder().encode(wrapped)).record
    back = msgspec.structs.replace(told, blocks=tuple(map(bytes, told.blocks)))
    assert back == message


@pytest.mark.parametrize("kind", [kind for kind in AnyRecord.__args__ if kind is not MessageAdded])
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_any_other_record_comes_back(kind, data):
    types = {str: TEXTS, int: COUNTS, float: st.floats(0, 1e9), bool: st.booleans(), Usage: usages()}
    types[msgspec.Raw] = st.just(msgspec.Raw(b'{"a":1}'))
    types[Notes] = st.builds(Notes, plan=TEXTS)
    types[Contexts] = st.builds(Contexts, user=st.dictionaries(TEXTS, TEXTS, max_size=2))
    types[Facts] = st.builds(Facts, changed_files=st.lists(TEXTS, max_size=2).map(tuple))
    types[dict[str, str]] = st.dictionaries(TEXTS, TEXTS, max_size=2)
    types[dict[str, Scale]] = st.dictionaries(TEXTS, st.builds(Scale, estimated=COUNTS), max_size=2)
    types[Guards | None] = st.none() | st.builds(Guards, turn=COUNTS, transition=st.sampled_from(Transition))
    sums = (TEXTS,) * 5
    types[Sent | None] = st.none() | st.builds(Sent, COUNTS, *sums, COUNTS, COUNTS)
    types[str | None] = st.none() | TEXTS
    types[tuple[str, ...]] = st.lists(TEXTS, max_size=3).map(tuple)
    seen = st.builds(SeenFile, path=TEXTS, size=COUNTS, mtime_ns=COUNTS, digest=TEXTS, partial=st.booleans())
    touched = st.builds(GoalFile, path=TEXTS, found=TEXTS, change=TEXTS)
    types[tuple[GoalFile, ...]] = st.lists(touched, max_size=3).map(tuple)
    types[tuple[SeenFile, ...]] = st.lists(seen, max_size=3).map(tuple)
    fields = {field.name: data.draw(types[field.type]) for field in msgspec.structs.fields(kind)}
    told = decode_line(encoder().encode(kind(**fields)))
    assert type(told.record) is kind
    assert told.time
    if kind is UsageCharged and fields["api_id"] == fields["request_id"]:
        fields["api_id"] = ""
    assert msgspec.json.encode(told.record) == msgspec.json.encode(kind(**fields))


FOREIGN = [
    b'{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hi"},"uuid":"1"}',
    b'{"type":"assistant","message":{"id":"msg","model":"m","content":[{"type":"text","text":"Yes."}]},"uuid":"2"}',
    b'{"type":"user","isMeta":true,"message":{"role":"user","content":"hidden"},"uuid":"3"}',
    b'{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]},"uuid":"4"}',
    b'{"type":"system","subtype":"compact_boundary","content":"Compacted","uuid":"5"}',
    b'{"type":"user","isCompactSummary":true,"message":{"role":"user","content":"So far"},"uuid":"6"}',
    b'{"type":"user","isSidechain":true,"message":{"role":"user","content":"of a subagent"},"uuid":"7"}',
    b'{"type":"system","subtype":"informational","content":"?","uuid":"8"}',
    b'{"type":"custom-title","customTitle":"T","sessionId":"s"}',
    b'{"type":"tag","tag":"x","sessionId":"s"}',
    b'{"type":"summary","summary":"S","leafUuid":"2"}',
]


def test_a_session_that_another_program_wrote_is_understood(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\n".join(FOREIGN) + b"\n")
    replay, warnings = load_session(path)
    assert warnings == ()
    assert [(message.id, message.kind) for message in replay.messages] == [
        ("1", Kind.PROMPT),
        ("2", Kind.ANSWER),
        ("3", Kind.HIDDEN),
        ("4", Kind.RESULTS),
        ("5", Kind.BOUNDARY),
        ("6", Kind.SUMMARY),
    ]


def test_a_duplicated_file_is_the_same_session(tmp_path):
    path = tmp_path / "s.jsonl"
    journal = FileJournal(path, "s")
    charge = UsageCharged(purpose="main", model="m", usage=Usage(input=5), usd=0.5, api_id="msg", request_id="r")
    for record in (
        OPENED,
        QueryBegan(query_id="q", at=1.0, source="main", model="m"),
        record_message(prompt()),
        charge,
    ):
        journal.append(record)
    journal.close()
    once, _ = load_session(path)
    path.write_bytes(path.read_bytes() * 2)
    assert load_session(path) == (once, ())


def test_reordered_lines_lose_nothing(tmp_path):
    path = tmp_path / "s.jsonl"
    lines = (FIXTURES / "format-1" / "rich.jsonl").read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(reversed(lines)))
    replay, warnings = load_session(path)
    whole, _ = load_session(FIXTURES / "format-1" / "rich.jsonl")
    assert warnings == ()
    assert {message.id: message for message in replay.messages} == {message.id: message for message in whole.messages}
    assert replay.usage == whole.usage


def test_an_intent_keeps_its_input_byte_for_byte():
    intent = CallIntended(tool_use_id="t", name="Bash", input=msgspec.Raw(b'{"command":  "x", "n": 1.50}'))
    told = decode_line(encoder().encode(intent)).record
    assert bytes(told.input) == bytes(intent.input)


def test_blocks_of_a_kind_that_nobody_knows_are_carried():
    odd = decode_block(b'{"type": "novelty",  "field": [1, 2.50, "\\u00e9"]}')
    said = Message(id="x", role="user", kind=Kind.PROMPT, blocks=(odd,))
    told = decode_line(encoder().encode(record_message(said))).record
    assert bytes(told.blocks[0]) == odd.raw


def test_a_folder_whose_name_is_no_text_is_no_obstacle():
    made = LineEncoder("s", now=lambda: NOON)
    made.encode(msgspec.structs.replace(OPENED, folder="/home/ada/caf\udce9"))
    assert json.loads(made.encode(record_message(prompt())))["cwd"] == "/home/ada/caf\\xe9"

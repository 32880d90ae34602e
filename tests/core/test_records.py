"""Records survive the way to disk and back; foreign lines are passed over, damaged ones named."""

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.budget import Usage
from everturn.core.contexts import Contexts
from everturn.core.denials import Denial, DenialCause, find_cause
from everturn.core.errors import JournalError
from everturn.core.events import GoalFile
from everturn.core.facts import Facts, Failing, Said
from everturn.core.messages import Answer, Kind, Message, decode_block
from everturn.core.notes import Notes, Todo, TodoStatus
from everturn.core.record_codec import (
    decode_record,
    encode_record,
    record_denial,
    record_message,
    restore_denial,
    restore_message,
)
from everturn.core.records import (
    FORMAT,
    AnyRecord,
    CacheBroken,
    CallIntended,
    CallRefused,
    CallSettled,
    CollapseNoted,
    CommandChanged,
    CompactionTried,
    ContextAltered,
    ContextsKept,
    ErrorWithheld,
    FactsKept,
    FilesKnown,
    GoalVerified,
    GoalVerifying,
    MessageAdded,
    MessageRetracted,
    MessagesMended,
    ModeChanged,
    ModelChanged,
    NotesKept,
    QueryBegan,
    QueryEnded,
    Record,
    ResultsCleared,
    ResultSpilled,
    Rewound,
    SeenFile,
    SessionOpened,
    TransitionTaken,
    UsageCharged,
    WorkSpent,
)
from everturn.core.state import Guards
from everturn.core.tokens import Scale

RAWS = (
    b'{"type":"text","text":"a\\nb \xe2\x80\xa8"}',
    b'{"type": "tool_use", "id":"a","name":"n","input":{"b" : 1.0}, "new":[]}',
    b'{"type":"some_new_block","x":{"y":"\\u00e9"}}',
)
MESSAGE = Message(
    id="m1",
    role="assistant",
    kind=Kind.ANSWER,
    blocks=tuple(map(decode_block, RAWS)),
    answer=Answer(api_id="msg", asked="a", model="b", stop_reason="end_turn", usage=Usage(input=1), incomplete=True),
    blames=("m0",),
    keeps=("m2", "m3"),
)
RECORDS = [
    SessionOpened(format=FORMAT, session_id="s", at=1.5, folder="/f", version="0.1.0"),
    QueryBegan(query_id="q", at=2.0, source="main", model="m", plain=True),
    ContextsKept(contexts=Contexts(user={"rules": "Use\ntabs."}, system={"branch": "main"}), message="m"),
    record_message(MESSAGE),
    MessageRetracted(id="m", cause="retry"),
    Rewound(to="m"),
    MessagesMended(repair="unpair", messages=("m",), calls=("t",)),
    CallIntended(tool_use_id="t", name="Bash", input=msgspec.Raw(b'{"command" : "ls"}')),
    CallSettled(tool_use_id="t", is_error=True),
    TransitionTaken(query_id="q", transition="next_turn", turn=2, guards=Guards(turn=2, max_output_override=64_000)),
    ErrorWithheld(kind="too_long", text="Too long.\nReally."),
    UsageCharged(purpose="main", model="m", usage=Usage(input=3, output=4), usd=0.25, turn=1),
    ContextAltered(stage="snip", cause="old", tokens_before=9, tokens_after=3),
    CacheBroken(segment="messages", cause="snip", kept=3, tokens=6, usd=0.01, turn=2, request_id="r"),
    CollapseNoted(id="c", first="m1", last="m5", summary="so far", state="staged"),
    ResultSpilled(tool_use_id="t", path="/s/results/ab", characters=50_000),
    ResultsCleared(lines={"t": "[cleared]"}),
    FactsKept(
        facts=Facts(
            prompts=(Said(id="m", text="Do it."),),
            changed_files=("/f/a",),
            failing=(Failing(tool_use_id="t", command="make", error="no"),),
        ),
        scales={"m": Scale(estimated=9, counted=7)},
    ),
    CallRefused(
        tool_use_id="t",
        name="Bash",
        input=msgspec.Raw(b'{"command": "ls"}'),
        reason="no\u2028way",
        by="rule",
        rules=("Bash(ls)",),
        mode="acceptEdits",
    ),
    GoalVerifying(query_id="q", attempt=2, command="make test"),
    GoalVerified(
        query_id="q",
        attempt=2,
        passed=False,
        ended="ended with exit code 2",
        duration_s=1.5,
        digest="ab",
        files=(GoalFile(path="tests/a", found="a test file", change="changed"),),
    ),
    CompactionTried(failures=1, count=2),
    FilesKnown(
        seen=(SeenFile(path="/f/a", size=1, mtime_ns=2, digest="ff", partial=True),),
        forgotten=("/f/b",),
        message="m",
        cleared=True,
        changed={"/f/c": "t"},
    ),
    ModeChanged(mode="acceptEdits"),
    ModelChanged(before="a", model="b", cause="overloaded"),
    CommandChanged(id="k", state="queued", text="stop\u2028it", address="main"),
    NotesKept(
        notes=Notes(
            todos=(Todo(content="Look", status=TodoStatus.PENDING, active_form="Looking"),),
            plan="# Look\n",
            found_tools=("create_issue",),
        )
    ),
    WorkSpent(continuations=2, percent=50, diminishing=False, duration_s=1.0),
    QueryEnded(query_id="q", reason="completed"),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_is_one_line_that_reads_back(record: Record):
    line = encode_record(record)

    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    decoded = decode_record(line)
    assert type(decoded) is type(record)
    assert encode_record(decoded) == line


def test_every_kind_of_record_is_decoded():
    assert {type(record) for record in RECORDS} == set(Record.__subclasses__()) == set(get_args(AnyRecord))


def test_a_message_comes_back_with_the_same_bytes():
    restored = restore_message(decode_record(encode_record(record_message(MESSAGE))))

    assert restored == MESSAGE
    assert tuple(block.raw for block in restored.blocks) == RAWS


@given(st.text(), st.sampled_from(Kind), st.sampled_from(["user", "assistant"]))
def test_any_text_survives_the_journal(text: str, kind: Kind, role):
    message = Message(
        id=text, role=role, kind=kind, blocks=(decode_block(msgspec.json.encode({"type": "text", "text": text})),)
    )

    line = encode_record(record_message(message))

    assert line.count(b"\n") == 1
    assert restore_message(decode_record(line)) == message


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"summary","text":"of another program"}\n',
        b'{"type":null}',
        b'{"type":[1]}',
        b'{"type":{"a":1}}',
        b'{"type":7}',
        b'{"event":"no type at all"}',
        b"{}",
    ],
)
def test_a_line_of_another_program_is_passed_over(line: bytes):
    assert decode_record(line) is None


def test_fields_that_a_later_version_added_are_ignored():
    assert decode_record(b'{"type":"settled","tool_use_id":"t","is_error":false,"later":1}') == CallSettled(
        tool_use_id="t", is_error=False
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"", "not a record"),
        (b"\n", "not a record"),
        (b'{"type":"settled","tool_use_id":"t","is_er', "not a record"),
        (b"\x00\x00\x00", "not a record"),
        (b"[1]", "not a record"),
        (b'{"type":"settled"}', "a damaged settled record"),
        (b'{"type":"message","id":"a","role":"nobody","kind":"prompt","blocks":[]}', "a damaged message record"),
        (b'{"type":"usage","purpose":1}', "a damaged usage record"),
        (b'{"type":"message","blocks":[' + b"[" * 99_999 + b"]" * 99_999 + b"]}", "not a record"),
    ],
)
def test_a_damaged_line_is_an_error_that_says_what_is_damaged(line: bytes, says: str):
    with pytest.raises(JournalError, match=says):
        decode_record(line)


def test_defaults_are_left_out_so_that_lines_stay_short():
    assert encode_record(QueryEnded(query_id="q", reason="completed")) == (
        b'{"type":"terminal","query_id":"q","reason":"completed"}\n'
    )


def test_a_record_of_a_message_without_an_answer_has_none():
    prompt = Message(id="p", role="user", kind=Kind.PROMPT, blocks=())

    assert record_message(prompt) == MessageAdded(id="p", role="user", kind=Kind.PROMPT, blocks=())


@given(
    st.dictionaries(
        st.text(),
        st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)),
        max_size=3,
    )
)
def test_a_denial_comes_back_as_it_was(tool_input):
    denial = Denial(
        tool_use_id="t",
        tool_name="Bash",
        tool_input=tool_input,
        reason="no",
        rules=("Bash(ls)",),
        cause=DenialCause.RULE,
        unasked=True,
    )

    line = encode_record(record_denial(denial))

    assert line.count(b"\n") == 1
    assert restore_denial(decode_record(line)) == denial


def test_a_cause_of_a_later_version_is_none_that_we_know():
    assert find_cause("rule") is DenialCause.RULE
    assert find_cause("weather") is None
    assert find_cause("") is None

"""The index says what the files say: after any growth, beside a running session, and when its own file is ruined."""

import json
import os
import re
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everturn.core.budget import Usage
from everturn.core.errors import JournalError
from everturn.core.messages import Answer, Kind, Message, result_block, text_block
from everturn.core.record_codec import encode_record, record_message
from everturn.core.records import (
    FORMAT,
    MessageRetracted,
    ModelChanged,
    QueryBegan,
    QueryEnded,
    Rewound,
    SessionOpened,
    UsageCharged,
)
from everturn.modelserver import call, cut, text
from everturn.sessions.index.card import MAX_TITLE_LENGTH, Gathered, plan_short_ids
from everturn.sessions.index.index import FILE_NAME, SessionIndex
from everturn.sessions.index.open_sessions import parse_locks
from everturn.sessions.index.titles import append_tag, append_title
from everturn.sessions.index.update import STRETCH
from everturn.sessions.journal import FileJournal
from everturn.sessions.lines import LineEncoder
from everturn.sessions.places import list_session_files, old_session_file, session_file
from everturn.sessions.session_files import load_session

FIXTURES = Path(__file__).parent / "fixtures" / "format-1"


def list_all(home, **settings):
    with SessionIndex(home, **settings) as index:
        return index.cards()


def only(home):
    [card] = list_all(home)
    return card


def write_lines(home, session_id, *lines, folder="/here"):
    path = session_file(home, session_id, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    return path


def opening(session_id="s", folder="/here"):
    return SessionOpened(format=FORMAT, session_id=session_id, at=1.0, folder=folder, version="0")


def prompt(id_="p", words="Mend the parser"):
    return record_message(Message(id=id_, role="user", kind=Kind.PROMPT, blocks=(text_block(words),)))


def answer(id_="a", words="It is mended.", api_id=""):
    told = Answer(api_id=api_id, asked="claude-sonnet-5", model="claude-sonnet-5")
    return record_message(Message(id=id_, role="assistant", kind=Kind.ANSWER, blocks=(text_block(words),), answer=told))


def lines_of(*records, session_id="s"):
    encoder = LineEncoder(session_id, now=lambda: 1_000_000.0)
    return [encoder.encode(record) for record in records]


@pytest.mark.parametrize("looks", [1, 4, 99], ids=["at once", "once between", "after each line"])
@pytest.mark.parametrize("to", ["p", "n"], ids=["a prompt", "a notice"])
def test_what_a_session_left_behind_is_neither_counted_nor_found(tmp_path, looks, to):
    notice = record_message(Message(id="n", role="user", kind=Kind.NOTICE, blocks=(text_block("Note."),)))
    charge = UsageCharged(purpose="main", model="m", usage=Usage(input=1), usd=0.5, request_id="a")
    lines = lines_of(
        opening(), prompt(), notice, charge, answer("a", "forgotten"), prompt("q", "gone"), Rewound(to=to), answer("b")
    )
    path = write_lines(tmp_path, "s")
    for number, line in enumerate(lines, start=1):
        with path.open("ab") as file:
            file.write(line)
        if number % looks == 0:
            with SessionIndex(tmp_path) as index:
                index.search("forgotten")
    told = only(tmp_path).told
    assert (told.messages, told.turns, told.usd) == (2, 1, 0.5)
    with SessionIndex(tmp_path) as index:
        assert [index.search(word).sessions for word in ("forgotten", "gone", "parser", "mended")] == [0, 0, 1, 1]


async def test_a_real_session_is_told_as_its_replay_tells_it(bench):
    bench.model(cut("Hel"), call("Glob", {"pattern": "*.nothing"}), text("No such file."))
    engine = bench.engine()
    await bench.go_on(engine, "Look for   nothing\nplease.")
    await engine.aclose()
    path = bench.session_file(engine.session_id)
    replay, _ = load_session(path)
    card = only(bench.home)

    assert (card.id, card.path, card.size) == (engine.session_id, str(path), path.stat().st_size)
    assert card.told == Gathered(
        folder=str(bench.folder.resolve()),
        first_prompt="Look for nothing please.",
        model="claude-sonnet-5",
        turns=2,
        messages=sum(message.kind not in {Kind.BOUNDARY, Kind.NOTICE, Kind.PROGRESS} for message in replay.messages),
        usd=card.told.usd,
        began=card.told.began,
        ours=True,
    )
    assert card.told.usd == pytest.approx(replay.usd)
    assert (card.title, card.state) == ("Look for nothing please.", "")


async def test_a_running_session_is_seen_as_open_and_none_of_its_files_is_touched(bench):
    seen = []
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))
    engine = bench.engine()
    path = bench.session_file(engine.session_id)

    def look(event):
        before = path.read_bytes()
        seen.append(only(bench.home).state)
        assert path.read_bytes() == before

    await bench.go_on(engine, "Look", on_event=look)
    assert set(seen) == {"open"}
    assert only(bench.home).told.turns == 2
    await engine.aclose()
    assert only(bench.home).state == ""


def test_the_list_of_locks_names_files_by_their_inode():
    table = (
        "1: FLOCK  ADVISORY  WRITE 4711 08:01:131200 0 EOF\n"
        "1: -> FLOCK  ADVISORY  WRITE 4712 08:01:131200 0 EOF\n"
        "2: POSIX  ADVISORY  WRITE 4713 08:01:77 0 EOF\n"
        "3: FLOCK  ADVISORY  READ 4714 08:01:78 0 EOF\n"
        "nonsense\n"
    )
    assert parse_locks(table) == {131200: [4711]}


def test_a_query_without_an_end_is_an_interrupted_session(tmp_path):
    began = QueryBegan(query_id="q", at=1.0, source="user", model="m")
    path = write_lines(tmp_path, "s", *lines_of(opening(), began, prompt()))
    assert only(tmp_path).state == "interrupted"
    with path.open("ab") as file:
        file.write(lines_of(QueryEnded(query_id="q", reason="completed"))[0])
    assert only(tmp_path).state == ""


@pytest.mark.parametrize("fixture", sorted(FIXTURES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_sessions_of_the_first_format_are_listed_in_their_old_place(tmp_path, fixture):
    path = old_session_file(tmp_path, fixture.stem)
    path.parent.mkdir()
    shutil.copy(fixture, path)
    replay, _ = load_session(path)
    card = only(tmp_path)
    assert (card.id, card.told.ours) == (fixture.stem, True)
    assert card.told.usd == pytest.approx(replay.usd)
    assert card.told.turns == sum(message.kind is Kind.ANSWER for message in replay.messages)


def test_a_session_of_a_newer_format_is_listed_as_such_and_stays_untouched(tmp_path):
    newer = json.dumps({"type": "session", "format": FORMAT + 1, "session_id": "s", "strange": True}).encode() + b"\n"
    path = write_lines(tmp_path, "s", newer, *lines_of(prompt()))
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    card = only(tmp_path)
    assert (card.state, card.told.messages) == (f"newer format {FORMAT + 1}", 0)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_a_session_of_another_program_is_listed_with_its_own_words(tmp_path):
    common = (
        '"isSidechain":false,"cwd":"/here","gitBranch":"main","sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z"'
    )
    said = (
        f'{{{common},"type":"user","uuid":"u","message":{{"role":"user","content":"Hello there"}}}}',
        f'{{{common},"type":"assistant","uuid":"a1","message":{{"id":"msg","model":"m","content":[{{"type":"text","text":"x"}}]}}}}',
        f'{{{common},"type":"assistant","uuid":"a2","message":{{"id":"msg","model":"m","content":[{{"type":"text","text":"y"}}]}}}}',
        '{"type":"summary","summary":"A greeting","leafUuid":"a2"}',
        '{"type":"file-history-snapshot","summary":{"odd":1},"tag":[]}',
    )
    write_lines(tmp_path, "s", *(f"{line}\n".encode() for line in said))
    card = only(tmp_path)
    assert (card.title, card.state) == ("A greeting", "foreign")
    assert card.told == Gathered(
        folder="/here",
        branch="main",
        given_title="A greeting",
        first_prompt="Hello there",
        model="m",
        turns=1,
        messages=3,
        began="2026-01-01T00:00:00.000Z",
    )


def test_the_title_is_the_persons_then_a_programs_then_the_first_prompt(tmp_path):
    path = write_lines(tmp_path, "s", *lines_of(opening(), prompt(words="word " * 100)))
    assert only(tmp_path).title == ("word " * 16).strip() + "…"
    with path.open("ab") as file:
        file.write(b'{"type":"ai-title","aiTitle":"By a program","sessionId":"s"}\n')
    assert only(tmp_path).title == "By a program"
    append_title(path, "  By a\nperson ")
    assert only(tmp_path).title == "By a person"


def test_a_key_in_a_first_prompt_is_in_no_title_and_in_no_snippet_not_even_half(tmp_path):
    key = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    words = f"{'x' * (MAX_TITLE_LENGTH - 15)} {key} parser"
    write_lines(tmp_path, "s", *lines_of(opening(), prompt(words=words)))
    with SessionIndex(tmp_path) as index:
        [card] = index.cards()
        [found] = index.search("parser").found
    assert "ghp_" not in card.title + found.hits[0].snippet


def test_an_excerpt_shows_no_half_of_a_colour(tmp_path):
    coloured = "word " * 30 + "\x1b[32mPASS\x1b[0m needle \x1b[1;31mFAIL\x1b[0m" + " word" * 30
    write_lines(tmp_path, "s", *lines_of(opening(), prompt(words=coloured)))
    with SessionIndex(tmp_path) as index:
        [found] = index.search("needle").found
    assert "PASS needle FAIL" in found.hits[0].snippet
    assert not re.search(r"\d+m", found.hits[0].snippet)


def test_names_are_written_as_other_programs_write_them_and_keep_the_sessions_age(tmp_path):
    path = write_lines(tmp_path, "s", *lines_of(opening(), prompt()), b'{"type":"cut')
    os.utime(path, (5, 5))
    append_title(path, 'Zoë "and" co')
    append_tag(path, "done")
    append_tag(path, "")
    assert path.read_bytes().splitlines()[-4:] == [
        b'{"type":"cut',
        '{"type":"custom-title","customTitle":"Zoë \\"and\\" co","sessionId":"s"}'.encode(),
        b'{"type":"tag","tag":"done","sessionId":"s"}',
        b'{"type":"tag","tag":"","sessionId":"s"}',
    ]
    assert path.stat().st_mtime == 5
    assert (only(tmp_path).title, only(tmp_path).told.tag) == ('Zoë "and" co', "")


def test_a_session_that_was_named_is_gone_on_with(tmp_path):
    journal = FileJournal(tmp_path / "s.jsonl", "s")
    journal.append(prompt("one"))
    append_title(tmp_path / "s.jsonl", "Named while open")
    journal.append(prompt("two"))
    journal.close()
    replay, warnings = load_session(tmp_path / "s.jsonl")
    assert ([message.id for message in replay.messages], warnings) == (["one", "two"], ())


RECORDS = st.one_of(
    st.builds(prompt, st.sampled_from("abc"), st.sampled_from(["mend it", "drop it", ""])),
    st.builds(
        answer, st.sampled_from("xyz"), st.sampled_from(["mended", "dropped"]), st.sampled_from(["", "m1", "m2"])
    ),
    st.builds(lambda id_: MessageRetracted(id=id_, cause="x"), st.sampled_from("abcxyz")),
    st.builds(
        lambda id_, usd: UsageCharged(purpose="main", model="m", usage=Usage(), usd=usd, request_id=id_),
        st.sampled_from(["", "r1", "r2"]),
        st.sampled_from([0.25, 0.5]),
    ),
    st.builds(lambda model: ModelChanged(before="", model=model, cause=""), st.sampled_from(["m", "n"])),
    st.just(QueryBegan(query_id="q", at=1.0, source="user", model="m")),
    st.just(QueryEnded(query_id="q", reason="completed")),
    st.just(opening()),
)
FOREIGN = st.sampled_from(
    [
        b'{"type":"custom-title","customTitle":"T"}\n',
        b'{"type":"tag","tag":"t"}\n',
        b'{"type":"summary","summary":7}\n',
        b"{broken\n",
        b"\0\0\0\n",
        b"\n",
        b"[]\n",
        b'"word"\n',
        b'{"type":"tag","tag":"\\ud800"}\n',
    ]
)
LINES = st.lists(st.one_of(RECORDS.map(lambda record: lines_of(record)[0]), RECORDS.map(encode_record), FOREIGN))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_an_index_that_grew_with_its_files_is_the_one_that_is_made_anew(tmp_path_factory, data):
    home = tmp_path_factory.mktemp("home")
    paths = [write_lines(home, name) for name in ("one", "two")]
    with SessionIndex(home) as growing:
        for time in range(data.draw(st.integers(1, 4))):
            for path in paths:
                old = path.read_bytes() if path.exists() else b""
                more = b"".join(data.draw(LINES))
                match data.draw(st.sampled_from(["grows", "grows", "torn", "replaced", "gone"])):
                    case "grows":
                        path.write_bytes(old + more)
                    case "torn":
                        path.write_bytes(old + more[: data.draw(st.integers(0, len(more)))])
                    case "replaced":
                        path.write_bytes(more)
                    case "gone":
                        path.unlink(missing_ok=True)
                        continue
                os.utime(path, (time, time))
            grown, found = growing.cards(), growing.search("mend")
        assert growing.notices == []
    with SessionIndex(home) as fresh:
        fresh.rebuild()
        assert (grown, found) == (fresh.cards(), fresh.search("mend"))
    for path in paths:
        if path.exists() and path.read_bytes().endswith(b"\n"):
            replay, _ = load_session(path)
            assert [card.told.usd for card in grown if card.path == str(path)] == [pytest.approx(replay.usd)]


def test_a_changed_file_is_read_from_where_it_was_left(tmp_path):
    path = write_lines(tmp_path, "s", *lines_of(opening(), prompt(words="x" * 1_000_000)))
    with SessionIndex(tmp_path, disk=(disk := CountingDisk())) as index:
        index.cards()
        whole = disk.read
        with path.open("ab") as file:
            file.write(lines_of(answer())[0])
        index.cards()
        assert index.cards()[0].told.turns == 1
    assert whole > 1_000_000
    assert disk.read - whole < 5_000


def test_a_list_and_a_search_without_changes_open_no_file(tmp_path):
    for number in range(20):
        write_lines(tmp_path, f"s{number}", *lines_of(opening(), prompt()))
    with SessionIndex(tmp_path) as index:
        before = (index.cards(), index.search("parser"))
    with SessionIndex(tmp_path, disk=(disk := CountingDisk())) as index:
        assert (index.cards(), index.search("parser")) == before
    assert disk.read == 0


def test_words_are_indexed_in_stretches_so_that_others_need_not_wait_long(tmp_path):
    said = [prompt(f"p{number}", f"word{number} " * 10_000) for number in range(200)]
    path = write_lines(tmp_path, "s", *lines_of(opening(), *said))
    assert path.stat().st_size > STRETCH
    with SessionIndex(tmp_path) as index:
        assert [index.search(f"word{number}").sessions for number in (0, 100, 199)] == [1, 1, 1]


class CountingDisk:
    """The real one; counts what is read, and cannot write at all."""

    def __init__(self):
        from everturn.sessions.disk import LocalDisk

        self._disk = LocalDisk()
        self.read = 0
        self.open_for_reading, self.size, self.close = self._disk.open_for_reading, self._disk.size, self._disk.close

    def pread(self, handle, size, at):
        data = self._disk.pread(handle, size, at)
        self.read += len(data)
        return data


@pytest.mark.parametrize("ruin", [b"no database at all", b"SQLite format 3\0" + b"\xff" * 5_000])
def test_an_index_that_was_ruined_is_made_anew_and_that_is_said(tmp_path, ruin):
    write_lines(tmp_path, "s", *lines_of(opening(), prompt()))
    before = list_all(tmp_path)
    (tmp_path / FILE_NAME).write_bytes(ruin)
    with SessionIndex(tmp_path) as index:
        assert index.cards() == before
        [notice] = index.notices
    assert "was built again" in notice
    with SessionIndex(tmp_path) as index:
        assert (index.cards(), index.notices) == (before, [])


def test_an_index_that_is_ruined_in_its_middle_is_made_anew_when_that_shows(tmp_path):
    for number in range(40):
        write_lines(tmp_path, f"s{number}", *lines_of(opening(), prompt(words=f"word{number} " * 500)))
    with SessionIndex(tmp_path) as index:
        found = index.search("word7")
    path = tmp_path / FILE_NAME
    content = bytearray(path.read_bytes())
    content[8_192:] = b"\xaa" * (len(content) - 8_192)
    path.write_bytes(content)
    with SessionIndex(tmp_path) as index:
        assert index.search("word7") == found
        assert len(index.notices) == 1


def test_an_index_of_another_version_is_made_anew(tmp_path):
    write_lines(tmp_path, "s", *lines_of(opening(), prompt()))
    before = list_all(tmp_path)
    base = sqlite3.connect(tmp_path / FILE_NAME)
    base.execute("ALTER TABLE files RENAME TO something")
    base.execute("PRAGMA user_version = 77")
    base.close()
    assert list_all(tmp_path) == before


def test_a_place_that_takes_no_index_is_no_reason_to_know_nothing(tmp_path):
    write_lines(tmp_path, "s", *lines_of(opening(), prompt()))
    (tmp_path / FILE_NAME).mkdir()
    with SessionIndex(tmp_path) as index:
        assert [card.id for card in index.cards()] == ["s"]
        assert index.search("parser").sessions == 1
        [notice] = index.notices
    assert "every session was read instead" in notice


def test_a_database_of_another_program_is_left_alone(tmp_path):
    write_lines(tmp_path, "s", *lines_of(opening(), prompt()))
    base = sqlite3.connect(tmp_path / FILE_NAME)
    base.execute("CREATE TABLE precious(data)")
    base.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    with SessionIndex(tmp_path) as index:
        assert [card.id for card in index.cards()] == ["s"]
        assert "it is a database of another program" in index.notices[0]
        with pytest.raises(JournalError, match="database of another program"):
            index.rebuild()
    assert (tmp_path / FILE_NAME).read_bytes() == before


def test_the_index_is_its_owners_alone_and_a_home_that_is_not_there_is_not_made(tmp_path):
    assert list_all(tmp_path / "nowhere") == []
    assert not (tmp_path / "nowhere").exists()
    write_lines(tmp_path, "s", *lines_of(opening(), prompt()))
    with SessionIndex(tmp_path) as index:
        index.cards()
        files = [path for path in tmp_path.iterdir() if path.name.startswith(FILE_NAME)]
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_two_programs_may_use_it_at_once(tmp_path):
    path = write_lines(tmp_path, "s", *lines_of(opening(), prompt()))
    with SessionIndex(tmp_path) as one, SessionIndex(tmp_path) as other:
        assert one.cards() == other.cards()
        with path.open("ab") as file:
            file.write(b"".join(lines_of(answer("a1"), answer("a2"))))
        assert one.cards() == other.cards()
        assert other.cards()[0].told.turns == 2


def test_what_is_no_session_is_passed_over(tmp_path):
    path = write_lines(tmp_path, "s", *lines_of(opening(), prompt()))
    (path.parent / "link.jsonl").symlink_to(path)
    (path.parent / "folder.jsonl").mkdir()
    (path.parent / ".hidden.jsonl").write_bytes(b"{}\n")
    (path.parent / "notes.txt").write_bytes(b"{}\n")
    agents = path.parent / "s" / "subagents"
    agents.mkdir(parents=True)
    (agents / "agent-1.jsonl").write_bytes(b"{}\n")
    assert [card.id for card in list_all(tmp_path)] == ["s"]


@pytest.mark.parametrize("full_text", [True, False])
def test_prompts_answers_and_results_are_searched(tmp_path, full_text):
    result = Message(id="r", role="user", kind=Kind.RESULTS, blocks=(result_block("t", "42 passed in Zürich"),))
    hidden = Message(id="h", role="user", kind=Kind.HIDDEN, blocks=(text_block("go on, parser"),))
    write_lines(
        tmp_path,
        "s",
        *lines_of(opening(), prompt(), answer(words="Run 100% of_it"), record_message(result), record_message(hidden)),
    )
    write_lines(
        tmp_path, "other", *lines_of(opening(folder="/there"), prompt(words="パーサーを直す parser")), folder="/there"
    )

    with SessionIndex(tmp_path, full_text=full_text) as index:

        def speakers(query, **settings):
            return [(each.card.id, hit.speaker) for each in index.search(query, **settings).found for hit in each.hits]

        assert sorted(speakers("parser")) == [("other", "prompt"), ("s", "prompt")]
        assert speakers("parser", folder="/here") == [("s", "prompt")]
        assert speakers("PASSED 42") == [("s", "result")]
        assert speakers('"mend the"') == [("s", "prompt")]
        assert speakers('"the mend"') == []
        assert speakers("100% of_it") == [("s", "answer")]
        assert speakers("パーサー") == [("other", "prompt")]
        assert speakers("zür") == [("s", "result")]
        assert speakers("mended") == speakers('" * -') == speakers("") == []
        assert index.search("parser", most=1).sessions == 2


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_whatever_is_searched_for_is_no_error(tmp_path_factory, query):
    home = tmp_path_factory.getbasetemp() / "asked"
    write_lines(home, "s", *lines_of(opening(), prompt()))
    with SessionIndex(home) as index:
        index.search(query)
        assert index.notices == []


def test_a_line_that_is_far_too_long_hides_nothing_else(tmp_path):
    path = write_lines(tmp_path, "s", *lines_of(opening(), prompt()))
    with path.open("ab") as file:
        file.truncate(path.stat().st_size + (1 << 27))
        file.seek(0, os.SEEK_END)
        file.write(b"\n")
        file.write(lines_of(answer())[0])
    assert only(tmp_path).told.turns == 1
    append_title(path, "Still here")
    assert only(tmp_path).title == "Still here"
    assert len(list(list_session_files(tmp_path))) == 1


@given(st.lists(st.text("ab-", min_size=1, max_size=12), min_size=1, unique=True))
def test_a_short_id_means_one_session_only(ids):
    short = plan_short_ids(ids, least=2)
    for id_, begun in short.items():
        assert id_.startswith(begun)
        assert begun == id_ or [other for other in ids if other.startswith(begun)] == [id_]

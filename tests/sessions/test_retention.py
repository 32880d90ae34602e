"""Which session is meant, and which ones go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.errors import JournalError
from everturn.sessions.index.card import Card, Gathered
from everturn.sessions.index.name_lookup import judge_name
from everturn.sessions.index.removal import Retention, SizedSession, load_weights, plan_removal, remove_session
from everturn.sessions.journal import FileJournal


def card(id_, title="", *, folder="/here", written=0.0, opened=False, **told):
    fields = {"ours": True, "folder": folder, "custom_title": title, "messages": 1} | told
    return Card(path=f"/home/{id_}.jsonl", size=10, written=written, opened=opened, told=Gathered(**fields))


CARDS = [
    card("abc-1", "Parser rewrite"),
    card("abc-2", "Parser"),
    card("xyz", "Tests"),
    card("there", "Tests", folder="/there"),
    card("twin", "Twin", folder="/there"),
    card("lonely", "Twin", folder="/there"),
    card("parser", "Something else"),
]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("abc-1", ["abc-1"]),
        ("parser", ["parser"]),
        ("Parser", ["abc-2"]),
        ("xy", ["xyz"]),
        ("abc", ["abc-1", "abc-2"]),
        ("tests", ["xyz"]),
        ("Twin", ["twin", "lonely"]),
        ("parser re", ["abc-1"]),
        ("REWRITE", ["abc-1"]),
        ("nothing", []),
        ("  ", []),
        ("latest", ["abc-1"]),
    ],
)
def test_what_is_said_more_exactly_wins_and_then_what_lies_here(name, meant):
    assert [found.id for found in judge_name(CARDS, name, "/here").cards] == meant


def test_the_latest_is_one_of_this_folder_in_which_something_was_said():
    cards = [card("empty", messages=0), card("far", folder="/there"), card("near"), card("old")]
    assert [found.id for found in judge_name(cards, "latest", "/here").cards] == ["near"]
    assert judge_name(cards, "latest", "/nowhere").cards == ()


WEIGHED = st.lists(
    st.builds(
        lambda number, size, written, opened, ours, newer: SizedSession(
            card=card(f"s{number}", written=written, opened=opened, ours=ours, newer=newer), size=size
        ),
        st.integers(0, 999),
        st.integers(0, 100),
        st.integers(0, 100),
        st.booleans(),
        st.booleans(),
        st.sampled_from([0, 0, 3]),
    ),
    unique_by=lambda each: each.card.id,
)
MAYBE = st.none() | st.integers(0, 150)


@given(WEIGHED, MAYBE, MAYBE, MAYBE)
def test_no_session_goes_that_is_in_use_or_not_ours_and_none_without_a_reason(sessions, age, size, total):
    chosen = plan_removal(sessions, Retention(older_than_s=age, larger_than=size, keep_total=total), now=100.0)
    assert all(each.card.told.ours and not each.card.opened and not each.card.told.newer for each in chosen)
    assert [each.card.written for each in chosen] == sorted(each.card.written for each in chosen)
    for each in chosen:
        if total is None:
            assert age is None or 100 - each.card.written > age
            assert size is None or each.size > size
            assert (age, size) != (None, None)
    left = [each for each in sessions if each not in chosen]
    if total is not None and sum(each.size for each in left) > total:
        assert not [each for each in left if each.card.told.ours and not each.card.opened and not each.card.told.newer]


def test_a_session_is_weighed_and_removed_with_all_that_belongs_to_it_and_nothing_else(tmp_path):
    path, other = tmp_path / "s.jsonl", tmp_path / "s2.jsonl"
    path.write_bytes(b"x" * 10)
    other.write_bytes(b"kept")
    (tmp_path / "s" / "blobs").mkdir(parents=True)
    (tmp_path / "s" / "blobs" / "one").write_bytes(b"y" * 90)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_bytes(b"z" * 1_000)
    (tmp_path / "s" / "link").symlink_to(outside)
    mine = Card(path=str(path), size=10, written=0.0, told=Gathered(ours=True))
    assert load_weights([mine])[0].size == 100
    remove_session(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["outside", "s2.jsonl"]
    assert (outside / "precious").exists()


def test_a_session_that_was_opened_meanwhile_stays(tmp_path):
    journal = FileJournal(tmp_path / "s.jsonl", "s")
    with pytest.raises(JournalError, match="is open elsewhere"):
        remove_session(tmp_path / "s.jsonl")
    journal.close()
    remove_session(tmp_path / "s.jsonl")
    with pytest.raises(JournalError, match="cannot be removed"):
        remove_session(tmp_path / "s.jsonl")

"""Options and journal agree on what a session id is."""

from hypothesis import example, given
from hypothesis import strategies as st

from everturn.sessions.places import is_session_id
from everturn.settings.checks import session_id


@given(st.one_of(st.text(max_size=140), st.from_regex(r"[A-Za-z0-9._/\\-]{0,130}", fullmatch=True)))
@example("../../etc/passwd")
@example("a/b")
@example("..")
@example("")
@example("a\n")
@example("a" * 128)
@example("a" * 129)
def test_options_refuse_exactly_the_ids_that_the_journal_refuses(text):
    assert (session_id(text) is None) == is_session_id(text)


def test_no_id_leaves_the_folder():
    assert not any(map(is_session_id, ("..", ".", "a/b", "a\\b", "", "\0", "-rf", "a\n", "é")))

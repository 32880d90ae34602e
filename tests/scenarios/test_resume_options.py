"""Which session is gone on with, from where, and under which id."""

import os

import pytest

from everturn import Engine
from everturn.core.errors import JournalError, OptionError
from everturn.core.messages import Kind
from everturn.modelserver import call, text
from everturn.sessions.session_files import load_session


async def two_answers(bench, **options):
    """Two prompts with an answer each, the first with a tool round."""
    path = bench.folder / "a.txt"
    path.write_text("alpha\n")
    bench.model(call("Write", {"file_path": str(bench.folder / "b.txt"), "content": "b"}), text("One."), text("Two."))
    engine = bench.engine(permission_mode="acceptEdits", **options)
    await bench.go_on(engine, "First.")
    await bench.go_on(engine, "Second.")
    await engine.aclose()
    return engine


async def test_a_session_resumed_at_a_message_knows_nothing_of_what_came_after(bench):
    before = await two_answers(bench)
    resumed = bench.engine(resume=before.session_id, resume_at=before.transcript[3].id)
    assert resumed.transcript == before.transcript[:4]
    bench.model(text("Another two."))
    await bench.go_on(resumed, "Otherwise.")

    assert "Second." not in str(bench.sent[-1])
    assert "One." in str(bench.sent[-1])


async def test_a_later_resume_sees_the_same(bench):
    before = await two_answers(bench)
    resumed = bench.engine(resume=before.session_id, resume_at=before.transcript[3].id)
    bench.model(text("Another two."), text("Three."))
    await bench.go_on(resumed, "Otherwise.")
    await resumed.aclose()
    again = bench.engine(resume=before.session_id)

    assert again.transcript == resumed.transcript
    assert again.total_usd == pytest.approx(resumed.total_usd)
    assert b"Second." in bench.session_file(before.session_id).read_bytes()


async def test_the_message_may_be_named_as_the_api_named_it(bench):
    before = await two_answers(bench)
    named = before.transcript[3].answer.api_id

    assert bench.engine(resume=before.session_id, resume_at=named).transcript == before.transcript[:4]


async def test_resumed_at_an_answer_with_calls_their_outcome_is_unknown(bench):
    before = await two_answers(bench)
    assert before.transcript[1].uses
    resumed = bench.engine(resume=before.session_id, resume_at=before.transcript[1].id)
    bench.model(text("I will look."))
    await bench.go_on(resumed)

    bench.assert_settled(resumed)
    told = bench.sent[-1][-1]["content"][0]
    assert told["is_error"]
    assert f"Read {bench.folder / 'b.txt'} to see whether the change is there" in told["content"]


async def test_a_message_that_is_not_there_is_refused_and_the_session_stays_as_it_is(bench):
    before = await two_answers(bench)
    content = bench.session_file(before.session_id).read_bytes()
    with pytest.raises(JournalError, match="There is no message nobody in session"):
        bench.engine(resume=before.session_id, resume_at="nobody")
    assert bench.session_file(before.session_id).read_bytes() == content
    bench.engine(resume=before.session_id)


@pytest.mark.parametrize("at", [None, 3])
async def test_a_fork_goes_on_and_leaves_the_first_session_untouched(bench, at):
    before = await two_answers(bench)
    content = bench.session_file(before.session_id).read_bytes()
    wanted = None if at is None else before.transcript[at].id
    fork = bench.engine(resume=before.session_id, fork_session=True, resume_at=wanted)
    bench.model(text("Three."))
    await bench.go_on(fork, "Third.")

    assert fork.session_id != before.session_id
    kept = before.transcript if at is None else before.transcript[: at + 1]
    assert fork.transcript[: len(kept)] == kept
    prompt, attached, answer = fork.transcript[len(kept) :]
    assert (prompt.kind, attached.kind, answer.kind) == (Kind.PROMPT, Kind.ATTACHMENT, Kind.ANSWER)
    assert 'The system context "temporary folder" has changed' in attached.text
    assert bench.session_file(before.session_id).read_bytes() == content


async def test_a_fork_may_be_given_its_id(bench):
    before = await two_answers(bench)
    fork = bench.engine(resume=before.session_id, fork_session=True, session_id="mine")
    assert (fork.session_id, bench.session_file("mine").exists()) == ("mine", True)


async def test_what_a_fork_has_read_counts_as_read(bench):
    path = bench.folder / "a.txt"
    path.write_text("alpha\n")
    bench.model(call("Read", {"file_path": str(path)}), text("Read."))
    engine = bench.engine()
    await bench.go_on(engine)
    await engine.aclose()
    fork = bench.engine(resume=engine.session_id, fork_session=True, permission_mode="acceptEdits")
    bench.model(call("Write", {"file_path": str(path), "content": "beta\n"}), text("Done."))
    await bench.go_on(fork)

    assert path.read_text() == "beta\n"


async def test_the_newest_session_of_the_folder_is_continued(bench):
    first = await two_answers(bench, session_id="first")
    await two_answers(bench, session_id="second")
    later = bench.session_file("second").stat().st_mtime + 1
    os.utime(bench.session_file("first"), (later, later))
    assert bench.engine(continue_conversation=True).transcript == first.transcript


async def test_where_there_is_none_nothing_is_continued(bench):
    with pytest.raises(JournalError, match="There is no session to continue in"):
        bench.engine(continue_conversation=True)


async def test_a_session_is_found_by_the_beginning_of_its_id(bench):
    before = await two_answers(bench, session_id="parser-rewrite")
    assert bench.engine(resume="parser-re").transcript == before.transcript


async def test_a_new_session_never_takes_the_id_of_another(bench):
    await two_answers(bench, session_id="mine")
    content = bench.session_file("mine").read_bytes()
    with pytest.raises(JournalError, match="There is a session mine already"):
        bench.engine(session_id="mine")
    assert bench.session_file("mine").read_bytes() == content


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "..", "a\\b", "C:x", "-rf", "x" * 200])
async def test_an_id_that_could_lead_elsewhere_finds_nothing(bench, name):
    with pytest.raises(JournalError, match="There is no session"):
        bench.engine(resume=name)
    with pytest.raises(OptionError, match="session_id: must be letters"):
        bench.engine(session_id=name)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"fork_session": True}, "fork_session: needs resume or continue_conversation"),
        ({"resume_at": "m"}, "resume_at: needs resume or continue_conversation"),
        ({"resume": "a", "continue_conversation": True}, "continue_conversation: cannot be given together with resume"),
        ({"continue_conversation": True, "session_id": "a"}, "continue_conversation: cannot be given together"),
        ({"continue_conversation": True, "persist": False}, "continue_conversation: needs persist"),
    ],
)
async def test_options_that_contradict_each_other_are_refused(bench, options, problem):
    with pytest.raises(OptionError, match=problem):
        bench.options(**options)


async def test_of_two_that_resume_a_session_at_once_one_is_refused_and_told_how_to_fork(bench):
    before = await two_answers(bench)
    first = bench.engine(resume=before.session_id)
    with pytest.raises(
        JournalError, match=r"is open elsewhere\. Close it there first, or go on with a copy .*fork_session"
    ):
        Engine(bench.options(resume=before.session_id), env=bench.env)
    fork = bench.engine(resume=before.session_id, fork_session=True)

    assert fork.transcript == first.transcript == load_session(bench.session_file(before.session_id))[0].messages


async def test_nothing_is_gone_on_with_where_the_last_answer_is_complete(bench):
    before = await two_answers(bench)
    resumed = bench.engine(resume=before.session_id)
    assert not resumed.is_unfinished
    with pytest.raises(OptionError, match="there is nothing to go on with"):
        await anext(resumed.resume_query())

"""What no request has carried stays as it is, whatever the stages do; where the window cannot hold it, it is in a file."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.context.test_invariants import LIMITS, WINDOWS, check_view, resumed
from tests.context.transcripts import ScriptedAsk, answer, called, prompt, results, situation, transcripts

from everturn.context.carried import UNREAD, count_carried
from everturn.context.pipeline import ContextPipeline
from everturn.core.errors import FaultKind, ModelFault
from everturn.core.messages import UNSENT, Kind, Text, ToolResult, result_text
from everturn.core.records import ResultSpilled
from everturn.core.transcript import Abilities, normalise
from everturn.testing import CountingIds, MemoryShelf

MEANS = st.sampled_from(["prepare", "auto", "manual", "too_long", "drain"])
STRETCHES = st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)), max_size=4)
SUMMARIES = st.sampled_from(["Short.", "", FaultKind.SERVER, FaultKind.TOO_LONG])


TAILS = st.tuples(
    st.sampled_from([0, 0, 1, 3, 9]),
    st.sampled_from(["Read", "Bash", "Edit"]),
    st.sampled_from([300, 3_000, 30_000]),
    st.sampled_from([0, 3, 3_000]),
    st.booleans(),
)
"""A round of parallel results: how many, of which tool, how large each; then the size of the prompt that cuts it short, and its picture."""


def add_tail(talk, tail):
    count, name, size, asked, picture = tail
    uses = [f"last.{number}" for number in range(count)]
    said = [answer("last", "I look.", uses, name=name), results("lastr", uses, "r" * size)] if count else []
    return (*talk, *said, *([prompt("lastp", "p" * asked, picture=picture)] if asked else []))


def missing(view, unseen, shelf):
    """Blocks of these messages that are neither sent as they are nor in a file that the view names."""
    sent = {block.raw for wire in normalise(view, Abilities(model="m")) for block in wire.blocks}
    told = "\n".join(
        text for message in view for text in (message.text, *(result_text(result) for result in message.results))
    )
    for _ in shelf.files:
        # A file may hold a preview that names another one.
        told = "\n".join([told, *(text for path, text in shelf.files.items() if path in told and text not in told)])
    files = [text for path, text in shelf.files.items() if path in told]
    lost = []
    for block in (block for message in unseen for block in message.blocks):
        match block.view:
            case ToolResult() as result:
                text = result_text(result)
            case Text(text=text):
                pass
            case _:
                text = None
        if block.raw not in sent and not (text is not None and any(text in file for file in files)):
            lost.append(block)
    return lost


def sent_of(messages, whole):
    """Those that a request would hold: blank and unsent ones, and media that was refused before, are not looked for."""
    raws = {block.raw for wire in normalise(whole, Abilities(model="m")) for block in wire.blocks}
    return [
        message
        for message in messages
        if message.kind not in UNSENT and message.role == "user" and all(block.raw in raws for block in message.blocks)
    ]


@given(transcripts(), TAILS, STRETCHES, st.tuples(WINDOWS, LIMITS), st.tuples(MEANS, SUMMARIES))
@settings(max_examples=500, deadline=None)
def test_nothing_that_no_request_has_carried_goes_out_of_sight(talk, tail, stretches, limited, done):
    (window, limits), (means, summary) = limited, done
    talk, shelf = add_tail(talk, tail), MemoryShelf()
    said = ModelFault(summary, "no") if isinstance(summary, FaultKind) else summary
    pipeline, ask = ContextPipeline(ids=CountingIds("n"), shelf=shelf), ScriptedAsk(said)
    for first, last in stretches:
        pipeline.collapses.stage(talk[first % len(talk)].id, talk[last % len(talk)].id, "Short.")
    room = situation(window=window, **limits)
    match means:
        case "prepare":
            prepared = asyncio.run(pipeline.prepare(talk, room, ask))
        case "drain":
            prepared = pipeline.drain(talk)
        case cause:
            prepared = asyncio.run(pipeline.compact(talk, room, ask, cause=cause))

    carried = count_carried(talk)
    unseen = sent_of(talk[carried:], talk)
    if means == "too_long":
        # The refused request has carried the media; what is refused at last is taken out.
        unseen = [message for message in unseen if not any(block.media for block in message.blocks)]
    assert missing(prepared.messages, unseen, shelf) == []
    if means == "prepare" and not prepared.compacted:
        assert [message for message in talk[carried : carried + 1] if message not in prepared.messages] == []
    check_view(prepared.messages, talk)
    assert resumed(pipeline, talk, prepared) == prepared.messages
    assert {spilled.path for spilled in prepared.spilled} == set(shelf.files)


def reads(first, count, size):
    uses = [f"t{number}" for number in range(first, first + count)]
    return answer(f"a{first}", "I look.", uses), results(f"r{first}", uses, "x" * size)


def prepare(talk, shelf=None, ask=None, **fields):
    pipeline = ContextPipeline(ids=CountingIds("n"), shelf=shelf)
    return asyncio.run(pipeline.prepare(talk, situation(**fields), ask or ScriptedAsk("Short.")))


def test_of_two_rounds_of_large_reads_none_of_the_second_is_cleared_and_of_the_first_the_oldest_as_far_as_needed():
    talk = (prompt("p"), *reads(0, 9, 30_000), *reads(9, 7, 30_000))

    prepared = prepare(talk, window=200_000, clear_gain=0.05, clear_worth=0, clear_share=0.75)

    assert list(prepared.cleared.lines) == ["t0", "t1"]
    assert prepared.messages[4:] == talk[4:]
    assert prepared.tokens <= 150_000


def test_results_that_the_window_cannot_hold_go_into_files_largest_first_and_the_record_names_these():
    shelf, uses = MemoryShelf(), ["t1", "t2"]
    last = results("r1", uses[:1], "x" * 60_000)
    both = Kind.RESULTS, (*last.blocks, *results("r2", uses[1:], "y" * 6_000).blocks)
    talk = (prompt("p"), answer("a1", "I look.", uses), type(last)(id="r1", role="user", kind=both[0], blocks=both[1]))

    prepared = prepare(talk, shelf, ScriptedAsk(ModelFault(FaultKind.SERVER, "nobody is asked")), window=20_000)

    [path] = shelf.files
    assert shelf.files == {path: "x" * 60_000}
    assert prepared.spilled == (ResultSpilled(path=path, characters=60_000),)
    assert path in result_text(prepared.messages[2].results[0])
    assert prepared.messages[2].blocks[1] == talk[2].blocks[1]
    assert [(change.stage, change.cause) for change in prepared.changes] == [("tool_results", "no_room")]


def test_what_cannot_be_put_into_a_file_stays():
    talk = (prompt("p"), *reads(0, 1, 60_000))
    assert prepare(talk, None, window=20_000).messages == talk


def test_a_round_that_was_cut_short_is_not_summed_up_before_the_model_has_read_its_results():
    work = called(1, "Read", {"file_path": "/p/1.py"}, "x" * 3_000)
    talk = (prompt("p1"), answer("a0", "y" * 9_000), *work, prompt("p2"))
    pipeline = ContextPipeline(ids=CountingIds("n"))
    pipeline.collapses.stage("a1", "r1", "Looked.")
    for means in (
        pipeline.drain(talk),
        asyncio.run(pipeline.prepare(talk, situation(window=5_000, collapse_share=0), ScriptedAsk("Short."))),
        asyncio.run(pipeline.prepare(talk, situation(snip_tokens=500), ScriptedAsk("Short."))),
    ):
        assert means.messages[-3:] == talk[-3:]


def test_the_answer_that_the_next_prompt_is_about_stays_word_for_word():
    talk = (prompt("p1", "x" * 30_000), answer("a1", "First or second?"), prompt("p2", "The second."))
    prepared = prepare(talk, window=10_000)
    assert (prepared.compacted, prepared.messages[1:]) == (True, talk[1:])


def test_after_a_refusal_what_has_to_go_unread_is_in_a_file_that_the_summary_names():
    shelf, talk = MemoryShelf(), (prompt("p"), *called(1, "Read", {"file_path": "/p/1.py"}, "needle"))
    pipeline = ContextPipeline(ids=CountingIds("n"), shelf=shelf)

    prepared = asyncio.run(pipeline.compact(talk, situation(), ScriptedAsk("Short."), cause="too_long"))

    [path] = shelf.files
    assert shelf.files[path] == "needle"
    assert prepared.messages[0].blocks[-2].view.text.startswith(UNREAD.partition("{")[0])
    assert path in prepared.messages[0].text


def test_where_the_api_clears_it_keeps_at_least_what_it_has_not_carried():
    talk = (prompt("p"), *reads(0, 12, 300))
    room = situation()
    card = type(room.card)(id="m", window=200_000, max_output=1_000, clears_results=True)
    room = type(room)(**{name: getattr(room, name) for name in room.__struct_fields__} | {"card": card})
    pipeline = ContextPipeline(ids=CountingIds("n"))
    keep = [
        asyncio.run(pipeline.prepare(view, room, ScriptedAsk())).clearing.keep for view in (talk, (*talk, answer("b")))
    ]
    assert keep == [12, room.limits.clear_keeps]

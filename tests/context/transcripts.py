"""Random transcripts as a session could have written them, and the few words to write one by hand."""

import msgspec
from hypothesis import strategies as st

from everturn.core.budget import Usage
from everturn.core.errors import ModelFault
from everturn.core.limits import Limits
from everturn.core.messages import Answer, Kind, Message, encode_block, result_block, text_block
from everturn.core.notes import Notes
from everturn.core.tokens import Meter
from everturn.core.transcript import unanswered
from everturn.ports.ask import Question, Reply
from everturn.ports.context import Situation, Tracking
from everturn.ports.model import ModelCard

PICTURE = encode_block({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}})


def prompt(id_, text="do it", *, picture=False):
    blocks = (text_block(text), PICTURE) if picture else (text_block(text),)
    return Message(id=id_, role="user", kind=Kind.PROMPT, blocks=blocks)


def answer(id_, text="I will.", uses=(), *, name="Read", input_=None, thought=""):
    calls = tuple(
        encode_block({"type": "tool_use", "id": use, "name": name, "input": {} if input_ is None else input_})
        for use in uses
    )
    stop = "tool_use" if uses else "end_turn"
    thoughts = (encode_block({"type": "thinking", "thinking": thought, "signature": "s"}),) if thought else ()
    blocks = (*thoughts, *((text_block(text),) if text else ()), *calls)
    return Message(
        id=id_, role="assistant", kind=Kind.ANSWER, blocks=blocks, answer=Answer(asked="m", model="m", stop_reason=stop)
    )


def results(id_, uses, text="content", *, picture=False, is_error=False):
    content = [{"type": "text", "text": text}]
    if picture:
        content.append(msgspec.json.decode(PICTURE.raw))
    blocks = tuple(result_block(use, content if picture else text, is_error=is_error) for use in uses)
    return Message(id=id_, role="user", kind=Kind.RESULTS, blocks=blocks)


def note(id_, kind, text="by the way", **fields):
    return Message(id=id_, role="user", kind=kind, blocks=(text_block(text),), **fields)


def round_of(number, *, size=0, uses=1):
    """One answer with its calls, and their results; `size` characters each."""
    ids = [f"t{number}.{n}" for n in range(uses)]
    return (answer(f"a{number}", "I look.", ids), results(f"r{number}", ids, "x" * size))


def called(number, name, input_, text="done", *, is_error=False, thought=""):
    """One answer with one call, and its result."""
    use = f"t{number}"
    return (
        answer(f"a{number}", "", [use], name=name, input_=input_, thought=thought),
        results(f"r{number}", [use], text, is_error=is_error),
    )


def situation(
    *,
    window=200_000,
    fixed=0,
    meter=None,
    tracking=None,
    output_cap=0,
    is_compaction=False,
    is_cold=False,
    notes=None,
    **limits,
):
    return Situation(
        notes=notes or Notes(),
        small_model="small",
        card=ModelCard(id="m", window=window, max_output=64_000),
        limits=Limits(**limits),
        fixed_tokens=fixed,
        output_cap=output_cap,
        meter=None if meter is None else Meter(tokens=meter[0], messages=meter[1]),
        tracking=tracking or Tracking(),
        is_compaction=is_compaction,
        is_cold=is_cold,
    )


class ScriptedAsk:
    """Answers with texts, replies or faults in turn, then with the last; keeps the questions."""

    def __init__(self, *answers):
        self._answers = list(answers) or ["It was about files."]
        self.questions: list[Question] = []

    async def ask(self, question):
        self.questions.append(question)
        said = self._answers[min(len(self.questions), len(self._answers)) - 1]
        if isinstance(said, ModelFault):
            raise said
        return said if isinstance(said, Reply) else Reply(text=said, stop_reason="end_turn", usage=Usage(output=1))


ACTS = ["prompt", "tools", "tools", "answer", "hidden", "side", "late"]
CALLS = st.sampled_from(
    [
        ("Read", {"file_path": "/p/a.py"}),
        ("Grep", {"pattern": "a"}),
        ("Bash", {"command": "make test"}),
        ("Edit", {"file_path": "/p/a.py"}),
        ("AskUserQuestion", {}),
        ("TodoWrite", {"todos": []}),
    ]
)
SIZES = st.sampled_from([3, 40, 400, 3_000])


@st.composite
def transcripts(draw, *, max_acts=12):
    """Prompts, rounds with calls, answers, nudges, notices, even a result that comes late; a prompt is first."""
    said = [prompt("m0", "p" * draw(SIZES), picture=draw(st.booleans()))]
    for act in draw(st.lists(st.sampled_from(ACTS), max_size=max_acts)):
        at = f"m{len(said)}"
        size = draw(SIZES)
        match act:
            case "prompt":
                said.append(prompt(at, "p" * size, picture=draw(st.booleans())))
            case "tools":
                uses = [f"{at}.{n}" for n in range(draw(st.integers(1, 3)))]
                name, input_ = draw(CALLS)
                words, thought = ("a" * size if draw(st.booleans()) else ""), draw(st.sampled_from(["", "", "Hm."]))
                said.append(answer(at, words, uses, name=name, input_=input_, thought=thought))
                failed, picture = draw(st.booleans()), draw(st.booleans())
                told = results(f"m{len(said)}", uses, "r" * draw(SIZES), picture=picture, is_error=failed)
                said.append(told)
            case "late":
                said += [answer(at, uses=[at]), note(f"{at}h", Kind.HIDDEN), answer(f"{at}b", "b" * size)]
                said.append(results(f"{at}r", [at]))
            case "answer":
                said.append(answer(at, "a" * size))
            case "hidden":
                said.append(note(at, draw(st.sampled_from([Kind.HIDDEN, Kind.ATTACHMENT, Kind.LOCAL])), "h" * size))
            case "side":
                blamed = (draw(st.sampled_from(said)).id,) if draw(st.booleans()) else ()
                said.append(note(at, Kind.NOTICE, blames=blamed))
    return tuple(said)


def parted_pairs(messages):
    """Uses that have no result here, and results that have no use."""
    used = {use.id for message in messages for use in message.uses}
    answered = {result.tool_use_id for message in messages for result in message.results}
    assert {use.id for use in unanswered(messages)} == used - answered
    return used ^ answered

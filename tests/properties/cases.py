"""Random cases: what the model plays, how the engine is set up, and when somebody interferes."""

import msgspec
from hypothesis import strategies as st
from tests.properties.scenes import Break, Carry, Say, Scene, Think, Use

from everturn.core.errors import FaultKind
from everturn.core.state import AbortCause

TOOLS = ("Read", "Read", "Stare", "Write", "Write", "Post", "Forbidden", "Unheard-of")
INPUTS = (
    "{}",
    '{"ticks":2}',
    '{"ticks":40}',
    '{"outcome":"raise"}',
    '{"outcome":"fault"}',
    '{"outcome":"picture"}',
    '{"outcome":"nothing"}',
    '{"ticks":"many"}',
    '{"ticks":1',
    "[]",
    "",
)
IDS = (None, None, None, "toolu_1", "toolu_same", "", "odd id!")
TEXTS = ("Hello there.", "Hello there. And so on. \n", " \n", "")
STOPS = (
    *("end_turn", "end_turn", "tool_use", "tool_use", "max_tokens", "max_tokens"),
    *("refusal", "pause_turn", "stop_sequence", "model_context_window_exceeded", None),
)
PASSING = (FaultKind.OVERLOADED, FaultKind.RATE_LIMITED, FaultKind.SERVER, FaultKind.CONNECTION, FaultKind.STALLED)
LASTING = (FaultKind.AUTHENTICATION, FaultKind.FALLBACK, FaultKind.MODEL_NOT_FOUND)
MENDABLE = (FaultKind.SIGNATURE, FaultKind.PAIRING, FaultKind.TOO_LONG, FaultKind.MEDIA)


class Knobs(msgspec.Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """How the engine is set up."""

    streaming_tools: bool = True
    pace: int = 0
    """Passes of the event loop before each event of a stream."""
    fallbacks: int = 0
    tiny: bool = False
    """The window holds next to nothing, so that it fills."""
    snip_tokens: int = 0
    clears: bool = False
    """Every result that can go stale does so at once."""
    spills: bool = False
    """Every result is too large."""
    thinking: bool = False
    summaries: bool = False
    strict: bool = False
    """The answer must be `All is well.`, as if a schema said so."""
    max_turns: int = 0
    work_budget: int = 0
    escalate: bool = True
    reactive_compact: bool = True
    auto_compact: bool = True
    max_usd: float = 0.0
    max_tool_calls: int = 0
    max_repeated_calls: int = 20
    max_wall_s: float = 0.0
    tries: int = 2
    concurrency: int = 10


class Point(msgspec.Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """When somebody interferes: at the n-th event shown, record written, event streamed, or run of a tool."""

    at: str
    nth: int
    do: str = "abort"
    cause: AbortCause = AbortCause.USER


class Turn(msgspec.Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """One prompt and what it meets. A script at its end says that all is well, or with `encore` repeats its last scene."""

    script: tuple[Scene, ...] = ()
    encore: bool = False
    sides: tuple[Scene, ...] = ()
    """What side questions (summaries) are answered with."""
    picture: bool = False
    stops: tuple[str, ...] = ()
    """What stop hooks say, one after the other; then they pass, or with `encore` repeat the last."""
    posts: tuple[str, ...] = ()
    point: Point | None = None
    collapse: tuple[int, int] | None = None
    """Stage a collapse from one round of the transcript to another, before the prompt."""


class Case(msgspec.Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """Its turns, and then one more prompt with a plain good model."""

    turns: tuple[Turn, ...]
    knobs: Knobs = Knobs()


def once_in(times, value, otherwise):
    return st.sampled_from((otherwise,) * (times - 1) + (value,))


def pausing_as_the_api_does(scene):
    """The API pauses in the midst of its own tools, or of a text."""
    ends_in_text = any(isinstance(block, Say) and block.text.strip() for block in scene.blocks[-1:])
    if scene.stop != "pause_turn" or ends_in_text or any(isinstance(block, Use) for block in scene.blocks):
        return scene
    return msgspec.structs.replace(scene, blocks=(*scene.blocks, Carry("server_tool_use")))


plain_uses = st.builds(Use, st.sampled_from(("Read", "Read", "Stare", "Write", "Post")), st.sampled_from(INPUTS[:4]))
odd_uses = st.builds(Use, st.sampled_from(TOOLS), st.sampled_from(INPUTS), st.sampled_from(IDS))
blocks = st.one_of(
    st.builds(Say, st.sampled_from(TEXTS)),
    st.builds(Think, st.sampled_from(("Hm.", "Let me see.")), st.booleans()),
    st.builds(Carry, st.sampled_from(("server_tool_use", "web_search_tool_result", "redacted_thinking", "novelty"))),
    plain_uses,
    odd_uses,
)
breaks = st.builds(
    Break,
    st.sampled_from((0, 0, 1, 3, 4, 5, 6, 7, 9, 12)),
    st.sampled_from((None, *PASSING, *PASSING, *MENDABLE, *MENDABLE, *LASTING)),
)
tool_rounds = st.builds(Scene, blocks=st.lists(plain_uses, min_size=1, max_size=3).map(tuple), stop=st.just("tool_use"))
refusals = st.builds(Scene, breaks=st.builds(Break, st.just(0), st.sampled_from((*PASSING[:1] * 2, *MENDABLE))))
surprises = st.builds(
    Scene,
    blocks=st.lists(blocks, max_size=4).map(tuple),
    stop=st.sampled_from(STOPS),
    breaks=st.one_of(st.none(), breaks),
    output=st.sampled_from((1, 1, 1, 2, 3, 10_000_000, None)),
    input=once_in(8, 10_000_000, 10),
).map(pausing_as_the_api_does)
scenes = st.one_of(tool_rounds, surprises, surprises, refusals)
points = st.one_of(
    st.builds(
        Point,
        at=st.sampled_from(("event", "record", "stream")),
        nth=st.integers(1, 40),
        do=st.sampled_from(("abort", "abort", "abort", "enqueue", "collapse")),
        cause=st.sampled_from(AbortCause),
    ),
    st.builds(Point, at=st.just("run"), nth=st.integers(1, 4), do=st.sampled_from(("abort", "abort", "collapse"))),
    st.builds(Point, at=st.just("event"), nth=st.integers(1, 40), do=st.sampled_from(("close", "abort"))),
)
knobs = st.builds(
    Knobs,
    streaming_tools=once_in(3, value=False, otherwise=True),
    pace=st.sampled_from((0, 1, 3)),
    fallbacks=st.sampled_from((0, 1, 2)),
    tiny=once_in(4, value=True, otherwise=False),
    snip_tokens=once_in(5, 60, 0),
    clears=once_in(4, value=True, otherwise=False),
    spills=once_in(6, value=True, otherwise=False),
    thinking=st.booleans(),
    summaries=once_in(6, value=True, otherwise=False),
    strict=once_in(12, value=True, otherwise=False),
    max_turns=st.sampled_from((0, 0, 0, 2, 4)),
    work_budget=once_in(6, 8, 0),
    escalate=st.booleans(),
    reactive_compact=st.booleans(),
    auto_compact=st.booleans(),
    max_usd=once_in(12, 0.0005, 0.0),
    max_tool_calls=st.sampled_from((0,) * 10 + (1, 3)),
    max_repeated_calls=once_in(4, 2, 20),
    max_wall_s=once_in(20, 1.0, 0.0),
    tries=st.sampled_from((1, 2, 3)),
    concurrency=st.sampled_from((1, 2, 10)),
)
turns = st.builds(
    Turn,
    script=st.lists(scenes, max_size=5).map(tuple),
    encore=once_in(4, value=True, otherwise=False),
    sides=st.one_of(st.just(()), st.lists(surprises, max_size=2).map(tuple)),
    picture=once_in(5, value=True, otherwise=False),
    stops=st.lists(st.sampled_from(("pass", "pass", "block", "block", "prevent", "both")), max_size=3).map(tuple),
    posts=st.lists(st.sampled_from(("", "", "note", "stop")), max_size=3).map(tuple),
    point=st.one_of(st.none(), points),
    collapse=st.one_of(st.none(), st.tuples(st.integers(0, 9), st.integers(0, 9))),
)


def with_an_end(case):
    """A model that asks for tools again and again is stopped by a limit, or not at all."""
    if case.knobs.max_turns or not any(turn.encore for turn in case.turns):
        return case
    limited = msgspec.structs.replace(case.knobs, max_tool_calls=case.knobs.max_tool_calls or 5)
    return msgspec.structs.replace(case, knobs=limited)


cases = st.builds(Case, turns=st.lists(turns, min_size=1, max_size=2).map(tuple), knobs=knobs).map(with_an_end)

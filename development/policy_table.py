"""The policy as tables for a reader, learnt from what it decides; the exploration writes them into the manual."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, get_args

import msgspec

from everturn.core.budget import judge_work
from everturn.core.decide import AnyOutcome, Continue, Decision, Do
from everturn.core.limits import Limits
from everturn.core.outcomes import LimitReached, StopPassed
from everturn.core.state import Guards, Phase, Transition
from everturn.testing.explore import Edge, render_decision, walk
from everturn.testing.samples import WithGoal

MIN_COUNT = Limits(output_recoveries=1, stop_hook_blocks=1, pauses=1, media_drops=2)
WORK = msgspec.structs.replace(MIN_COUNT, work_budget=2, work_min_gain=1, work_min_continuations=1)
WALKED = (
    Limits(output_recoveries=2, stop_hook_blocks=2, pauses=2, media_drops=3),
    msgspec.structs.replace(MIN_COUNT, max_turns=3),
    msgspec.structs.replace(MIN_COUNT, escalate=False),
    msgspec.structs.replace(MIN_COUNT, reactive_compact=False, media_drops=1),
    WORK,
    msgspec.structs.replace(WORK, max_turns=2),
    WithGoal(goal_attempts=3, output_recoveries=1, stop_hook_blocks=1, pauses=1, media_drops=2),
)
"""Small limits decide as large ones do, only sooner."""
USUAL = Limits()


class Fact(NamedTuple):
    """Something a decision may hang on."""

    holds: Callable[[Guards, AnyOutcome, Limits], bool]
    yes: str
    no: str


def flag(name: str, yes: str, no: str) -> Fact:
    """A field of the outcome; an outcome without it counts as no."""
    return Fact(lambda _, outcome, __: bool(getattr(outcome, name, False)), yes, no)


def is_diminishing(guards: Guards, outcome: AnyOutcome, limits: Limits) -> bool:
    if not isinstance(outcome, StopPassed) or not limits.work_budget:
        return False
    return judge_work(
        guards.work,
        spent=outcome.spent,
        budget=limits.work_budget,
        threshold=limits.work_threshold,
        min_gain=limits.work_min_gain,
        min_continuations=limits.work_min_continuations,
    ).diminishing


FACTS = (
    Fact(
        lambda _, outcome, __: getattr(outcome, "phase", None) is Phase.TOOLS,
        "while tools ran",
        "while the model was streaming",
    ),
    flag("stopped_by_hook", "a hook ended the query", "no hook ended the query"),
    flag("deferred", "a hook deferred the call", "no hook deferred the call"),
    flag("can_grow", "the model takes a larger cap", "the model takes no larger cap"),
    flag("staged", "collapses wait to be applied", "no collapse waits"),
    flag("committed", "at least one was applied", "none was applied"),
    flag("worked", "it worked", "it did not work"),
    flag("media", "media was refused", "the length was refused"),
    flag("unfit", "the answer does not fit its schema", "the answer may stand"),
    flag("stuck", "the third time in a row with the same output", "not the third time with the same output"),
    flag("may_continue", "main thread, and no stop sequence was met", "a subagent, or a stop sequence was met"),
    Fact(lambda _, __, limits: limits.escalate, "escalation is on", "escalation is off"),
    Fact(
        lambda guards, _, __: guards.max_output_override is None, "no override is in force", "an override is in force"
    ),
    Fact(
        lambda guards, _, limits: guards.output_recoveries < limits.output_recoveries,
        f"fewer than {USUAL.output_recoveries} resumes",
        f"{USUAL.output_recoveries} resumes already",
    ),
    Fact(
        lambda guards, _, __: guards.transition is Transition.COLLAPSE_DRAIN_RETRY,
        "the last transition was `collapse_drain_retry`",
        "the last transition was not `collapse_drain_retry`",
    ),
    Fact(lambda _, __, limits: limits.reactive_compact, "reactive compaction is on", "reactive compaction is off"),
    Fact(lambda guards, _, __: guards.reactive_compact_tried, "it was tried already", "it was not tried yet"),
    Fact(
        lambda guards, _, limits: guards.media_drops < limits.media_drops,
        f"media was removed fewer than {USUAL.media_drops} times",
        f"media was removed {USUAL.media_drops} times already",
    ),
    Fact(
        lambda guards, _, limits: guards.media_drops + 1 == limits.media_drops,
        f"media was removed {USUAL.media_drops - 1} times already",
        f"media was not removed {USUAL.media_drops - 1} times",
    ),
    Fact(
        lambda guards, _, limits: guards.stop_hook_blocks < limits.stop_hook_blocks,
        f"fewer than {USUAL.stop_hook_blocks} blocks",
        f"{USUAL.stop_hook_blocks} blocks already",
    ),
    Fact(
        lambda guards, _, limits: guards.goal_failures + 1 < limits.goal_attempts,
        f"fewer than {USUAL.goal_attempts} failures, this one included",
        f"{USUAL.goal_attempts} failures, this one included",
    ),
    Fact(
        lambda guards, _, limits: guards.pauses >= limits.pauses,
        f"{USUAL.pauses} pauses in a row already",
        f"fewer than {USUAL.pauses} pauses in a row",
    ),
    Fact(lambda _, __, limits: limits.work_budget > 0, "a work budget is set", "no work budget is set"),
    Fact(
        lambda _, outcome, limits: 0 < limits.work_budget * limits.work_threshold <= getattr(outcome, "spent", 0),
        f"{USUAL.work_threshold:.0%} of it or more is spent",
        f"less than {USUAL.work_threshold:.0%} of it is spent",
    ),
    Fact(is_diminishing, "returns diminish", "returns do not diminish"),
    Fact(
        lambda guards, _, limits: bool(limits.max_turns) and guards.turn >= limits.max_turns,
        "no further turn is allowed",
        "a further turn is allowed",
    ),
)
Seen = tuple[bool, ...]


class Rule(NamedTuple):
    outcome: str
    when: str
    then: str


def observe_edges() -> Iterator[tuple[Edge, Limits]]:
    for limits in WALKED:
        yield from ((edge, limits) for edge in walk(limits))


def learn_rules(edges: Iterable[tuple[Edge, Limits]]) -> list[Rule]:
    """For each outcome the rules in their order: the first whose conditions hold decides."""
    seen: dict[str, dict[tuple[int, str], set[Seen]]] = {kind.__name__: {} for kind in get_args(AnyOutcome)}
    for edge, limits in edges:
        facts = tuple(fact.holds(edge.guards, edge.outcome, limits) for fact in FACTS)
        decisions = seen[type(edge.outcome).__name__]
        decisions.setdefault(name_decision(edge.outcome, edge.decision), set()).add(facts)
    return [Rule(outcome, *rule) for outcome, decisions in seen.items() for rule in order_rules(outcome, decisions)]


def name_decision(outcome: AnyOutcome, decision: Decision) -> tuple[int, str]:
    """With its rank: what stays in the turn comes first, what ends the loop last."""
    rank = 0 if isinstance(decision, Do) else 1 if isinstance(decision, Continue) else 2
    if isinstance(outcome, LimitReached):
        return rank, "stop: the reason that belongs to the limit"
    return rank, render_decision(decision)


def order_rules(outcome: str, decisions: dict[tuple[int, str], set[Seen]]) -> Iterator[tuple[str, str]]:
    left = dict(decisions)
    while len(left) > 1:
        candidates = [(len(when), key, when) for key in left if (when := find_condition(key, left)) is not None]
        if not candidates:
            raise LookupError(f"{outcome}: its decisions hang on something that FACTS does not name")
        _, key, when = min(candidates)
        del left[key]
        yield "; ".join(FACTS[place].yes if value else FACTS[place].no for place, value in when), key[1]
    ((_, last),) = left
    yield ("otherwise" if len(decisions) > 1 else "always"), last


def find_condition(key: tuple[int, str], left: dict[tuple[int, str], set[Seen]]) -> list[tuple[int, bool]] | None:
    """The fewest facts that hold whenever this is decided and never when something else is; None if there are none."""
    mine = list(left[key])
    others = [seen for other, group in left.items() if other != key for seen in group]
    when = [(place, mine[0][place]) for place in range(len(FACTS)) if len({seen[place] for seen in mine}) == 1]
    if not tells_apart(when, others):
        return None
    for literal in reversed(when.copy()):
        rest = [other for other in when if other != literal]
        when = rest if tells_apart(rest, others) else when
    return when


def tells_apart(when: Sequence[tuple[int, bool]], others: Iterable[Seen]) -> bool:
    return not any(all(seen[place] is value for place, value in when) for seen in others)


def learn_effects(edges: Iterable[tuple[Edge, Limits]]) -> dict[Transition, dict[str, str]]:
    """What each transition does to each guard: `kept`, `+1` or the new value."""
    changes: dict[tuple[Transition, str], dict[str, set[tuple[Any, Any]]]] = {}
    for edge, _ in edges:
        if isinstance(edge.decision, Continue):
            for field in Guards.__struct_fields__:
                by_outcome = changes.setdefault((edge.decision.transition, field), {})
                pair = (getattr(edge.guards, field), getattr(edge.decision.guards, field))
                by_outcome.setdefault(name_outcome(edge.outcome), set()).add(pair)
    effects: dict[Transition, dict[str, str]] = {transition: {} for transition in Transition}
    for (transition, field), by_outcome in changes.items():
        named = {outcome: name_effect(pairs) for outcome, pairs in sorted(by_outcome.items())}
        usual, *unusual = named.items()
        others = [f"{effect} after {outcome}" for outcome, effect in unusual if effect != usual[1]]
        effects[transition][field] = ", ".join([usual[1], *others])
    return effects


def name_outcome(outcome: AnyOutcome) -> str:
    """With what it repeats of its action, where that is set: the same outcome may be of two things."""
    echoed = sorted(name for name in outcome.echoes if getattr(outcome, name))
    return f"{type(outcome).__name__} ({', '.join(echoed)})" if echoed else type(outcome).__name__


def name_effect(pairs: set[tuple[Any, Any]]) -> str:
    if all(before == after for before, after in pairs):
        return "kept"
    values = {after for _, after in pairs}
    if len(values) == 1:
        return render_value(*values)
    if all(isinstance(before, int) and after == before + 1 for before, after in pairs):
        return "+1"
    return "updated"


def render_value(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:,}" if isinstance(value, int) else str(value)

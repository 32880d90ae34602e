"""An exhaustive walk of the policy: every state it can reach, every outcome that can come there, every decision.

It shows that the loop cannot spiral: the only way round without an end is "the model asked for tools and they ran".

    python -m everturn.testing.explore              prints the figures
    python -m everturn.testing.explore --longest    also each longest path
"""

import argparse
import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from everturn.core.actions import Action, AdmitPrompt, CallModel, CompactNow
from everturn.core.budget import WorkBudget
from everturn.core.decide import AnyOutcome, Continue, Decision, Do, Terminal, decide
from everturn.core.limits import Limits
from everturn.core.outcomes import CallsFinished, LimitReached, Problem
from everturn.core.state import Guards, Reason, Transition
from everturn.testing.promises import judge_edge, judge_reach
from everturn.testing.samples import WithGoal, most_work, sample_outcomes

Policy = Callable[[Guards, AnyOutcome, Limits], Decision]
Step = tuple[str, str]
"""An outcome and what was decided, as a reader sees them."""

WORK = Limits(work_budget=8, work_min_gain=2, output_recoveries=1, stop_hook_blocks=1, pauses=1, media_drops=1)
PROFILES: dict[str, Limits] = {
    "defaults": Limits(),
    "at most 2 turns": Limits(max_turns=2),
    "no escalation": Limits(escalate=False),
    "no reactive compaction": Limits(reactive_compact=False),
    "a work budget, small counters": WORK,
    "the same, at most 2 turns": msgspec.structs.replace(WORK, max_turns=2),
    "a goal, small counters": WithGoal(
        goal_attempts=3, output_recoveries=1, stop_hook_blocks=1, pauses=1, media_drops=1
    ),
}
"""What the command walks.

A goal is in the last one only: without one its guard stays 0. The work budget is four times the least gain, and the counters beside it are small, so that the walk stays a matter of
seconds. K grows with the budget: each continuation forgets the resumes, the raised cap and the pauses of the answer
before it, so all of them can be used up again, and at least every other continuation must bring the least gain.
"""


class Edge(NamedTuple):
    source: int
    guards: Guards
    action: Action
    outcome: AnyOutcome
    decision: Decision
    target: int | None
    """None where the loop ends."""


Graph = list[dict[tuple[int, bool], Edge]]
"""From each state to the next ones; a tool round is told apart from another way to the same state."""


class Exploration(msgspec.Struct, frozen=True, kw_only=True):
    """What a walk found. It holds what the policy promises if `faults` is empty."""

    limits: Limits
    states: int
    edges: int
    transitions: frozenset[Transition]
    reasons: frozenset[Reason]
    k: int | None
    """Most model calls between two tool rounds (or the start, or the end); None where there is no most."""
    total: int | None
    """Most model calls of a whole query; None where there is no most, as without a limit of turns."""
    longest: tuple[Step, ...]
    """One path that makes `k` calls, or `total` where turns are limited."""
    cycles: tuple[tuple[Step, ...], ...]
    """Ways round that no tool call interrupts; with a limit of turns, any way round."""
    faults: tuple[str, ...]


def explore(limits: Limits, decide: Policy = decide) -> Exploration:
    """Walks `decide` under `limits`; a changed policy can be passed in its place."""
    graph: Graph = []
    calls: list[int] = []
    transitions: set[Transition] = set()
    reasons: set[Reason] = set()
    furthest = {
        "turn": 1,
        "output_recoveries": 0,
        "media_drops": 0,
        "stop_hook_blocks": 0,
        "goal_failures": 0,
        "pauses": 0,
    }
    faults: dict[str, None] = {}
    edges = 0
    for edge in walk(limits, decide):
        edges += 1
        if edge.source == len(graph):
            graph.append({})
            calls.append(int(isinstance(edge.action, CallModel)))
        if isinstance(edge.decision, Terminal) and not is_from_above(edge):
            reasons.add(edge.decision.reason)
        if isinstance(edge.decision, Terminal) or edge.target is None:
            continue
        graph[edge.source].setdefault((edge.target, is_tool_round(edge)), edge)
        for wrong in judge_edge(edge.guards, edge.outcome, edge.decision, limits):
            faults[f"{render_outcome(edge.outcome)}, {render_decision(edge.decision)}: {wrong}"] = None
        if isinstance(edge.decision, Continue):
            transitions.add(edge.decision.transition)
            for counter, most in furthest.items():
                furthest[counter] = max(most, getattr(edge.decision.guards, counter))

    rest = [[target for target, tools in out if not tools] for out in graph]
    between = find_longest(rest, calls)
    whole = find_longest([[target for target, _ in out] for out in graph], calls) if limits.max_turns else between
    cycles = [trace(graph, nodes) for nodes in between.cycles or whole.cycles]
    faults |= {f"a way round without an end: {render_steps(cycle)}": None for cycle in cycles}
    faults |= dict.fromkeys(judge_reach(transitions, reasons, furthest, limits))
    return Exploration(
        limits=limits,
        states=len(graph),
        edges=edges,
        transitions=frozenset(transitions),
        reasons=frozenset(reasons),
        k=None if between.cycles else between.weight,
        total=whole.weight if limits.max_turns and not whole.cycles else None,
        longest=trace(graph, whole.path),
        cycles=tuple(cycles),
        faults=tuple(faults),
    )


def trace(graph: Graph, nodes: list[int]) -> tuple[Step, ...]:
    steps = []
    for node, target in itertools.pairwise(nodes):
        edge = graph[node].get((target, False)) or graph[node][target, True]
        steps.append((render_outcome(edge.outcome), render_decision(edge.decision)))
    return tuple(steps)


def is_from_above(edge: Edge) -> bool:
    """Somebody above allowed only so many turns: possible whatever our own limit is, and no proof that it is kept."""
    return isinstance(edge.outcome, LimitReached) and edge.outcome.which is Reason.MAX_TURNS


def walk(limits: Limits, decide: Policy = decide) -> Iterator[Edge]:
    """Every decision from every state that can be reached, breadth first; states are numbered as they are met."""
    start: tuple[Guards, Action] = (project(Guards(), limits), AdmitPrompt())
    numbers = {start: 0}
    states = [start]
    for source, (guards, action) in enumerate(states):
        for outcome in sample_outcomes(action, guards.work.total, limits):
            decision = decide(guards, outcome, limits)
            if isinstance(decision, Terminal):
                yield Edge(source, guards, action, outcome, decision, None)
                continue
            if isinstance(decision, Do):
                state = (guards, decision.action)
            else:
                state = (project(decision.guards, limits), CallModel())
            if (target := numbers.setdefault(state, len(states))) == len(states):
                states.append(state)
            yield Edge(source, guards, action, outcome, decision, target)


def project(guards: Guards, limits: Limits) -> Guards:
    """Guards that the policy cannot tell from these.

    A counter past its limit counts as just past it: so an endless count shows as a way round, and the walk ends even
    where the policy would not.
    """
    return Guards(**{name: PROJECTIONS[name](guards, limits) for name in Guards.__struct_fields__})


def project_work(guards: Guards, limits: Limits) -> WorkBudget:
    work = guards.work
    return WorkBudget(
        continuations=min(work.continuations, limits.work_min_continuations),
        last_gain=0 if work.last_gain < limits.work_min_gain else limits.work_min_gain,
        total=min(work.total, most_work(limits)),
    )


PROJECTIONS: dict[str, Callable[[Guards, Limits], Any]] = {
    "turn": lambda guards, limits: min(guards.turn, limits.max_turns + 1) if limits.max_turns else 1,
    "output_recoveries": lambda guards, limits: min(guards.output_recoveries, limits.output_recoveries + 1),
    "reactive_compact_tried": lambda guards, _: guards.reactive_compact_tried,
    "media_drops": lambda guards, limits: min(guards.media_drops, limits.media_drops + 1),
    "max_output_override": lambda guards, _: guards.max_output_override,
    "stop_hook_active": lambda guards, _: guards.stop_hook_active,
    "stop_hook_blocks": lambda guards, limits: min(guards.stop_hook_blocks, limits.stop_hook_blocks + 1),
    "goal_failures": lambda guards, limits: min(guards.goal_failures, limits.goal_attempts),
    "pauses": lambda guards, limits: min(guards.pauses, limits.pauses + 1),
    "work": project_work,
    "transition": lambda guards, _: guards.transition if guards.transition is Transition.COLLAPSE_DRAIN_RETRY else None,
}
"""One for each guard; a guard without one stops the walk."""


def is_tool_round(edge: Edge) -> bool:
    """The one way to go on for ever: the model asked for tools and they ran."""
    return (
        isinstance(edge.decision, Continue)
        and edge.decision.transition is Transition.NEXT_TURN
        and isinstance(edge.outcome, CallsFinished)
    )


def render_outcome(outcome: AnyOutcome) -> str:
    """The constructor with the facts that matter; what went wrong in words is left out."""
    facts = [
        f"{name}={value}"
        for name in outcome.__struct_fields__
        if not isinstance(value := getattr(outcome, name), Problem)
    ]
    return f"{type(outcome).__name__}({', '.join(facts)})" if facts else type(outcome).__name__


def render_decision(decision: Decision) -> str:
    match decision:
        case Do(CompactNow(media=True, every=every)):
            return "do CompactNow (all media)" if every else "do CompactNow (media)"
        case Do(action):
            return f"do {type(action).__name__}"
        case Continue(transition):
            return f"go on: {transition}"
        case Terminal(reason=reason):
            return f"stop: {reason}"


def render_steps(steps: Sequence[Step]) -> str:
    return " | ".join(f"{outcome}, {decision}" for outcome, decision in steps)


def render_exploration(name: str, found: Exploration) -> str:
    """Three lines, and one more for each fault."""
    bound = f"{found.total} in all" if found.limits.max_turns else "no bound over all turns"
    taken = Counter(decision.removeprefix("go on: ") for _, decision in found.longest if decision.startswith("go on"))
    reach = f"{len(found.transitions)} transitions, {len(found.reasons)} reasons"
    lines = [
        f"{name}: {found.states:,} states, {found.edges:,} decisions, {reach}",
        f"  model calls: at most K = {found.k} between two tool rounds, {bound}",
        f"  longest path: {len(found.longest)} steps, " + ", ".join(f"{n} {name}" for name, n in taken.most_common()),
    ]
    return "\n".join(lines + [f"  FAULT: {fault}" for fault in found.faults])


CYCLES_KEPT = 3
"""One is enough to fail; a few help to see why."""


class Longest(NamedTuple):
    weight: int
    path: list[int]
    cycles: list[list[int]]
    """Each a way round as its nodes, the first one again at the end. If there is one, `path` is not the longest."""


def find_longest(graph: Sequence[Sequence[int]], weights: Sequence[int]) -> Longest:
    """Weighs the nodes of a path. Keeps its own stack: a path here is longer than Python's."""
    heaviest: dict[int, int] = {}
    onward: dict[int, int] = {}
    cycles: list[list[int]] = []
    for root in range(len(graph)):
        if root in heaviest:
            continue
        path = {root: iter(graph[root])}
        while path:
            node = next(reversed(path))
            for target in path[node]:
                if target in path:
                    if len(cycles) < CYCLES_KEPT:
                        nodes = list(path)
                        cycles.append([*nodes[nodes.index(target) :], target])
                elif target not in heaviest:
                    path[target] = iter(graph[target])
                    break
            else:
                del path[node]
                done = [target for target in graph[node] if target in heaviest]
                if done:
                    onward[node] = max(done, key=heaviest.__getitem__)
                heaviest[node] = weights[node] + (heaviest[onward[node]] if done else 0)
    start = max(heaviest, key=heaviest.__getitem__)
    return Longest(heaviest[start], follow(onward, start), cycles)


def follow(onward: dict[int, int], node: int) -> list[int]:
    path = [node]
    while (following := onward.get(path[-1])) is not None:
        path.append(following)
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 if the policy holds what it promises, 1 if not."""
    parser = argparse.ArgumentParser(prog="python -m everturn.testing.explore", description="Walk the loop's policy.")
    parser.add_argument("--longest", action="store_true", help="print each longest path, step by step")
    options = parser.parse_args(arguments)
    found = {}
    for name, limits in PROFILES.items():
        found[name] = explore(limits)
        sys.stdout.write(render_exploration(name, found[name]) + "\n")
        if options.longest:
            sys.stdout.writelines(f"    {outcome} → {decision}\n" for outcome, decision in found[name].longest)
    return int(any(exploration.faults for exploration in found.values()))


if __name__ == "__main__":
    sys.exit(main())

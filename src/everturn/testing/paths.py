"""The longest path through a graph, and the ways round that keep it from having one; used by the exploration."""

from collections.abc import Sequence
from typing import NamedTuple

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

"""All path rules as two trees of names, so that the time to judge a path does not grow with the number of rules."""

import os
from collections.abc import Iterable, Iterator

import msgspec

from everturn.permissions.rules.folding import fold
from everturn.permissions.rules.globs import Glob
from everturn.permissions.rules.patterns import Anchor, Deep, PathPattern, parse_pattern
from everturn.permissions.rules.rule import Rule
from everturn.ports.policy import Ruling

Hits = dict[tuple[str, Ruling], Rule]
"""By family (`Read` or `Edit`) and ruling the first rule that matches."""


class Anchors(msgspec.Struct, frozen=True, kw_only=True):
    """Where patterns start from; absolute."""

    home: str
    cwd: str


class _Node:
    """A place in the tree; most have one kind of child only."""

    __slots__ = ("below", "deep", "here", "is_deep", "names", "only_below", "shapes")

    def __init__(self, *, is_deep: bool = False) -> None:
        self.names: dict[str, _Node] = {}
        self.shapes: dict[tuple[int, int], dict[tuple[str, str], dict[Glob, _Node]]] = {}
        """Globs by the length of what they begin and end with, then by that itself."""
        self.deep: _Node | None = None
        self.is_deep = is_deep
        self.here: Hits = {}
        """Rules for exactly this path."""
        self.below: Hits = {}
        """Rules for this path and all below it."""
        self.only_below: Hits = {}

    def child(self, step: Glob | Deep) -> "_Node":
        if isinstance(step, Deep):
            self.deep = self.deep or _Node(is_deep=True)
            return self.deep
        if (name := step.literal) is not None:
            return self.names.setdefault(name, _Node())
        begin, end = step.edges
        alike = self.shapes.setdefault((len(begin), len(end)), {}).setdefault((begin, end), {})
        return alike.setdefault(step, _Node())

    def follow(self, name: str) -> Iterator["_Node"]:
        if (child := self.names.get(name)) is not None:
            yield child
        for (begins, ends), by_edges in self.shapes.items():
            edges = name[:begins], name[len(name) - ends :] if ends else ""
            if (alike := by_edges.get(edges)) is not None:
                yield from (node for glob, node in alike.items() if glob.matches(name))
        if self.is_deep:
            yield self


class PathRules:
    """Made once for a set of rules. Rules without a path are not in it."""

    def __init__(self, rules: Iterable[Rule], anchors: Anchors) -> None:
        self._places: dict[str, list[list[str]]] = {}
        self._exact = _Node()
        self._folded = _Node()
        """Deny and ask only: what a file system could take for the same name counts for them."""
        for rule in rules:
            if rule.specifier is None:
                continue
            pattern = parse_pattern(rule.specifier, rule.ruling)
            for base in self._bases(pattern, rule, anchors):
                _plant(self._exact, base, pattern, rule)
                if rule.ruling is not Ruling.ALLOW:
                    _plant(self._folded, [fold(name) for name in base], _folded(pattern), rule)

    def find(self, path: str) -> Hits:
        """The rules that cover an absolute path."""
        names = path.split("/")[1:] if path != "/" else []
        hits = _walk(self._exact, names)
        for key, rule in _walk(self._folded, [fold(name) for name in names]).items():
            hits.setdefault(key, rule)
        return hits

    def enter(self, folder: str) -> "Below | None":
        """What the rules may cover below an absolute path. None: nothing."""
        below: Below | None = Below((self._exact,), (self._folded,))
        for name in folder.split("/")[1:] if folder != "/" else []:
            if below is None or below.covers_all:
                break
            below = below.step(name)
        return below

    def _bases(self, pattern: PathPattern, rule: Rule, anchors: Anchors) -> list[list[str]]:
        """As the folder is called, and as it is really."""
        if pattern.anchor is Anchor.ROOT:
            return [[]]
        place = anchors.cwd
        if pattern.anchor is not Anchor.CWD:
            place = anchors.home if pattern.anchor is Anchor.HOME else rule.folder or anchors.cwd
        if (bases := self._places.get(place)) is None:
            spellings = dict.fromkeys((os.path.normpath(place), os.path.realpath(place)))
            bases = self._places[place] = [[name for name in each.split("/") if name] for each in spellings]
        return [base[: len(base) - pattern.up] for base in bases] if pattern.up else bases


class Below:
    """A folder, by the places in both trees that its path leads to."""

    __slots__ = ("_exact", "_folded", "covers_all")

    def __init__(self, exact: Iterable[_Node], folded: Iterable[_Node], *, covers_all: bool = False) -> None:
        self._exact, self._folded = _opened(exact), _opened(folded)
        self.covers_all = covers_all
        """The folder itself is covered with all below it."""

    def hides(self, name: str) -> bool:
        """Whether a rule covers what has this name in the folder."""
        return self.covers_all or _matches(self._exact, name) or _matches(self._folded, fold(name))

    def enter(self, name: str) -> "Below | None":
        """The folder of this name in it. None: no rule covers anything below."""
        return self if self.covers_all else self.step(name)

    def step(self, name: str) -> "Below | None":
        folds = fold(name)
        exact = list(dict.fromkeys(child for state in self._exact for child in state.follow(name)))
        folded = list(dict.fromkeys(child for state in self._folded for child in state.follow(folds)))
        if exact == self._exact and folded == self._folded:
            # Below a `**` most folders are like the one above.
            return self
        if not exact and not folded:
            return None
        return Below(exact, folded, covers_all=any(child.below for child in (*exact, *folded)))


def _matches(states: Iterable[_Node], name: str) -> bool:
    return any(child.below or child.here for state in states for child in state.follow(name))


def _folded(pattern: PathPattern) -> PathPattern:
    steps = tuple(step if isinstance(step, Deep) else step.folded(fold) for step in pattern.steps)
    return msgspec.structs.replace(pattern, steps=steps)


def _plant(root: _Node, base: list[str], pattern: PathPattern, rule: Rule) -> None:
    node = root
    for name in base:
        node = node.names.setdefault(name, _Node())
    for step in pattern.steps:
        node = node.child(step)
    key = rule.tool, rule.ruling
    if pattern.only_below:
        node.only_below.setdefault(key, rule)
    else:
        (node.below if pattern.covers_below else node.here).setdefault(key, rule)


def _walk(root: _Node, names: list[str]) -> Hits:
    hits: Hits = {}
    last = len(names) - 1
    states = _opened([root])
    for at, name in enumerate(names):
        reached = dict.fromkeys(child for state in states for child in state.follow(name))
        states = _opened(reached)
        if not states:
            break
        for state in states:
            found = (state.below, state.here if at == last else state.only_below)
            for rules in found:
                for key, rule in rules.items():
                    hits.setdefault(key, rule)
    return hits


def _opened(states: Iterable[_Node]) -> list[_Node]:
    """With the places that `**` reaches without a step."""
    opened = dict.fromkeys(states)
    left = list(opened)
    while left:
        if (deep := left.pop().deep) is not None and deep not in opened:
            opened[deep] = None
            left.append(deep)
    return list(opened)


class HiddenPaths:
    """`ports.judged_paths.Hides`."""

    def __init__(self, rules: list[Rule], anchors: Anchors) -> None:
        """`rules`: those of Read that deny or ask, and name paths."""
        self._rules = PathRules(rules, anchors)

    def __call__(self, path: str) -> bool:
        return bool(self._rules.find(path))

    def enter(self, folder: str) -> Below | None:
        return self._rules.enter(folder)

"""What rules keep from being read, or not without asking: for whoever goes through folders."""

from everturn.permissions.paths.index import Anchors, Below, PathRules
from everturn.permissions.rules.rule import Rule


class HiddenPaths:
    """`ports.hiding.Hides`."""

    def __init__(self, rules: list[Rule], anchors: Anchors) -> None:
        """`rules`: those of Read that deny or ask, and name paths."""
        self._rules = PathRules(rules, anchors)

    def __call__(self, path: str) -> bool:
        return bool(self._rules.find(path))

    def enter(self, folder: str) -> Below | None:
        return self._rules.enter(folder)

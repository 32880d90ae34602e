"""The folder and the exported variables of the next command: set by the tool that runs commands, read by what judges them."""

from collections.abc import Callable, Mapping

from everturn.ports.tool import Confinement

TakeVariables = Callable[[Mapping[str, str], frozenset[str]], None]
"""Variables that are set from now on, and names of those that are unset."""


class ShellFolder:
    """Of one session."""

    path: str | None = None
    """Real and absolute; None is the working folder."""
    previous: str = ""
    """What `cd -` would go to; empty where there is none."""
    lost: str = ""
    """A folder that the next command cannot start in, and that nobody was told of yet."""

    def __init__(self) -> None:
        self.exports: dict[str, str] = {}
        """What earlier commands have exported, outside of any sandbox. Never changed in place."""
        self.sandboxed: dict[str, str] = {}
        """What counts inside of one."""
        self.unset: dict[bool, frozenset[str]] = {}
        """Names of our own environment that commands have unset; by whether that was in a sandbox."""
        self.exported: frozenset[str] = frozenset()
        """Names, on any side."""
        self.changed: frozenset[str] = frozenset()
        """Names that earlier commands have set or unset, on any side."""
        self._given: dict[str, str] = {}
        self._given_unset: frozenset[str] = frozenset()
        self._taker: TakeVariables | None = None

    def take_variables(self, given: Mapping[str, str], unset: frozenset[str]) -> None:
        """Of hooks. They count as if an earlier command had set and unset them."""
        self._given = {name: value for name, value in self._given.items() if name not in unset} | dict(given)
        self._given_unset = (self._given_unset - given.keys()) | unset
        if self._taker is not None:
            self._taker(given, unset)
            return
        # The tool that runs commands is made with the first of them, which is judged before.
        self.exports = self.sandboxed = self._given
        self.unset = dict.fromkeys((False, True), self._given_unset)
        self.exported = frozenset(self._given)
        self.changed = self.exported | self._given_unset

    def hand_variables_to(self, taker: TakeVariables) -> None:
        """The tool that runs commands: what was given so far, and what will be."""
        self._taker = taker
        if self._given or self._given_unset:
            taker(self._given, self._given_unset)

    def has_changed(self, name: str) -> bool:
        """An earlier command has set the variable to something else, or unset it."""
        return name in self.changed

    def list_exports(self, confinement: Confinement) -> Mapping[str, str]:
        """What a command begins with that runs there."""
        return self.sandboxed if _is_inside(confinement) else self.exports

    def list_unset(self, confinement: Confinement) -> frozenset[str]:
        """What it does without, although we were given it."""
        return self.unset.get(_is_inside(confinement), frozenset())


def _is_inside(confinement: Confinement) -> bool:
    return confinement in {Confinement.INSIDE, Confinement.ENOUGH}

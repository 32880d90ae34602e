"""Where the next command starts, and with which exports: told by the tool that runs commands, asked by who judges them."""

from collections.abc import Mapping

from everturn.ports.tool import Confinement


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

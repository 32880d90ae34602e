"""Where the next command starts, and with which exports: told by the tool that runs commands, asked by who judges them."""


class ShellFolder:
    """Of one session."""

    path: str | None = None
    """Real and absolute; None is the working folder."""

    def __init__(self) -> None:
        self.exports: dict[str, str] = {}
        """What earlier commands have exported, outside of any sandbox. Never changed in place."""
        self.exported: frozenset[str] = frozenset()
        """Names, on any side."""

"""Folders above something protected, which a view mounts on themselves so that they cannot be moved away."""


class MountPins:
    """Those of one session.

    A command that still runs could put a link in a new one's place before it is mounted, and so open what is behind. It cannot
    do so to those that were pinned when it started.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()

    def judge(self, pinned: tuple[str, ...], *, running: int) -> tuple[str, ...]:
        """Which of them are pinned for the next command, while so many others run."""
        if not running:
            # Not those from before: what was removed since could be made anew, as a link, by one that runs.
            self._known = set(pinned)
        return tuple(path for path in pinned if path in self._known)

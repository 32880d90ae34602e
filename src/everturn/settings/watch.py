"""Settings files that change while we run: one look at each before a call, and all are read again where one is new."""

import os
from collections.abc import Collection, Mapping
from contextlib import suppress

import msgspec

from everturn.core.errors import OptionError
from everturn.ports.rules import Permissions
from everturn.settings.files import is_inline
from everturn.settings.places import CHOSEN, MANAGED_NAME, SettingsRoots, find_managed, find_places
from everturn.settings.sources import Merged, load_merged
from everturn.settings.trust import TrustState

HOOKS_CHANGED = (
    "hooks of the settings changed while the session runs; those that it began with stay in force, and a new session takes "
    "the others (everturn hooks list shows them)"
)
Look = tuple[tuple[int, int, int, int] | None, ...]
"""Of each file when its content and when anything of it was changed, its size and its number; None where there is none."""


class SettingsWatch:
    """`ports.rules.LivePermissions`. Trust is what it was at the start; model and effort are not read again."""

    def __init__(
        self,
        roots: SettingsRoots,
        env: Mapping[str, str],
        given: str | None = None,
        *,
        trust: TrustState,
        wanted: Collection[str] = CHOSEN,
        now: Merged,
    ) -> None:
        """`now` is what was read at the start."""
        self._roots = roots
        self._env = env
        self._given = given
        self._trust = trust
        self._wanted = wanted
        self._start = now.permissions
        self._hooks = now.hooks
        self._held = now.held
        self._told = ""
        self._written: tuple[str, bytes] | None = None
        self._paths = self._find_paths()
        self._last = self._look()

    @property
    def start(self) -> Permissions:
        return self._start

    def changed(self) -> Permissions | None:
        look = self._look()
        if look == self._last:
            return None
        # Looked at before they are read: what changes in between is seen at the next look.
        self._paths = self._find_paths()
        self._last = self._look()
        merged = load_merged(self._roots, self._env, self._given, trust=self._trust, wanted=self._wanted)
        return msgspec.structs.replace(
            merged.permissions, notices=self._judge(merged), managed_by_others=self._is_managed_by_others()
        )

    def note_written(self, path: str, content: bytes) -> None:
        self._written = path, content

    def _judge(self, merged: Merged) -> tuple[str, ...]:
        if merged.problems:
            told = "; ".join(str(problem) for problem in merged.problems)
            notice = f"settings changed and cannot be used, so the rules from before stay in force: {told}"
            fresh, self._told = notice != self._told, notice
            return (notice,) if fresh else ()
        self._told = ""
        notices: tuple[str, ...] = ()
        if merged.hooks != self._hooks:
            self._hooks, notices = merged.hooks, (HOOKS_CHANGED,)
        is_news = merged.held not in {"", self._held} and not self._reads_as_written()
        self._held = merged.held
        return (*notices, merged.held) if is_news else notices

    def _reads_as_written(self) -> bool:
        if self._written is None:
            return False
        path, content = self._written
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                return file.read(len(content) + 1) == content
        return False

    def _is_managed_by_others(self) -> bool:
        """Whoever could write the administrator's files, as root can, could do so in this session."""
        return not any(_may_write(path) for path in self._paths if path.startswith(self._roots.managed))

    def _look(self) -> Look:
        return tuple(_glance(path) for path in self._paths)

    def _find_paths(self) -> list[str]:
        """New files in a folder of the administrator's show in the folder itself."""
        roots = self._roots
        places = find_places(roots, self._wanted)
        # A folder that cannot be read is told of when it is: `load_merged` looks into it, too.
        with suppress(OptionError):
            places += find_managed(roots.managed, roots.folder)
        given = [] if self._given is None or is_inline(self._given) else [os.path.expanduser(self._given)]  # noqa: PTH111
        return [place.path for place in places] + given + [f"{folder}/{MANAGED_NAME}.d" for folder in roots.managed]


def _glance(path: str) -> tuple[int, int, int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 (before every call: a Path would cost more than the look)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _may_write(path: str) -> bool:
    """The file or something above it: who may write a folder may put another file in its place."""
    while path:
        with suppress(OSError):
            if os.stat(path).st_uid == os.geteuid() or os.access(path, os.W_OK):  # noqa: PTH116
                return True
        path = path.rpartition("/")[0]
    return os.access("/", os.W_OK)

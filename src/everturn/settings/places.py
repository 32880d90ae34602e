"""Where settings files lie: which ones, in which order, whose word they are. Nothing is opened here, and git is never run."""

import os
from collections.abc import Collection, Sequence

import msgspec

from everturn.core.errors import OptionError
from everturn.settings.files import FILE_NAME

MANAGED, COMMAND_LINE, LOCAL, PROJECT, USER = "managed", "command line", "local", "project", "user"
CHOSEN = (USER, PROJECT, LOCAL)
"""What `--setting-sources` chooses from. What an administrator or the command line says cannot be left out."""
OF_THE_REPOSITORY = frozenset({PROJECT, LOCAL})
"""Whoever wrote the repository may have written these. A local file, too: nothing keeps it from being committed."""

LOCAL_NAME = "settings.local.json"
OURS, THEIRS = ".everturn", ".claude"
MANAGED_FOLDERS = ("/etc/claude-code", "/etc/everturn")
"""Lowest first. The other program's place counts, too: what an administrator denies there is meant for every agent."""
MANAGED_NAME = "managed-settings"


class SettingsPlace(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    path: str
    folder: str
    """What `/path` in its rules starts from."""
    foreign: bool = False
    """Written for another program too: what we do not know in it is no mistake."""

    @property
    def of_repository(self) -> bool:
        return self.source in OF_THE_REPOSITORY

    @property
    def is_strict(self) -> bool:
        """A wrong value is an error; elsewhere it is passed over with a warning, unless it protects."""
        return not self.foreign and not self.of_repository


class SettingsRoots(msgspec.Struct, frozen=True, kw_only=True):
    """Where we stand; every path absolute."""

    home: str
    """Ours: sessions, the user's settings, trust."""
    folder: str
    """The working folder."""
    root: str
    """Of the repository that the folder is in; the folder itself where it is in none."""
    foreign_home: bool = False
    """The home is another program's (`CLAUDE_CONFIG_DIR`)."""
    managed: tuple[str, ...] = MANAGED_FOLDERS


def find_root(folder: str, user_home: str) -> str:
    """The nearest folder upwards that has a `.git`.

    Neither the user's home nor `/` is the root of what lies below it: to trust one of them would trust every download.
    """
    place = folder
    while True:
        if os.path.lexists(f"{place}/.git"):
            return place
        above = place.rpartition("/")[0]
        if above in {"", user_home}:
            return folder
        place = above


def find_places(roots: SettingsRoots, wanted: Collection[str] = CHOSEN) -> list[SettingsPlace]:
    """Of the user and of the repository, lowest first. The files need not be there."""
    user = SettingsPlace(source=USER, path=f"{roots.home}/{FILE_NAME}", folder=roots.home, foreign=roots.foreign_home)
    places = [user]
    for source, folder, name in ((PROJECT, roots.folder, FILE_NAME), (LOCAL, roots.root, LOCAL_NAME)):
        for room, foreign in ((THEIRS, True), (OURS, False)):
            path = f"{folder}/{room}/{name}"
            # Started in the user's own folder: one file, and it is the user's.
            if path != user.path:
                places.append(SettingsPlace(source=source, path=path, folder=roots.folder, foreign=foreign))
    return [place for place in places if place.source in wanted]


def find_managed(folders: Sequence[str], project: str) -> list[SettingsPlace]:
    """`managed-settings.json`, then what lies in `managed-settings.d`, by name. Raises `OptionError`."""
    found = []
    for folder in folders:
        names = [f"{MANAGED_NAME}.json"]
        try:
            with os.scandir(f"{folder}/{MANAGED_NAME}.d") as entries:
                inside = [entry.name for entry in entries]
        except (FileNotFoundError, NotADirectoryError):
            inside = []
        except OSError as error:
            raise OptionError(f"{folder}/{MANAGED_NAME}.d", f"cannot be read: {error.strerror}") from None
        names += [f"{MANAGED_NAME}.d/{name}" for name in sorted(inside) if name.endswith(".json")]
        foreign = folder.endswith("/claude-code")
        found += [
            SettingsPlace(source=MANAGED, path=f"{folder}/{name}", folder=project, foreign=foreign) for name in names
        ]
    return found

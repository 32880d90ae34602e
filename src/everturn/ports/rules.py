"""Permission rules as they stand in the settings: texts with their place, handed from who reads them to who judges by them."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from everturn.ports.policy import Ruling

MANAGED = "managed"
"""The source that only an administrator writes."""


class WrittenRule(msgspec.Struct, frozen=True, kw_only=True):
    """Not parsed yet: what a rule may say is the permissions' matter."""

    text: str
    ruling: Ruling
    source: str
    """managed, command line, local, project or user."""
    folder: str
    """What `/path` starts from: the folder of the rule's source."""
    origin: str
    """For people: `file:line`, or a flag."""


class WrittenFolder(msgspec.Struct, frozen=True, kw_only=True):
    """One that is added to the working folder."""

    path: str
    """Absolute."""
    source: str
    origin: str
    """For people: the file."""


class WrittenBan(msgspec.Struct, frozen=True, kw_only=True):
    """A file that switches the mode bypassPermissions off."""

    source: str
    origin: str


class Permissions(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings say about permissions at one moment."""

    rules: tuple[WrittenRule, ...] = ()
    folders: tuple[WrittenFolder, ...] = ()
    no_bypass: tuple[WrittenBan, ...] = ()
    partial: bool = False
    """A file could not be understood: what is missing here may stand there."""
    managed_by_others: bool = True
    """Nobody in this session can write the managed settings: they are the administrator's word."""
    notices: tuple[str, ...] = ()
    """What a person has to know of a change; each is said once."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Of the folders, each once."""
        return tuple(dict.fromkeys(folder.path for folder in self.folders))


class LivePermissions(Protocol):
    """Settings files that may change while we run: what they say, not what of it counts. Never raises."""

    @property
    def start(self) -> Permissions:
        """What they said when the program started."""
        ...

    def changed(self) -> Permissions | None:
        """None where nothing changed since the last question. Cheap: asked before every call."""
        ...

    def note_written(self, path: str, content: bytes) -> None:
        """We wrote this file, with a person's consent: as long as it reads so, they know what of it is held back."""
        ...


class WrittenFile(msgspec.Struct, frozen=True, kw_only=True):
    """A settings file as we left it."""

    path: str
    content: bytes


class RuleFile(Protocol):
    """Where a person's lasting yes is written down. What it raises is an `OptionError`; then nothing has changed."""

    @property
    def path(self) -> str: ...

    def append_rules(self, rules: Sequence[str]) -> WrittenFile:
        """Allow rules. Everything else in the file stays."""
        ...

    def append_hosts(self, hosts: Sequence[str]) -> WrittenFile:
        """Hosts that commands in the sandbox may reach."""
        ...

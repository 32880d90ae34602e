"""Permission rules as they stand in the settings: texts with their place, handed from who reads them to who judges by them."""

from typing import Protocol

import msgspec

from everturn.ports.policy import Ruling


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


class Permissions(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings say about permissions at one moment."""

    rules: tuple[WrittenRule, ...] = ()
    folders: tuple[str, ...] = ()
    """Added to the working folder; absolute."""
    notices: tuple[str, ...] = ()
    """What a person has to know of a change; each is said once."""


class LivePermissions(Protocol):
    """Settings files that may change while we run. Never raises."""

    def changed(self) -> Permissions | None:
        """None where nothing changed since the last question. Cheap: asked before every call."""
        ...

    def overlook(self) -> None:
        """The file that changes now was written by us, with a person's consent: what of it is held back, they know."""
        ...

    def forget(self) -> None:
        """The next question is answered in any case: whoever asks it has heard nothing yet."""
        ...

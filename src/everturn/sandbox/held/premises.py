"""What a holder knows of the session whose commands it confines."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from everturn.ports.holding import Bounds
from everturn.ports.judged_paths import Hides
from everturn.ports.resources import Resources
from everturn.ports.scratch import NO_SCRATCH, Scratch
from everturn.sandbox.held.hidden import MAX_FOLDERS

if TYPE_CHECKING:
    from everturn.sandbox.aftermath import Aftermath


class Premises(msgspec.Struct, frozen=True, kw_only=True):
    """Whose session it is."""

    folders: Callable[[], tuple[str, ...]]
    """The working folders of the moment. Real paths."""
    home: str
    own: tuple[str, ...] = ()
    """Folders of ours: never written."""
    code: tuple[str, ...] = ()
    """Files that run as we do, and need not be there yet."""
    scratch: Scratch = NO_SCRATCH
    temporary: str = ""
    """Where folders for temporary files are made; empty: where the process wants them."""
    list_outputs: Callable[[], tuple[str, ...]] = tuple
    """Files that the session has kept for the model to read."""
    find_hides: Callable[[], Hides | None] = lambda: None
    """What the rules of the moment keep from being read."""
    list_denied: Callable[[], tuple[str, ...]] = tuple
    """What the rules of the moment keep from being written, by name."""
    list_exports: Callable[[], frozenset[str]] = frozenset
    """Names of what earlier commands have exported."""
    find_git: Callable[[str], tuple[str, ...]] = lambda _: ()
    """What git must read that lies around a working folder."""
    copy_identity: Callable[[Mapping[str, str], str], dict[str, bytes]] = lambda _, __: {"config": b""}
    """The person's own settings of git, by an environment, without what is secret: files by name, for a place that they are read at."""
    environment: Mapping[str, str] = msgspec.field(default_factory=lambda: os.environ)
    """What commands that are not held are given."""
    resources: Resources = msgspec.field(default_factory=Resources)
    """Takes the locks of the working folders."""
    bounds: Bounds = Bounds()
    aftermath: "Aftermath | None" = None
    """Of the session's sandbox, where it has one: what a command in it has not yet had put in order, an edit must not take for the person's."""
    most_folders: int = MAX_FOLDERS
    """That are looked through for what rules hide."""

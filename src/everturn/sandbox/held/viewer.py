"""Held by bubblewrap: edits, and readers where the kernel has no Landlock. Loaded when the first of them is held so."""

import os
import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

import msgspec

from everturn.core.errors import ToolFault
from everturn.ports.holding import Bounds
from everturn.ports.sandbox import Start
from everturn.sandbox.aftermath import Aftermath
from everturn.sandbox.bubblewrap import FILTER_DESCRIPTOR, INFORMATION_DESCRIPTOR
from everturn.sandbox.denials import explain_put_back
from everturn.sandbox.descriptors import make_readable
from everturn.sandbox.devices import plan_keeping
from everturn.sandbox.filter import encode_filter
from everturn.sandbox.held.cell import HeldCell
from everturn.sandbox.held.places import SYSTEM, HeldPlaces
from everturn.sandbox.held.room import HeldRoom, ViewedRoom
from everturn.sandbox.held.staged_files import stage
from everturn.sandbox.held.view import plan_held_view
from everturn.sandbox.pins import MountPins
from everturn.sandbox.placeholders import Placeholders, explain_placeholders
from everturn.sandbox.places import Places, find_nested, find_places
from everturn.sandbox.probe import Means
from everturn.sandbox.settings import SandboxSettings
from everturn.sandbox.survivors import ViewedSurvivors
from everturn.sandbox.temporary import Temporary, make_outside

UNSURE = (
    "The command did not run: nobody approved it, and the working folders hold too much to check before an "
    "edit and to restore after it. Run it again: then the person is asked."
)


class Viewer:
    """One per session."""

    def __init__(
        self,
        home: str,
        own: tuple[str, ...],
        list_denied: Callable[[], tuple[str, ...]],
        bounds: Bounds,
        *,
        code: tuple[str, ...] = (),
        temporary: str = "",
        aftermath: Aftermath | None = None,
    ) -> None:
        """`own`: folders of ours; `list_denied`: what rules keep from being written; `code`: files that run as we do.

        `temporary`: where copies of the system's files are put; empty: where the process wants temporary files.
        `aftermath`: that of the session's sandbox, where it has one.
        """
        self._temporary = temporary
        self._home, self._own, self._list_denied, self._bounds = home, own, list_denied, bounds
        self._code = code
        self._staging: Temporary | None = None
        self._placeholders = Placeholders()
        self._aftermath = aftermath or Aftermath()
        self._nested: dict[str, list[str]] = {}
        self._pins, self._covers = MountPins(), MountPins()
        self._running = 0

    @property
    def is_sure(self) -> bool:
        """Nothing was left behind, and everything can be looked at: else an edit is for a person to decide."""
        return self._aftermath.is_sure

    def hold(
        self,
        wanted: Start,
        places: HeldPlaces,
        means: Means,
        folder: str,
        *,
        writes: bool,
        keeps_numbers: bool,
        note_closed: Callable[[], None],
    ) -> HeldCell:
        """`keeps_numbers`: descriptors that it is handed have the numbers that they have here.

        Raises `ToolFault` and `OSError`: then nothing is left of it.
        """
        if means.machine is None:
            raise ToolFault("The command did not run: this machine is not known to the sandbox.")
        edits = self._find_edits(places, folder) if writes else None
        with ExitStack() as failed:
            survivors = ViewedSurvivors()
            failed.callback(survivors.end)
            if edits is not None:
                self._aftermath.begin((*edits.traps, *edits.links), edits, places.temporary)
                failed.callback(self._aftermath.end)
                if not self.is_sure:
                    raise ToolFault(UNSURE)
            put = self._placeholders.put(edits.missing) if edits else ()
            if put:
                failed.callback(self._placeholders.remove, put)
            view = plan_held_view(
                means.program,
                places,
                edits,
                put,
                staged=self._find_staged(places.folders),
                as_root=os.geteuid() == 0,
                bounds=self._bounds if means.has_sizes else None,
            )
            # A reader can change neither modes nor owners.
            via = plan_keeping(means.machine) if writes else None
            filtered = make_readable(encode_filter(means.machine, frozenset(), held=True, reads=not writes))
            failed.pop_all()
        self._running += 1

        def close() -> None:
            self._running -= 1
            if put:
                self._placeholders.remove(put)
            note_closed()

        numbers = (filtered, survivors.writable) if keeps_numbers else (FILTER_DESCRIPTOR, INFORMATION_DESCRIPTOR)
        return HeldCell(
            msgspec.structs.replace(
                wanted,
                arguments=[
                    *view, "--seccomp", str(numbers[0]), "--info-fd", str(numbers[1]),
                    "--chdir", folder, "--", *wanted.arguments,
                ],
                descriptors=((filtered, numbers[0]), (survivors.writable, numbers[1])),
                via=via,
                wrapped=True,
            ),
            HeldRoom(places.temporary, self._bounds, is_used=True)
            if places.keeps_temporary
            else ViewedRoom(places.temporary, self._bounds, is_bound=means.has_sizes),
            writes=writes,
            handed=(filtered,),
            note_started=survivors.note_started,
            remark=partial(explain_placeholders, paths=put),
            settle=partial(self._settle, survivors, edits),
            note_closed=close,
        )  # fmt: skip

    def close(self) -> threading.Thread | None:
        """A thread that may still remove something."""
        self._placeholders.sweep()
        self._aftermath.close()
        if self._staging is not None:
            staging, self._staging = self._staging, None
            return staging.close_behind()
        return None

    def _settle(self, survivors: ViewedSurvivors, edits: Places | None) -> tuple[str, ...]:
        """When the command has ended: what was put back behind it, for the model."""
        is_over = survivors.end()
        if edits is None:
            return ()
        done = self._aftermath.end(is_over=is_over)
        return tuple(f"{each[0].upper()}{each[1:]}." for each in explain_put_back(done))

    def _find_staged(self, folders: tuple[str, ...]) -> str:
        if self._staging is not None and self._staging.is_in(folders):
            self._staging.close()
            self._staging = None
        if self._staging is None:
            with ExitStack() as failed:
                staging = make_outside(folders, self._temporary)
                failed.callback(staging.close)
                stage(SYSTEM, staging.path)
                failed.pop_all()
            self._staging = staging
        return f"{self._staging.path}/etc"

    def _find_edits(self, places: HeldPlaces, folder: str) -> Places:
        if folder not in self._nested:
            self._nested[folder] = find_nested(os.path.realpath(folder))
        found = find_places(
            SandboxSettings(deny_write=self._list_denied(), deny_read=places.hidden),
            folders=places.folders,
            temporary=places.temporary,
            homes=(self._home,),
            own=self._own,
            code=self._code,
            nested=self._nested[folder],
            strict=True,
        )
        # A mount follows links: one that still runs could put one in place of what it has made itself, and so show what is outside.
        named = tuple(path for path in (*found.protected, *found.missing) if path not in found.denied)
        covered = {*self._covers.judge(named, running=self._running), *found.denied}
        return msgspec.structs.replace(
            found,
            pinned=self._pins.judge(found.pinned, running=self._running),
            protected=tuple(path for path in found.protected if path in covered),
            missing=tuple(path for path in found.missing if path in covered),
        )

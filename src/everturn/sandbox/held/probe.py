"""Whether bubblewrap can confine unapproved commands on this machine: tried with the arguments that they start with."""

import os
from functools import lru_cache

from everturn.ports.holding import Bounds
from everturn.sandbox.calls import find_machine
from everturn.sandbox.filter import encode_filter
from everturn.sandbox.held.places import HeldPlaces
from everturn.sandbox.held.view import plan_held_view
from everturn.sandbox.probe import LOCAL_PROGRAM, MISSING, Means, find_bubblewrap, try_view
from everturn.workspace.programs import is_local

_NOWHERE = "/everturn/temporary"


def find_view_means(program: str | None, programs: tuple[str, ...], path: str, folders: tuple[str, ...]) -> Means:
    """`program`: where bubblewrap is; else it is searched for on the path. None of the working `folders` is used.

    `programs`: folders of the system's, which a view shows.
    """
    if program and is_local(program, folders):
        return Means(kind="none", why=LOCAL_PROGRAM.format(program))
    found = program or find_bubblewrap(path, folders)
    return _try_view_means(found, programs) if found else Means(kind="none", why=MISSING)


@lru_cache(maxsize=8)
def _try_view_means(found: str, programs: tuple[str, ...]) -> Means:
    machine = find_machine()
    if machine is None:
        return Means(kind="none", why=MISSING)
    places = HeldPlaces(folders=(), programs=programs, readable=(), opened=(), temporary=_NOWHERE)
    filtered = encode_filter(machine, frozenset(), reads=True)
    why = ""
    for bounds in (Bounds(), None):
        view = plan_held_view(found, places, None, staged="/etc", as_root=os.geteuid() == 0, bounds=bounds)
        why = try_view(view, filtered)
        if not why:
            return Means(
                kind="bubblewrap",
                why=f"bubblewrap at {found}",
                machine=machine,
                program=found,
                has_sizes=bounds is not None,
            )
    return Means(kind="none", why=why)

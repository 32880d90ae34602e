"""The session of an engine: opened as the options say, with its folder of large results."""

from collections.abc import Callable, Collection
from pathlib import Path

import msgspec

from everturn import __version__
from everturn.ports.clock import Clock, Ids
from everturn.ports.disk import Disk
from everturn.ports.outputs import Outputs
from everturn.ports.store import Replay
from everturn.sessions.journal import FileJournal
from everturn.sessions.live_file import LiveSessionFile
from everturn.sessions.places import results_folder
from everturn.sessions.session_choice import (
    AnyJournal,
    ChosenSession,
    SessionChoice,
    admit_results,
    plan_replay,
    say_gone,
)
from everturn.settings.setup import Setup


class OpenedSession(msgspec.Struct, frozen=True, kw_only=True):
    journal: AnyJournal
    replay: Replay | None
    """None for a new session."""
    results: Path | None
    """The folder of large results; None where the session is not on disk."""
    notes: tuple[str, ...]
    """Notices for the person."""

    @property
    def id(self) -> str:
        return self.journal.session_id


def open_session(
    setup: Setup, *, ids: Ids, clock: Clock, disk: Disk | None, outputs: Outputs, after: str = ""
) -> OpenedSession:
    """`after`: id of the session that is cleared for this one. Raises `JournalError`; then nothing is open."""
    choice = plan_choice(setup, after)
    chosen = ChosenSession(choice, new_id=ids.new, now=clock.now, disk=disk)
    journal, notes = chosen.journal, list(chosen.journal.warnings)
    results = results_folder(journal.path) if isinstance(journal, FileJournal) else None
    replay = plan_replay(chosen.replay, list_asked(setup)) if chosen.replay else None
    if replay is not None and (gone := admit_results(replay.spilled, results, outputs)):
        notes.append(say_gone(gone))
        replay = msgspec.structs.replace(replay, gone=tuple(gone))
    outputs.folder = None if results is None else str(results)
    return OpenedSession(journal=journal, replay=replay, results=results, notes=tuple(notes))


def plan_choice(setup: Setup, after: str) -> SessionChoice:
    options = setup.options
    return SessionChoice(
        home=setup.home,
        folder=setup.folder,
        version=__version__,
        session_id=options.session_id,
        resume=options.resume,
        newest=options.continue_conversation,
        resume_at=options.resume_at,
        fork=options.fork_session,
        persist=options.persist,
        sync=options.journal_sync,
        after=after,
    )


def list_asked(setup: Setup) -> frozenset[str]:
    """Options that the caller gave by name: what settings files say is for new sessions."""
    named = {"model": setup.options.model, "permission_mode": setup.options.permission_mode}
    return frozenset(name for name, value in named.items() if value is not None and name not in setup.written.defaults)


def build_session_file(journal: AnyJournal, folder: Path, secrets: Callable[[], Collection[str]]) -> LiveSessionFile:
    """`secrets`: our own credentials, which no export shows."""

    def find_mask() -> Callable[[str], str]:
        from everturn.core.masking import mask_keys
        from everturn.models.anthropic.key_mask import mask_secrets

        hidden = tuple(secrets())
        return lambda text: mask_secrets(mask_keys(text), hidden)

    def render_cost(usd: float) -> str:
        from everturn.frontends.figures import render_usd

        return render_usd(usd)

    return LiveSessionFile(journal, folder, find_mask=find_mask, render_usd=render_cost)

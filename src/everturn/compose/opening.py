"""Which session an engine works on: a new one, one that is gone on with, or a copy of one."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from everturn import __version__
from everturn.core.errors import JournalError
from everturn.core.messages import derive_id
from everturn.core.records import FORMAT, Rewound, SessionOpened
from everturn.core.spelled_paths import spell_path
from everturn.ports.disk import Disk
from everturn.ports.store import Replay
from everturn.sessions.journal import FileJournal
from everturn.sessions.memory import MemoryJournal
from everturn.sessions.places import UnkeptError, find_session_file, is_session_id, session_file
from everturn.sessions.waiting import WaitingJournal
from everturn.settings.setup import Setup

AnyJournal = FileJournal | MemoryJournal | WaitingJournal
FORGOTTEN_MODES = frozenset({"plan", "bypassPermissions"})
"""A resumed session does not begin in these by itself: one waits for a person, the other trusts everything."""


class Opening:
    """Opens the session that the options name. Raises `JournalError`; then nothing is open."""

    def __init__(
        self,
        setup: Setup,
        *,
        new_id: Callable[[], str],
        now: Callable[[], float],
        disk: Disk | None,
        after: str = "",
    ) -> None:
        """`after`: id of the session that is cleared for this one."""
        self._setup = setup
        self._after = after
        self._new_id = new_id
        self._now = now
        self._disk = disk
        self.notes: list[str] = []
        self.replay: Replay | None = None
        """None for a new session."""
        options = setup.options
        resumes = options.resume is not None or options.continue_conversation
        self.journal: AnyJournal = self._resume(self._find()) if resumes else self._begin()
        self.notes.extend(self.journal.warnings)

    def _find(self) -> Path:
        setup, name = self._setup, self._setup.options.resume
        if name is None:
            from everturn.sessions.newest import find_newest_file

            newest = find_newest_file(setup.home, setup.folder)
            if newest is None:
                raise JournalError(f"There is no session to continue in {spell_path(str(setup.folder))}.")
            return newest
        if is_session_id(name) and (path := find_session_file(setup.home, name, setup.folder)) is not None:
            return path
        return find_by_name(setup.home, setup.folder, name)

    def _resume(self, source: Path) -> FileJournal:
        options = self._setup.options
        at = None if options.resume_at is None else find_message(source, options.resume_at, self._disk)
        if options.fork_session:
            source, at = self._fork(source, at), None
        journal = self._open(source, source.stem, must_exist=True)
        try:
            self.replay = journal.replay()
            self._note_opening(journal)
            if at is not None and at != self.replay.messages[-1].id:
                journal.append(Rewound(to=at))
                self.replay = journal.replay()
        except BaseException:
            journal.close()
            raise
        return journal

    def _fork(self, source: Path, at: str | None) -> Path:
        from everturn.sessions.forking import fork_session

        setup = self._setup
        target = session_file(setup.home, setup.options.session_id or self._new_id(), setup.folder)
        fork_session(source, target, folder=str(setup.folder), version=__version__, upto=at, disk=self._disk)
        return target

    def _begin(self) -> AnyJournal:
        """Without a home that can be written, a new session lives in memory until there is one."""
        setup, options = self._setup, self._setup.options
        session_id = options.session_id or self._new_id()
        journal: AnyJournal = MemoryJournal(session_id)
        if options.persist:
            if options.session_id and find_session_file(setup.home, session_id, setup.folder) is not None:
                raise JournalError(
                    f"There is a session {session_id} already. Resume it, or give the new one another id."
                )
            path = session_file(setup.home, session_id, setup.folder)
            try:
                journal = self._open(path, session_id)
            except UnkeptError:
                journal = WaitingJournal(session_id, lambda: self._open(path, session_id))
        self._note_opening(journal)
        return journal

    def _open(self, path: Path, session_id: str, *, must_exist: bool = False) -> FileJournal:
        sync = self._setup.options.journal_sync
        return FileJournal(path, session_id, must_exist=must_exist, sync=sync, disk=self._disk, now=self._now)

    def _note_opening(self, journal: AnyJournal) -> None:
        """A disk that does not take it is spoken of with the next record, which it does not take either."""
        opened = SessionOpened(
            format=FORMAT,
            session_id=journal.session_id,
            at=self._now(),
            folder=str(self._setup.folder),
            version=__version__,
            after=self._after,
        )
        with contextlib.suppress(JournalError):
            journal.append(opened)


def find_by_name(home: Path, folder: Path, name: str) -> Path:
    """By a beginning of its id, or by its title. Raises `JournalError`."""
    from everturn.sessions.index.finding import judge_name
    from everturn.sessions.index.index import SessionIndex

    with SessionIndex(home) as index:
        meant = judge_name(index.cards(), name, str(folder))
    if not meant.cards:
        raise JournalError(f"There is no session {name[:80]!r} in {home}.")
    if len(meant.cards) > 1:
        ids = ", ".join(card.id for card in meant.cards[:5])
        raise JournalError(f"{len(meant.cards)} sessions {meant.by} {name[:80]!r}: {ids}. Give the id of one.")
    return Path(meant.cards[0].path)


def find_message(source: Path, wanted: str, disk: Disk | None) -> str:
    """Its id in the session; it may also be given by the API's, or by one under which a part of it was shown. Raises `JournalError`."""
    from everturn.sessions.loading import load_session

    replay, _ = load_session(source, disk=disk)
    for message in reversed(replay.messages):
        if message.answer is not None and message.answer.api_id == wanted:
            return message.id
        if wanted in {derive_id(message.id, place) for place in range(2 * len(message.blocks) or 1)}:
            return message.id
    raise JournalError(f"There is no message {wanted[:80]} in session {source.stem} to go on from.")


def plan_replay(replay: Replay, setup: Setup) -> Replay:
    """What the caller asks for by name beats what the session had."""
    asked = {name for name in ("model", "permission_mode") if is_asked_for(setup, name)}
    changes: dict[str, None] = {}
    if "model" in asked:
        changes |= {"model": None, "asked_model": None}
    if "permission_mode" in asked or replay.mode in FORGOTTEN_MODES:
        changes["mode"] = None
    return msgspec.structs.replace(replay, **changes)


def is_asked_for(setup: Setup, option: str) -> bool:
    return getattr(setup.options, option) is not None and option not in setup.options.only_defaults

"""Which session an engine works on: a new one, one that is resumed, or a copy of one; opened, with what it tells."""

import contextlib
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

import msgspec

from everturn.core.errors import JournalError
from everturn.core.modes import PermissionMode
from everturn.core.records import FORMAT, Rewound, SessionOpened
from everturn.core.spelled_paths import spell_path
from everturn.ports.disk import Disk
from everturn.ports.outputs import Outputs
from everturn.ports.store import Replay
from everturn.sessions.journal import FileJournal, SyncPolicy
from everturn.sessions.places import UnkeptError, find_session_file, is_result, is_session_id, session_file
from everturn.sessions.unsaved import MemoryJournal, WaitingJournal

AnyJournal = FileJournal | MemoryJournal | WaitingJournal
FORGOTTEN_MODES = frozenset({PermissionMode.PLAN, PermissionMode.BYPASS})
"""Modes in which no resumed session begins by itself: one waits for a person, the other trusts everything."""


class SessionChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The session that the caller wants."""

    home: Path
    """The folder that holds all sessions."""
    folder: Path
    """The working folder."""
    version: str
    """Version of Everturn, for the session's file."""
    session_id: str | None = None
    """Id of a new session, or of the copy; None: a random one."""
    resume: str | None = None
    """Id, beginning of an id, or title of the session to resume."""
    newest: bool = False
    """Resume the newest session of the folder."""
    resume_at: str | None = None
    """Id of the message after which the session goes on."""
    fork: bool = False
    """Work on a copy of the resumed session."""
    persist: bool = True
    """A new session is kept on disk."""
    sync: SyncPolicy = "always"
    after: str = ""
    """Id of the session that was cleared for this one."""


class ChosenSession:
    """Opens the session of a choice. Raises `JournalError`; then nothing is open."""

    def __init__(
        self, choice: SessionChoice, *, new_id: Callable[[], str], now: Callable[[], float], disk: Disk | None
    ) -> None:
        self._choice = choice
        self._new_id = new_id
        self._now = now
        self._disk = disk
        self.replay: Replay | None = None
        """None for a new session."""
        resumes = choice.resume is not None or choice.newest
        self.journal: AnyJournal = self._resume(self._find()) if resumes else self._begin()

    def _find(self) -> Path:
        choice, name = self._choice, self._choice.resume
        if name is None:
            from everturn.sessions.session_files import find_newest_file

            newest = find_newest_file(choice.home, choice.folder)
            if newest is None:
                raise JournalError(f"There is no session to continue in {spell_path(str(choice.folder))}.")
            return newest
        if is_session_id(name) and (path := find_session_file(choice.home, name, choice.folder)) is not None:
            return path
        from everturn.sessions.session_files import find_by_name

        return find_by_name(choice.home, choice.folder, name)

    def _resume(self, source: Path) -> FileJournal:
        from everturn.sessions.session_files import find_message

        choice = self._choice
        at = None if choice.resume_at is None else find_message(source, choice.resume_at, self._disk)
        if choice.fork:
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
        from everturn.sessions.fork import fork_session

        choice = self._choice
        target = session_file(choice.home, choice.session_id or self._new_id(), choice.folder)
        fork_session(source, target, folder=str(choice.folder), version=choice.version, upto=at, disk=self._disk)
        return target

    def _begin(self) -> AnyJournal:
        """Without a home that can be written, a new session lives in memory until there is one."""
        choice = self._choice
        session_id = choice.session_id or self._new_id()
        journal: AnyJournal = MemoryJournal(session_id)
        if choice.persist:
            if choice.session_id and find_session_file(choice.home, session_id, choice.folder) is not None:
                raise JournalError(
                    f"There is a session {session_id} already. Resume it, or give the new one another id."
                )
            path = session_file(choice.home, session_id, choice.folder)
            try:
                journal = self._open(path, session_id)
            except UnkeptError:
                journal = WaitingJournal(session_id, lambda: self._open(path, session_id))
        self._note_opening(journal)
        return journal

    def _open(self, path: Path, session_id: str, *, must_exist: bool = False) -> FileJournal:
        sync = self._choice.sync
        return FileJournal(path, session_id, must_exist=must_exist, sync=sync, disk=self._disk, now=self._now)

    def _note_opening(self, journal: AnyJournal) -> None:
        """A disk that refuses this record refuses the next one, too, which is reported."""
        opened = SessionOpened(
            format=FORMAT,
            session_id=journal.session_id,
            at=self._now(),
            folder=str(self._choice.folder),
            version=self._choice.version,
            after=self._choice.after,
        )
        with contextlib.suppress(JournalError):
            journal.append(opened)


def plan_replay(replay: Replay, asked: Collection[str]) -> Replay:
    """What the caller asks for by name (`model`, `permission_mode`) wins over what the session had."""
    changes: dict[str, None] = {}
    if "model" in asked:
        changes |= {"model": None, "asked_model": None}
    if "permission_mode" in asked or replay.mode in FORGOTTEN_MODES:
        changes["mode"] = None
    return msgspec.structs.replace(replay, **changes)


def admit_results(spilled: Iterable[str], results: Path | None, outputs: Outputs) -> list[str]:
    """Files with large results may be read without asking. Returns those that are gone.

    A journal may be anybody's: it opens no file but those that a session of this project has put aside.
    """
    spilled = tuple(spilled)
    ours = [path for path in spilled if results is not None and is_result(path, results)]
    for path in ours:
        outputs.add(path)
    return [path for path in spilled if path not in ours or not Path(path).exists()]


def say_gone(paths: list[str]) -> str:
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"Large results of this session were deleted: {paths[0]}{more}. The model knows their beginnings and ends."

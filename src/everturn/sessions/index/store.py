"""The tables of the index: what each file told so far, and the words that are searched."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from everturn.ports.disk import FILE_MODE
from everturn.sessions.index.card import Gathered
from everturn.sessions.index.file_marks import Mark, ReadPlace

VERSION = 3
"""Raised with every change of the tables or of what is gathered: an index of another version is made anew."""
OURS = 0x45565254
"""By this number in its head SQLite knows whose file it is."""
MESSAGE = "message "
"""Before the id of a message that counts, in its key."""
MAX_WAIT_S = 5.0
IN_MEMORY = ":memory:"
_TABLES = """
CREATE TABLE files(
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, inode INTEGER NOT NULL, size INTEGER NOT NULL,
    written INTEGER NOT NULL, read_to INTEGER NOT NULL, tail BLOB NOT NULL, told BLOB NOT NULL, heard_to INTEGER NOT NULL
);
CREATE TABLE counted(id INTEGER PRIMARY KEY, file INTEGER NOT NULL, key TEXT NOT NULL, UNIQUE(file, key));
CREATE TABLE said(
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, message TEXT NOT NULL, speaker TEXT NOT NULL, text TEXT NOT NULL,
    UNIQUE(file, message)
);
"""
_WORDS = """
CREATE VIRTUAL TABLE words USING fts5(text, content='said', content_rowid='id', tokenize='unicode61 remove_diacritics 2');
CREATE TRIGGER hear AFTER INSERT ON said BEGIN INSERT INTO words(rowid, text) VALUES (new.id, new.text); END;
CREATE TRIGGER forget AFTER DELETE ON said
    BEGIN INSERT INTO words(words, rowid, text) VALUES ('delete', old.id, old.text); END;
"""


_TOLD = msgspec.json.Decoder(Gathered)


class FileRow(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    path: str
    mark: Mark
    place: ReadPlace
    told: Gathered
    heard_to: int
    """Up to here its words can be found; at most where reading stopped."""


class SaidRow(msgspec.Struct, frozen=True, kw_only=True):
    file: int
    message: str
    speaker: str
    text: str


class Store:
    """One connection. Every method may raise `sqlite3.Error`; `is_damage` tells which of them the file is to blame for."""

    def __init__(self, path: Path | None, *, full_text: bool = True) -> None:
        """Without a path, the index lives as long as the program. Raises `OSError` as well."""
        if path is not None:
            # SQLite gives its other files the rights of this one.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE))
        self._base = sqlite3.connect(str(path or IN_MEMORY), timeout=MAX_WAIT_S, isolation_level=None)
        try:
            _check_ours(self._base)
            if path is not None:
                path.chmod(FILE_MODE)
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = NORMAL")
            if self._base.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                self._make(full_text=full_text)
            self.full_text = self._has("words")
        except BaseException:
            self._base.close()
            raise

    def close(self) -> None:
        self._base.close()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """All or nothing."""
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")

    def files(self) -> dict[str, FileRow]:
        return {row.path: row for row in self._files("")}

    def file(self, path: str) -> FileRow | None:
        return next(self._files("WHERE path = ?", path), None)

    def keep_file(self, path: str, mark: Mark, place: ReadPlace, told: Gathered) -> None:
        """Of a file that is known already."""
        self._base.execute(
            "UPDATE files SET inode = ?, size = ?, written = ?, read_to = ?, tail = ?, told = ? WHERE path = ?",
            (mark.inode, mark.size, mark.written, place.offset, place.tail, msgspec.json.encode(told), path),
        )

    def begin_file(self, path: str) -> int:
        """As one of which nothing was read, whatever was known of it."""
        self.forget_file(path)
        made = self._base.execute("INSERT INTO files VALUES (NULL, ?, 0, -1, 0, 0, x'', '{}', 0)", (path,))
        return int(made.lastrowid or 0)

    def forget_file(self, path: str) -> None:
        for (id_,) in self._base.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchall():
            self._base.execute("DELETE FROM counted WHERE file = ?", (id_,))
            self._base.execute("DELETE FROM said WHERE file = ?", (id_,))
            self._base.execute("DELETE FROM files WHERE id = ?", (id_,))

    def count(self, file: int, key: str) -> bool:
        return self._base.execute("INSERT OR IGNORE INTO counted VALUES (NULL, ?, ?)", (file, key)).rowcount == 1

    def uncount(self, file: int, key: str) -> bool:
        return self._base.execute("DELETE FROM counted WHERE file = ? AND key = ?", (file, key)).rowcount == 1

    def is_counted(self, file: int, key: str) -> bool:
        query = "SELECT 1 FROM counted WHERE file = ? AND key = ?"
        return self._base.execute(query, (file, key)).fetchone() is not None

    def counted_after(self, file: int, key: str) -> list[str]:
        """In order; nothing where that one was not counted."""
        query = (
            "SELECT key FROM counted WHERE file = ? AND id > (SELECT id FROM counted WHERE file = ? AND key = ?) "
            "ORDER BY id"
        )
        return [found for (found,) in self._base.execute(query, (file, file, key))]

    def hear(self, said: SaidRow) -> None:
        self.unhear(said.file, said.message)
        self._base.execute(
            "INSERT INTO said VALUES (NULL, ?, ?, ?, ?)", (said.file, said.message, said.speaker, said.text)
        )

    def unhear(self, file: int, message: str) -> None:
        self._base.execute("DELETE FROM said WHERE file = ? AND message = ?", (file, message))

    def unhear_uncounted(self, file: int) -> None:
        """What was said and no longer counts."""
        self._base.execute(
            "DELETE FROM said WHERE file = ? AND ? || message NOT IN (SELECT key FROM counted WHERE file = ?)",
            (file, MESSAGE, file),
        )

    def heard(self, file: int, offset: int) -> None:
        self._base.execute("UPDATE files SET heard_to = ? WHERE id = ?", (offset, file))

    def matching(self, expression: str) -> list[tuple[int, int]]:
        """In the language of FTS5: the file and the number of each message, the last said first."""
        query = (
            "SELECT said.file, said.id FROM words JOIN said ON said.id = words.rowid "
            "WHERE words MATCH ? ORDER BY words.rowid DESC"
        )
        return self._base.execute(query, (expression,)).fetchall()

    def holding(self, patterns: list[str]) -> list[tuple[int, int]]:
        """The same in the language of LIKE, with a backslash before what is meant as it is."""
        tests = " AND ".join("text LIKE ? ESCAPE '\\'" for _ in patterns)
        query = f"SELECT file, id FROM said WHERE {tests} ORDER BY id DESC"  # noqa: S608 (question marks only)
        return self._base.execute(query, patterns).fetchall()

    def said(self, number: int) -> SaidRow:
        query = "SELECT file, message, speaker, text FROM said WHERE id = ?"
        file, message, speaker, text = self._base.execute(query, (number,)).fetchone()
        return SaidRow(file=file, message=message, speaker=speaker, text=text)

    def _files(self, where: str, *values: str) -> Iterator[FileRow]:
        for id_, path, inode, size, written, read_to, tail, told, heard_to in self._base.execute(
            f"SELECT id, path, inode, size, written, read_to, tail, told, heard_to FROM files {where}",  # noqa: S608 (our own words)
            values,
        ):
            yield FileRow(
                id=id_,
                path=path,
                mark=Mark(inode=inode, size=size, written=written),
                place=ReadPlace(offset=read_to, tail=tail),
                told=_TOLD.decode(told),
                heard_to=heard_to,
            )

    def _make(self, *, full_text: bool) -> None:
        """Two programs may come here at once; the second finds it done."""
        with self.changing():
            if self._base.execute("PRAGMA user_version").fetchone()[0] == VERSION:
                return
            for kind, name in self._base.execute(
                "SELECT type, name FROM sqlite_master WHERE sql LIKE 'CREATE %'"
            ).fetchall():
                if kind in {"table", "trigger"} and not name.startswith(("words_", "sqlite_")):
                    self._base.execute(f'DROP {kind} IF EXISTS "{name}"')
            self._run(_TABLES)
            if full_text and _has_full_text(self._base):
                self._run(_WORDS)
            self._base.execute(f"PRAGMA application_id = {OURS}")
            self._base.execute(f"PRAGMA user_version = {VERSION}")

    def _run(self, script: str) -> None:
        """`executescript` would end the transaction."""
        statement = ""
        for piece in script.split(";"):
            statement += f"{piece};"
            if sqlite3.complete_statement(statement):
                if statement.strip(";\n "):
                    self._base.execute(statement)
                statement = ""

    def _has(self, name: str) -> bool:
        return self._base.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone() is not None


def is_damage(error: sqlite3.Error) -> bool:
    """The file is no index, or not a whole one; making it anew helps. A busy or a full disk is another matter."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    return code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT}


def remove_index(path: Path) -> None:
    """Raises `OSError`, also for a database that another program keeps under this name."""
    if path.is_file():
        base = sqlite3.connect(path, timeout=MAX_WAIT_S)
        try:
            _check_ours(base)
        except sqlite3.Error:
            # No database at all, or the ruins of one.
            pass
        finally:
            base.close()
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm", f"{path.name}-journal"):
        with suppress(FileNotFoundError):
            path.with_name(name).unlink()


def _check_ours(base: sqlite3.Connection) -> None:
    [number], [tables] = (
        base.execute(question).fetchone()
        for question in ("PRAGMA application_id", "SELECT count(*) FROM sqlite_master WHERE type = 'table'")
    )
    if tables and number != OURS:
        raise OSError(errno.EEXIST, "it is a database of another program")


def _has_full_text(base: sqlite3.Connection) -> bool:
    try:
        base.execute("CREATE VIRTUAL TABLE temp.trial USING fts5(text)")
    except sqlite3.OperationalError:
        return False
    base.execute("DROP TABLE temp.trial")
    return True

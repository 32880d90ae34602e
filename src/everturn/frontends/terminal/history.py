"""Prompts of the past, this folder's first: read when somebody first looks for one, appended to when one is sent.

Several sessions share the file. A line is added in one write; only who holds the file's lock puts a shorter file in its place.
"""

import os
import stat
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import msgspec

from everturn.core.masking import mask_keys

FILE_NAME = "history.jsonl"
MAX_BYTES = 4 << 20
"""A larger file is written anew with its newest half."""
MAX_TEXT = 20_000
"""Characters; a longer prompt is known to its own session only."""
_MODE = 0o600
_OPEN = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TRIES, _PAUSE_S = 50, 0.001


class PastPrompt(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    folder: str = ""
    time: float = 0.0
    """Unix seconds."""


class PromptHistory:
    def __init__(
        self,
        home: str,
        folder: str,
        *,
        writes: bool = True,
        now: Callable[[], float] = time.time,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """`home`: the program's. `writes`: False where nothing of a session is kept."""
        self._path = f"{home.rstrip('/')}/{FILE_NAME}"
        self._folder = folder
        self._writes = writes
        self._now = now
        self._max_bytes = max_bytes
        self._own: list[PastPrompt] = []
        self._read: list[PastPrompt] = []
        self._read_as: tuple[int, int, int] | None = None
        self.problem = ""
        """Why the last prompt could not be written."""

    def add(self, text: str) -> None:
        """Never raises: a prompt is sent, whatever the disk says. Keys are masked in the file, and only there."""
        if not text.strip():
            return
        prompt = PastPrompt(text=text, folder=self._folder, time=self._now())
        self._own.append(prompt)
        if not self._writes or len(text) > MAX_TEXT:
            return
        try:
            self._append(_encode(prompt))
            self.problem = ""
        except OSError as error:
            self.problem = f"{self._path} cannot be written: {error.strerror or error}"

    def prompts(self) -> list[PastPrompt]:
        """Newest first: those of this folder, then all others. A prompt that repeats the one beside it is left out."""
        self._load()
        own = {(prompt.time, mask_keys(prompt.text)) for prompt in self._own}
        others = [prompt for prompt in self._read if (prompt.time, prompt.text) not in own]
        newest = sorted([*others, *self._own], key=lambda prompt: prompt.time, reverse=True)
        here = [prompt for prompt in newest if prompt.folder == self._folder]
        elsewhere = [prompt for prompt in newest if prompt.folder != self._folder]
        return _leave_out_repeats([*here, *elsewhere])

    def search(self, part: str) -> list[PastPrompt]:
        """Those that hold this part, in upper or lower case, each text once."""
        wanted = part.casefold()
        found: dict[str, PastPrompt] = {}
        for prompt in self.prompts():
            if wanted in prompt.text.casefold():
                found.setdefault(prompt.text, prompt)
        return list(found.values())

    def _load(self) -> None:
        """Only where the file is not as it was read last."""
        try:
            descriptor = os.open(self._path, _READ)
        except OSError:
            return
        try:
            status = os.fstat(descriptor)
            seen = (status.st_ino, status.st_size, status.st_mtime_ns)
            if stat.S_ISREG(status.st_mode) and seen != self._read_as:
                self._read = _decode(_read_tail(descriptor, status.st_size, 2 * self._max_bytes))
                self._read_as = seen
        except OSError:
            return
        finally:
            os.close(descriptor)

    def _append(self, line: bytes) -> None:
        for _ in range(_TRIES):
            descriptor = os.open(self._path, _OPEN, _MODE)
            try:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise OSError(0, "it is no plain file")
                is_held = _hold(descriptor)
                if is_held and not self._is_still(descriptor):
                    # Somebody has put a shorter file in its place meanwhile.
                    continue
                if status.st_mode & 0o077:
                    os.fchmod(descriptor, _MODE)
                size = os.fstat(descriptor).st_size
                is_broken = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
                _write_all(descriptor, b"\n" + line if is_broken else line)
                if is_held and size + len(line) > self._max_bytes:
                    self._shorten(descriptor, size + len(line))
                return
            finally:
                os.close(descriptor)
        raise OSError(0, "another session keeps changing it")

    def _is_still(self, descriptor: int) -> bool:
        try:
            there = os.stat(self._path, follow_symlinks=False)  # noqa: PTH116 - a path as text
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(descriptor))

    def _shorten(self, descriptor: int, size: int) -> None:
        """By whole lines. What was there stays if anything fails."""
        kept = _read_tail(descriptor, size, self._max_bytes // 2)
        beside = f"{self._path}.{os.urandom(6).hex()}.new"
        with suppress(OSError):
            new = os.open(beside, _NEW, _MODE)
            try:
                _write_all(new, kept)
                os.fsync(new)
                os.replace(beside, self._path)  # noqa: PTH105 - paths as text
            except OSError:
                os.unlink(beside)  # noqa: PTH108 - the same
            finally:
                os.close(new)


def _leave_out_repeats(prompts: Iterable[PastPrompt]) -> list[PastPrompt]:
    kept: list[PastPrompt] = []
    for prompt in prompts:
        if not kept or kept[-1].text != prompt.text:
            kept.append(prompt)
    return kept


def _encode(prompt: PastPrompt) -> bytes:
    text = mask_keys(prompt.text).encode("utf-8", "replace").decode()
    folder = prompt.folder.encode("utf-8", "replace").decode()
    return msgspec.json.encode(PastPrompt(text=text, folder=folder, time=prompt.time)) + b"\n"


def _decode(data: bytes) -> list[PastPrompt]:
    """A line that is broken, or that another version wrote in another way, is passed over."""
    decode = msgspec.json.Decoder(PastPrompt).decode
    prompts = []
    for line in data.split(b"\n"):
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            prompts.append(decode(line))
    return prompts


def _read_tail(descriptor: int, size: int, most: int) -> bytes:
    """The last whole lines, so many bytes of them."""
    start = max(size - most, 0)
    data = bytearray()
    while len(data) < most and (piece := os.pread(descriptor, most - len(data), start + len(data))):
        data += piece
    return bytes(data[data.find(b"\n") + 1 :] if start else data)


def _hold(descriptor: int) -> bool:
    """Others hold it for a moment only; whoever holds it for longer is not waited for."""
    import fcntl

    for _ in range(_TRIES):
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(_PAUSE_S)
    return False


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]

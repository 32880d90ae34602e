"""What a command printed, bounded: both ends are kept in memory, the whole in a file up to a limit; people see it while it comes."""

import asyncio
import codecs
import os
import re
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from everturn.core.hiding import Hiding, HidingStream
from everturn.ports.outputs import Outputs

_KEPT = 65_536
"""Bytes held of the head, and at least so many of the tail, before escape sequences are taken out."""
MAX_IN_FILE = 64 * 1024 * 1024
_LOOKED_AT = 8_192
_STRANGE_SHARE = 0.25
_FIRST_BYTES = 16

_ESCAPES = r"""(?x)
  (?:\x1b\[|\x9b)[0-?]*[\ -/]*[@-~]           # colours, cursor
| \x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?   # titles, links, device strings; an open one ends with its line
| \x1b[\ -/]*[0-~]                            # all other escapes
| [\x00-\x08\x0b\x0c\x0e-\x1a\x1b-\x1f\x7f]   # control characters but tab and line ends
"""
_STRANGE = "[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]"
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NAME_BYTES = 4
_SHOWN_LIVE = 262_144
"""Bytes shown piece by piece; of what comes after, samples."""
_SAMPLE = 4_096
_SAMPLE_S = 0.1


class Output:
    def __init__(self, open_file: Callable[[], tuple[str, int]], hiding: Hiding | None = None) -> None:
        """`open_file` makes a file and gives its path and descriptor; it is called when the output is too long to show.

        `hiding` sees all that comes, before it is cut or saved.
        """
        self._hiding = HidingStream(hiding or Hiding())
        self._open_file = open_file
        self._head: list[bytes] = []
        self._head_length = 0
        self._tail: deque[bytes] = deque()
        self._tail_length = 0
        self._descriptor = -1
        self.length = 0
        """Bytes that came, all of them."""
        self.path: str | None = None
        self.saved = 0
        """Bytes in the file."""
        self.trouble = ""
        """Why the file does not hold all that it should."""

    def feed(self, data: bytes) -> bytes:
        """Gives what may be shown of it."""
        data = self._hiding.feed(data)
        self._take(data)
        return data

    def finish(self) -> None:
        """Nothing more comes."""
        self._take(self._hiding.finish())

    def _take(self, data: bytes) -> None:
        self.length += len(data)
        was_open = self._descriptor >= 0
        taken = data[: _KEPT - self._head_length]
        if taken:
            self._head.append(taken)
            self._head_length += len(taken)
        if rest := data[len(taken) :]:
            if self.path is None:
                self.save()
            self._tail.append(rest)
            self._tail_length += len(rest)
            while self._tail_length - len(self._tail[0]) >= _KEPT:
                self._tail_length -= len(self._tail.popleft())
        if self._descriptor >= 0:
            # A file that was opened just now has the head already.
            self._append(data if was_open else rest)

    @property
    def may_be_picture(self) -> bool:
        return bool(self._head) and self._head[0].startswith(b"data:image/")

    @property
    def whole(self) -> bytes | None:
        """All that came, where it is all in memory."""
        is_all = self.length == self._head_length + self._tail_length
        return b"".join((*self._head, *self._tail)) if is_all else None

    def save(self) -> None:
        """From now on there is a file, with all that came before."""
        if self.path is not None or self.trouble:
            return
        try:
            self.path, self._descriptor = self._open_file()
        except OSError as error:
            self.trouble = str(error.strerror)
            return
        self._append(b"".join(self._head))

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def render(self, most: int) -> tuple[str, bool]:
        """For the model: no escape sequences, at most `most` characters and a notice of what was cut. True: this is all."""
        head, tail = b"".join(self._head), b"".join(self._tail)
        if is_binary(head[:_LOOKED_AT]):
            return f"[binary output: {self.length:,} bytes, the first are {head[:_FIRST_BYTES].hex(' ')}]", False
        half = most // 2
        if self.length == len(head) + len(tail):
            whole = strip_escapes((head + tail).decode(errors="replace"))
            if len(whole) <= most:
                return whole, True
            left = f"{len(whole) - 2 * half:,} of {len(whole):,} characters"
            return f"{whole[:half]}\n\n[… {left} left out …]\n\n{whole[-half:]}", False
        first, before = _fit_head(_trim_head(head), half)
        last, after = _fit_tail(_trim_tail(tail), half)
        left = f"{self.length - before - after:,} of {self.length:,} bytes"
        return f"{first}\n\n[… {left} left out …]\n\n{last}", False

    def render_end(self, most: int) -> str:
        """The last characters, without escape sequences, and a notice of what was cut."""
        whole, is_whole = self.render(2 * most)
        # A notice about a few characters would be as long as they are.
        if is_whole and len(whole) <= most * 1.1:
            return whole
        if is_whole:
            return f"[… {len(whole) - most:,} of {len(whole):,} characters left out …]\n{whole[-most:]}"
        _, cut, end = whole.rpartition(" left out …]\n\n")
        return f"[… all but the end of {self.length:,} bytes left out …]\n{end}" if cut else whole

    def _append(self, data: bytes) -> None:
        room = MAX_IN_FILE - self.saved
        if room <= 0:
            self.close()
            return
        try:
            self.saved += os.write(self._descriptor, data[:room])
        except OSError as error:
            self.trouble = str(error.strerror)
            self.close()


def is_binary(data: bytes) -> bool:
    text = data.decode(errors="replace")
    return bool(text) and len(re.findall(_STRANGE, text)) > len(text) * _STRANGE_SHARE


def strip_escapes(text: str) -> str:
    """As a terminal would leave it: of a line that was written over, its last state. A NUL ends a line."""
    if text.replace("\n", "").isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\0", "\n")
    text = re.sub(_ESCAPES, "", text)
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return text


def _fit_head(data: bytes, most: int) -> tuple[str, int]:
    """The first lines that have at most so many characters as they are shown, and how many bytes these are as they came."""
    taken: list[str] = []
    used = 0
    for line in data.split(b"\n"):
        text = strip_escapes(line.decode(errors="replace"))
        between = 1 if taken else 0
        if between + len(text) > most:
            if most < between:
                break
            begin, size = _cut_line(line, text, most - between, from_end=False)
            return "\n".join([*taken, begin]), used + between + size
        taken.append(text)
        used += between + len(line)
        most -= between + len(text)
    return "\n".join(taken), used


def _fit_tail(data: bytes, most: int) -> tuple[str, int]:
    """The same of the last lines."""
    taken: list[str] = []
    used = 0
    for line in reversed(data.split(b"\n")):
        text = strip_escapes(line.decode(errors="replace"))
        between = 1 if taken else 0
        if between + len(text) > most:
            if most < between:
                break
            end, size = _cut_line(line, text, most - between, from_end=True)
            return "\n".join([end, *reversed(taken)]), used + between + size
        taken.append(text)
        used += between + len(line)
        most -= between + len(text)
    return "\n".join(reversed(taken)), used


def _cut_line(line: bytes, text: str, most: int, *, from_end: bool) -> tuple[str, int]:
    """One of its ends, and how many bytes that is. A line with escape sequences is cut by its bytes."""
    if most == 0:
        return "", 0
    if text.encode() == line:
        part = text[-most:] if from_end else text[:most]
        return part, len(part.encode())
    raw = _trim_tail(line[-most:]) if from_end else _trim_head(line[:most])
    return strip_escapes(raw.decode(errors="replace")), len(raw)


def _trim_head(data: bytes) -> bytes:
    """Without a character that is cut at its end."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data)
    return data[: len(data) - len(decoder.getstate()[0])]


def _trim_tail(data: bytes) -> bytes:
    """Without the end of a character that began before it."""
    begin = 0
    while begin < min(3, len(data)) and 0x80 <= data[begin] < 0xC0:  # noqa: PLR2004 - continuation bytes of UTF-8
        begin += 1
    return data[begin:]


class OutputFiles:
    """Files for their user alone. Their folder is made with the first one, and held open: its name may be a command's to change."""

    def __init__(self, outputs: Outputs | None = None, note_folder: Callable[[str], object] = lambda _: None) -> None:
        """`outputs` says which folder, and learns each file's path. `note_folder` learns of a temporary one when it is made."""
        self._outputs = outputs or Outputs()
        self._note_folder = note_folder
        self._folder: str | None = None
        self._descriptor = -1
        self._names: list[str] = []
        self._is_kept = False

    def open(self) -> tuple[str, int]:
        """The path and a descriptor of a new file. Raises `OSError`."""
        if self._folder is None:
            self._folder = self._make_folder()
        name, descriptor = self._open_new()
        self._names.append(name)
        path = f"{self._folder}/{name}"
        self._outputs.add(path)
        return path, descriptor

    def _open_new(self) -> tuple[str, int]:
        """Short, since the model reads and writes it; never that of a file that is gone: its path may still be in the conversation."""
        while True:
            name = f"{os.urandom(_NAME_BYTES).hex()}.log"
            with suppress(FileExistsError):
                return name, os.open(name, _OPEN_FILE, 0o600, dir_fd=self._descriptor)

    def close(self) -> None:
        """The session has ended. What a saved one printed stays with it."""
        if self._folder is None:
            return
        if not self._is_kept:
            for name in self._names:
                with suppress(OSError):
                    os.unlink(name, dir_fd=self._descriptor)
                self._outputs.remove(f"{self._folder}/{name}")
            with suppress(OSError):
                # Only an empty one: what else somebody has put there is theirs.
                os.rmdir(self._folder)  # noqa: PTH106 - a path as text
        os.close(self._descriptor)
        self._folder = None
        self._names.clear()

    def _make_folder(self) -> str:
        if self._outputs.folder is not None:
            made = os.path.realpath(self._outputs.folder)
            # The session's own folder and the one for results in it.
            for folder in (os.path.dirname(made), made):  # noqa: PTH120 - a path as text
                with suppress(FileExistsError):
                    os.mkdir(folder, 0o700)  # noqa: PTH102 - a path as text
            self._descriptor = os.open(made, _OPEN_FOLDER)
            self._is_kept = True
            return made
        from tempfile import mkdtemp

        made = os.path.realpath(mkdtemp(prefix="everturn-", dir=self._outputs.temporary or None))
        self._descriptor = os.open(made, _OPEN_FOLDER)
        self._note_folder(made)
        return made


class LiveOutput:
    """What people see of it while the command runs: all at first; of a flood, a piece now and then."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._shown = 0
        self._next_s = 0.0

    def feed(self, data: bytes) -> None:
        if self._shown < _SHOWN_LIVE:
            self._shown += len(data)
            if text := self._decoder.decode(data):
                self._show(text)
            return
        now = asyncio.get_running_loop().time()
        if now >= self._next_s:
            self._next_s = now + _SAMPLE_S
            # From the beginning of a line on: what stands before it may be the rest of a sequence for the terminal.
            cut, newline, line = data[-_SAMPLE:].partition(b"\n")
            self._show((line if newline else cut).decode(errors="replace"))

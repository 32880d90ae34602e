"""Settings as they stand in a file: JSON in, a map out, and for every mistake the file, the line and the reason."""

import os
import re
import stat
from pathlib import Path
from typing import Any

import msgspec

from everturn.core.errors import OptionError, ToolFault
from everturn.core.patterns import compile_late

FILE_NAME = "settings.json"
MAX_BYTES = 2 * 1024 * 1024
PRIVATE = 0o600
"""What it holds may be a command that prints a key."""
INLINE = "--settings"
"""What text on the command line is called in errors."""

EMPTY = "is empty, as a full disk leaves files: put back what it held, or write {} into it where that was nothing"

KeyPath = tuple[str, ...]
_MIN_READ = 4_096
_BLANKS = compile_late(r"[ \t\r\n]*")
_BYTE = compile_late(r" \(byte (\d+)\)")
_ESCAPE = compile_late(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<half>u[dD][89a-fA-F]..)|.)", re.DOTALL)
"""Of a text in JSON; a character beyond the first 65,536 has two halves."""


class SettingsText(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was read, or text from the command line."""

    where: str
    text: str = "{}"
    values: dict[str, Any] = {}

    def problem(self, path: KeyPath, reason: str) -> OptionError:
        """Names the line on which the key stands."""
        return OptionError(f"{self.where}:{find_line(self.text, path)}", f"{'.'.join(path)} {reason}")


def load_settings(path: Path | str) -> SettingsText | None:
    """None where there is no file. Raises `OptionError` for one that cannot be read or is no JSON object."""
    try:
        # A FIFO would hold us for ever: it is opened without blocking, and then refused.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OptionError(str(path), "is not a regular file")
            content = _read(descriptor, min(status.st_size, MAX_BYTES))
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise OptionError(str(path), f"cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise OptionError(str(path), f"is larger than {MAX_BYTES:,} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise OptionError(f"{path}:{line}", "is not UTF-8") from None
    return parse_settings(text, str(path))


def load_given(given: str) -> SettingsText:
    """What `--settings` names: JSON itself, or a file, which must be there."""
    if is_inline(given):
        return parse_settings(given, INLINE)
    if "\0" in given or not given.strip():
        raise OptionError(INLINE, "must be a file or a JSON object")
    found = load_settings(Path(given).expanduser())
    if found is None:
        raise OptionError(INLINE, f"there is no file {given}")
    return found


def is_inline(given: str) -> bool:
    """What is given is JSON itself."""
    return given.lstrip().startswith("{")


def parse_settings(text: str, where: str) -> SettingsText:
    """Raises `OptionError`, also for an empty text: what a full disk has left of a file may have held rules to deny."""
    if not text.strip():
        raise OptionError(where, EMPTY)
    try:
        values = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise _malformed(text, where, str(error)) from None
    if not isinstance(values, dict):
        raise OptionError(f"{where}:1", 'must hold one JSON object, such as {"model": "sonnet"}')
    from everturn.settings.repeats import find_repeat

    if (repeat := find_repeat(text, values)) is not None:
        name = ".".join(repeat.path)
        raise OptionError(f"{where}:{repeat.again}", f"{name} is already in line {repeat.first}: write it once")
    return SettingsText(where=where, text=text, values=values)


def replace_settings(path: Path, values: dict[str, Any]) -> None:
    """In one step: no reader sees half of it. A new file is its owner's alone. Raises `OptionError`."""
    from everturn.workspace.files import exists, read_file, replace_file

    text = msgspec.json.format(msgspec.json.encode(values), indent=2).decode() + "\n"
    try:
        if exists(str(path)):
            replace_file(str(path), text, like=read_file(str(path)))
        else:
            _create(os.path.realpath(path), text)
    except (ToolFault, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise OptionError(str(path), f"cannot be written: {reason}") from None


def _create(path: str, text: str) -> None:
    """Whole or not at all: an empty file would stop the next run."""
    beside = f"{path}.{os.urandom(8).hex()}"
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE), "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        Path(beside).replace(path)
    except OSError:
        Path(beside).unlink(missing_ok=True)
        raise


def find_line(text: str, path: KeyPath) -> int:
    """Of the key at a path, or of the last part of it that is there. The text is valid JSON."""
    place = _skip_blanks(text, 0)
    line_at = place
    for name in path:
        members = dict(_members(text, place))
        if name not in members:
            break
        line_at, place = members[name]
    return text.count("\n", 0, line_at) + 1


def find_item_lines(text: str, path: KeyPath) -> list[int]:
    """Of each entry of the list at a path, in one pass. The text is valid JSON, and the list is there."""
    import json

    decode = json.JSONDecoder().raw_decode
    at = _skip_blanks(text, 0)
    for name in path:
        at = dict(_members(text, at))[name][1]
    at = _skip_blanks(text, at + 1)
    lines, line, counted = [], 1, 0
    while text[at] != "]":
        line += text.count("\n", counted, at)
        counted = at
        lines.append(line)
        at = _skip_blanks(text, decode(text, at)[1])
        at = _skip_blanks(text, at + 1) if text[at] == "," else at
    return lines


def _members(text: str, at: int) -> list[tuple[str, tuple[int, int]]]:
    """Each key of the object that begins here, with the places of the key and of its value."""
    import json

    found: list[tuple[str, tuple[int, int]]] = []
    decode = json.JSONDecoder().raw_decode
    at = _skip_blanks(text, at + 1) if text[at : at + 1] == "{" else len(text)
    while text[at : at + 1] == '"':
        name, after_name = decode(text, at)
        value_at = _skip_blanks(text, _skip_blanks(text, after_name) + 1)
        found.append((name, (at, value_at)))
        _, after_value = decode(text, value_at)
        at = _skip_blanks(text, _skip_blanks(text, after_value) + 1)
    return found


def _skip_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _read(descriptor: int, expected: int) -> bytes:
    """One byte beyond what is expected shows a file that grew; one beyond what is allowed, a file that is too large."""
    content = b""
    while len(content) <= MAX_BYTES and (piece := os.read(descriptor, max(expected, _MIN_READ) + 1)):
        content += piece
    return content


def _malformed(text: str, where: str, told: str) -> OptionError:
    """The standard library names the line, which msgspec does not; but it takes more for JSON, such as `NaN`."""
    import json

    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        # The library's own texts end in a colon or in "at", for a place that stands elsewhere here.
        reason = error.msg.removesuffix(" at").removesuffix(":")
        return OptionError(f"{where}:{error.lineno}", f"is not valid JSON: {reason} (column {error.colno})")
    except RecursionError:
        return OptionError(where, "is nested too deeply")
    except ValueError:
        return OptionError(where, "holds a number that is too long")
    if half := next((found for found in _ESCAPE.finditer(text) if found["half"]), None):
        line = text.count("\n", 0, half.start()) + 1
        return OptionError(f"{where}:{line}", f"is not valid JSON: {half[0]} is half of a character")
    if found := _BYTE.search(told):
        line = text.encode(errors="replace").count(b"\n", 0, int(found[1])) + 1
        reason = _BYTE.sub("", told).removeprefix("JSON is malformed: ")
        return OptionError(f"{where}:{line}", f"is not valid JSON: {reason}")
    return OptionError(where, f"is not valid JSON: {told}")

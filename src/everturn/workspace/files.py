"""Reading a file with its stamp, and replacing it in one step, so that no reader ever sees half of it."""

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from everturn.core.errors import ToolFault
from everturn.ports.files import Stamp
from everturn.workspace.paths import near_names
from everturn.workspace.text import FileText, decode_text, encode_text, is_binary

MOST_BYTES = 50_000_000
"""A larger file is not read whole into memory."""

_SECRETS = r"/proc/.+/environ"
"""The environment of a process: ours holds the API key."""


def read_file(path: str) -> FileText:
    """A text file, whole. Raises `ToolFault` that says what to do instead."""
    data, status = load_bytes(path)
    if is_binary(data):
        raise ToolFault(f"{path} is a binary file. Look into it with a command such as `file`, `xxd` or `strings`.")
    text, encoding, newline = decode_text(data)
    return FileText(text=text, encoding=encoding, newline=newline, stamp=stamp_of(data, status))


def load_bytes(path: str) -> tuple[bytes, os.stat_result]:
    """Opens nothing but regular files, so that no device or FIFO can hold us. Raises `ToolFault`."""
    try:
        _refuse_special(path, Path(path).stat())
        # The file may have been swapped since: O_NONBLOCK keeps a FIFO from blocking, the second look refuses it.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb", buffering=0):
            status = os.fstat(descriptor)
            _refuse_special(path, status)
            data = _read_bounded(descriptor)
    except (OSError, ValueError) as error:
        raise explain_failure(error, path) from None
    if len(data) > MOST_BYTES:
        raise _too_large(path, status.st_size)
    return data, status


def exists(path: str) -> bool:
    """Raises `ToolFault` where it cannot be told."""
    try:
        Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise explain_failure(error, path) from None
    return True


def replace_file(path: str, text: str, *, like: FileText | None = None) -> Stamp:
    """Writes beside the file, then renames. Keeps mode, owner, encoding, mark and line ends; a link stays a link.

    `like` is the file as it was read: if it changed since, nothing is written. None: the file must not exist;
    missing parents are made. Raises `ToolFault`.
    """
    target = os.path.realpath(path)
    data = encode_text(text, like.encoding, like.newline) if like else _encode_new(text)
    try:
        if like is None:
            Path(target).parent.mkdir(parents=True, exist_ok=True)
        return _replace(target, data, like)
    except (OSError, ValueError) as error:
        raise explain_failure(error, path) from None


def stamp_of(data: bytes, status: os.stat_result) -> Stamp:
    from hashlib import sha256

    return Stamp(size=len(data), mtime_ns=status.st_mtime_ns, digest=sha256(data).hexdigest())


class LocalFiles:
    """`ports.files.Files` on this machine."""

    def changed(self, path: str, stamp: Stamp) -> bool:
        try:
            status = Path(path).stat()
            if status.st_size == stamp.size and status.st_mtime_ns == stamp.mtime_ns:
                return False
            data, status = load_bytes(path)
        except (OSError, ValueError, ToolFault):
            return True
        return stamp_of(data, status).digest != stamp.digest


def explain_failure(error: OSError | ValueError, path: str) -> ToolFault:
    match error:
        case FileNotFoundError():
            near = near_names(path)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            return ToolFault(f"{path} does not exist.{hint}")
        case OSError():
            return ToolFault(f"{path}: {error.strerror or error}.")
        case _:
            return ToolFault(f"{path!r} cannot be a path: {error}.")


def _refuse_special(path: str, status: os.stat_result) -> None:
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        raise ToolFault(f"{path} is a folder. List it with Glob, or with `ls`.")
    if not stat.S_ISREG(mode):
        raise ToolFault(f"{path} is not a regular file (a device, pipe or socket). It cannot be read or written here.")
    if re.fullmatch(_SECRETS, os.path.realpath(path)):
        raise ToolFault(f"{path} is the environment of a process, which may hold keys. It is not read.")
    if status.st_size > MOST_BYTES:
        raise _too_large(path, status.st_size)


def _too_large(path: str, size: int) -> ToolFault:
    return ToolFault(
        f"{path} is larger than {MOST_BYTES // 1_000_000} MB ({size:,} bytes). "
        "Search it with Grep, or look at parts with `head`, `tail` or `sed -n`."
    )


def _read_bounded(descriptor: int) -> bytes:
    pieces = []
    left = MOST_BYTES + 1
    while left > 0 and (piece := os.read(descriptor, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _encode_new(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ToolFault(f"The text holds half of a surrogate pair at position {error.start}; it is not text.") from None


def _replace(target: str, data: bytes, like: FileText | None) -> Stamp:
    before = _status_before(target, like)
    place = Path(target)
    beside = place.with_name(f".everturn-{os.urandom(8).hex()}.new")
    # A new file gets the mode the umask leaves; a replaced one stays private until it has its old mode.
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if before else 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if before:
                _take_over(descriptor, before)
            os.fsync(descriptor)
            status = os.fstat(descriptor)
        _refuse_changed(target, like)
        beside.replace(target)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
    _sync_folder(place.parent)
    return stamp_of(data, status)


def _status_before(target: str, like: FileText | None) -> os.stat_result | None:
    if like is None:
        return None
    status = Path(target).stat()
    _refuse_special(target, status)
    if not os.access(target, os.W_OK):
        raise ToolFault(f"{target} is read-only.")
    return status


def _refuse_changed(target: str, like: FileText | None) -> None:
    if like is None:
        if os.path.lexists(target):
            raise ToolFault(f"{target} exists already. Read it before you overwrite it.")
        return
    data, status = load_bytes(target)
    if stamp_of(data, status).digest != like.stamp.digest:
        raise ToolFault(f"{target} has changed on disk since it was read. Read it again before you change it.")


def _take_over(descriptor: int, before: os.stat_result) -> None:
    ours = os.fstat(descriptor)
    if (ours.st_uid, ours.st_gid) != (before.st_uid, before.st_gid):
        # Only root may give a file away; for others the file becomes theirs, as with any editor.
        with suppress(PermissionError):
            os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _sync_folder(folder: Path) -> None:
    # Some file systems refuse to sync a folder; the rename itself has happened.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

"""The files of a case, made in a folder of their own that is gone with it."""

import os
import resource
import shutil
import socket
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

USER, PROJECT, OUTSIDE = "home/dev", "home/dev/proj", "outside"
BLOCK = 100_000
NOBODY = 65_534


class SetupError(Exception):
    """The files of a case cannot be made; its text says which."""


class CaseFiles:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.home, self.folder, self.outside = root / USER, root / PROJECT, root / OUTSIDE
        self.folder.mkdir(parents=True)
        self.outside.mkdir()

    def expand(self, text: str) -> str:
        for name, place in (("{CWD}", self.folder), ("{HOME}", self.home), ("{OUT}", self.outside)):
            text = text.replace(name, str(place))
        return text

    def make(self, step: str, *words: str) -> None:
        """Raises `SetupError` for a step that nobody knows, or that cannot be made."""
        made = STEPS.get(step)
        if made is None:
            raise SetupError(f"there is no step {step!r} of a setup (there are: {', '.join(STEPS)})")
        try:
            made(*map(self.expand, words))
        except (OSError, TypeError, ValueError) as error:
            raise SetupError(f"the step {[step, *words]} of a setup cannot be made: {error}") from None


def _make_file(path: str, content: str = "") -> None:
    _make_bytes(path, content.encode().hex())


def _make_bytes(path: str, digits: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(bytes.fromhex(digits))


def _make_long(path: str, mark: str, count: str) -> None:
    with Path(path).open("w", encoding="utf-8") as file:
        file.writelines(mark * BLOCK for _ in range(int(count) // BLOCK))


def _make_sparse(path: str, size: str) -> None:
    with Path(path).open("wb") as file:
        file.truncate(int(size))


def _make_folder(path: str) -> None:
    Path(path).mkdir(parents=True, exist_ok=True)


def _make_link(target: str, path: str) -> None:
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir() and not place.is_symlink():
        place.rmdir()
    place.symlink_to(target)


def _make_socket(path: str) -> None:
    # The name of a socket is short by law; a temporary folder is not. The file outlives its socket.
    with socket.socket(socket.AF_UNIX) as made:
        folder = os.open(Path(path).parent, os.O_RDONLY)
        try:
            made.bind(f"/proc/self/fd/{folder}/{Path(path).name}")
        finally:
            os.close(folder)


def _make_huge_picture(path: str, side: str) -> None:
    """Says that it is huge; a few rows are enough to begin with."""
    head = struct.pack(">IIBBBBB", int(side), int(side), 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes(int(side) // 8 + 2) * 8)
    chunks = (_chunk(b"IHDR", head), _chunk(b"IDAT", rows), _chunk(b"IEND", b""))
    Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _swap(path: str, other: str) -> None:
    """`symlink:TARGET` takes the place of what was there."""
    Path(path).unlink()
    Path(path).symlink_to(other.removeprefix("symlink:"))


STEPS: dict[str, Callable[..., None]] = {
    "file": _make_file,
    "hex": _make_bytes,
    "rep": _make_long,
    "sparse": _make_sparse,
    "dir": _make_folder,
    "mkdirs": lambda _count, path: _make_folder(path),
    "symlink": _make_link,
    "hardlink": lambda target, path: Path(path).hardlink_to(target),
    "fifo": os.mkfifo,
    "sock": _make_socket,
    "chmod": lambda mode, path: Path(path).chmod(int(mode, 8)),
    "pngbomb": _make_huge_picture,
    "rm": lambda path: Path(path).unlink(),
    "swap": _swap,
    "note": lambda *_: None,
    "enospc": lambda *_: None,
}


@contextmanager
def made_files() -> Iterator[CaseFiles]:
    """The user's home is the one of the case meanwhile. Gone at the end, whatever modes its folders got."""
    root = Path(tempfile.mkdtemp(prefix="everturn-case-")).resolve()
    root.chmod(0o755)
    home = os.environ.get("HOME")
    try:
        files = CaseFiles(root)
        os.environ["HOME"] = str(files.home)
        yield files
    finally:
        if home is None:
            os.environ.pop("HOME", None)
        else:
            os.environ["HOME"] = home
        _remove(root)


@contextmanager
def full_disk() -> Iterator[None]:
    """No file may grow meanwhile."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def unprivileged(files: CaseFiles) -> Iterator[None]:
    """Root is refused nothing: what a case says about modes of files is about other people."""
    if os.geteuid() != 0:
        yield
        return
    for path in (files.root, *files.root.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def _remove(root: Path) -> None:
    for folder, names, _ in os.walk(root):
        for name in names:
            place = Path(folder, name)
            if not place.is_symlink():
                with suppress(OSError):
                    place.chmod(0o755)
    shutil.rmtree(root, ignore_errors=True)

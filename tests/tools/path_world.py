"""The files of one case of the path corpus, in a root of its own, and the steps that the case leaves to its driver."""

import json
import os
import socket
import struct
import zlib
from pathlib import Path

CORPUS = Path(__file__).parent.parent / "corpora" / "path_cases.jsonl"
BLOCK = 100_000


def load_cases():
    return [json.loads(line) for line in CORPUS.read_text().splitlines()]


class World:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home/dev"
        self.folder = self.home / "proj"
        self.outside = root / "outside"
        self.folder.mkdir(parents=True)
        self.outside.mkdir()

    def expand(self, text: str) -> str:
        places = {"{CWD}": self.folder, "{HOME}": self.home, "{OUT}": self.outside}
        for name, place in places.items():
            text = text.replace(name, str(place))
        return text

    def set_up(self, step: str, *words: str) -> None:
        getattr(self, f"_{step}")(*map(self.expand, words))

    def _file(self, path: str, content: str = "") -> None:
        self._hex(path, content.encode().hex())

    def _hex(self, path: str, digits: str) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(bytes.fromhex(digits))

    def _rep(self, path: str, mark: str, count: str) -> None:
        with Path(path).open("w") as file:
            file.writelines(mark * BLOCK for _ in range(int(count) // BLOCK))

    def _dir(self, path: str) -> None:
        Path(path).mkdir(parents=True, exist_ok=True)

    def _mkdirs(self, _count: str, path: str) -> None:
        self._dir(path)

    def _symlink(self, target: str, path: str) -> None:
        Path(path).symlink_to(target)

    def _hardlink(self, target: str, path: str) -> None:
        Path(path).hardlink_to(target)

    def _fifo(self, path: str) -> None:
        os.mkfifo(path)

    def _sock(self, path: str) -> None:
        # The name of a socket is short by law; a temporary folder is not. It outlives its socket.
        with socket.socket(socket.AF_UNIX) as made:
            folder = os.open(Path(path).parent, os.O_RDONLY)
            made.bind(f"/proc/self/fd/{folder}/{Path(path).name}")
            os.close(folder)

    def _chmod(self, mode: str, path: str) -> None:
        Path(path).chmod(int(mode, 8))

    def _rm(self, path: str) -> None:
        Path(path).unlink()

    def _note(self, _text: str) -> None:
        pass

    def _pngbomb(self, path: str, side: str) -> None:
        """Says that it is huge; a few rows are enough to begin with."""
        head = struct.pack(">IIBBBBB", int(side), int(side), 1, 0, 0, 0, 0)
        rows = zlib.compress(bytes(int(side) // 8 + 2) * 8)
        chunks = (_chunk(b"IHDR", head), _chunk(b"IDAT", rows), _chunk(b"IEND", b""))
        Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

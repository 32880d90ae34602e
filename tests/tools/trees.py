"""Whether a folder is what it was."""

import hashlib
from pathlib import Path


def digest_of(folder: Path) -> str:
    """Of all names, modes, times and contents."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(f"{path}{path.stat().st_mode}{path.stat().st_mtime_ns}".encode())
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()

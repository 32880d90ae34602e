"""Memory files of a repository: text for the model, read at the start, and marked where nobody has trusted the folder."""

import os
import stat
from collections.abc import Iterator

from everturn.ports.trust import UNTRUSTED_MEMORY
from everturn.settings.places import Grounds

NAMES = ("AGENTS.md", "CLAUDE.md")
"""The first that is there: where both are, one mostly repeats the other."""
MOST_BYTES = 40_000
CUT = "\n[… the rest of this file is left out: read it where it matters]"
_HOW = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def load_memory(grounds: Grounds, *, trusted: bool) -> str:
    """Of the repository's root and the folders down to the working one. Empty where there is none; never raises."""
    found = [f"## {path}\n{text}" for path, text in _stream_files(grounds) if text.strip()]
    if not found:
        return ""
    return "\n\n".join(found if trusted else [UNTRUSTED_MEMORY, *found])


def _stream_files(grounds: Grounds) -> Iterator[tuple[str, str]]:
    for folder in _folders(grounds):
        for name in NAMES:
            if (text := _read(path := f"{folder.rstrip('/')}/{name}")) is not None:
                yield path, text
                break


def _folders(grounds: Grounds) -> list[str]:
    below = grounds.folder.removeprefix(grounds.root.rstrip("/"))
    if below == grounds.folder and grounds.root != "/":
        return [grounds.folder]
    parts = [part for part in below.split("/") if part]
    return ["/".join((grounds.root.rstrip("/"), *parts[:count])) for count in range(len(parts) + 1)]


def _read(path: str) -> str | None:
    """None where there is no regular file. A link is not followed: it could lead to a key, which nobody means to send."""
    try:
        descriptor = os.open(path, _HOW)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        content = os.read(descriptor, MOST_BYTES + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    text = content[:MOST_BYTES].decode("utf-8-sig", errors="replace")
    return text + CUT if len(content) > MOST_BYTES else text

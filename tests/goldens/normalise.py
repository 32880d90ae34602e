"""What differs from run to run and from machine to machine is named alike, and nothing else."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from everturn import __version__
from everturn.workspace.platform import describe_platform

TOKEN = "SCENARIO"
VERSION = "VERSION"
_SENT = re.compile(rb'"sent":\[\d+,("[0-9a-f]*","[0-9a-f]*","[0-9a-f]*","[0-9a-f]*","[0-9a-f]*")')
_SEGMENTS = ("settings", "tools", "system", "context", "messages")
_RULES: tuple[tuple[bytes, bytes], ...] = (
    # The server's port; a body's length, which the platform's name and such change; ids that the server makes of a request.
    (rb"127\.0\.0\.1:\d+", b"SERVER"),
    (rb'"content-length":"\d+"', b'"content-length":"N"'),
    (rb"\breq_[0-9a-f]{24}", b"req_N"),
    # When a file was changed.
    (rb'"mtime_ns":\d+', b'"mtime_ns":0'),
    # What was measured by the real clock.
    (rb'"(duration(?:_api)?_?[mM]s)":\d+', rb'"\1":0'),
    (rb"(after|for) \d+\.\d s\b", rb"\1 N s"),
    # Names that are drawn by lot: tasks, files of what commands print, folders for temporary files.
    (rb"\bbash_[0-9a-f]{8}\b", b"bash_N"),
    (rb"\b[0-9a-f]{8}\.log", b"N.log"),
    (rb"\beverturn-scratch-[0-9a-z_]{8}(?![\w-])", b"everturn-scratch-N"),
)
_REAL_WORLD: tuple[tuple[bytes, bytes], ...] = (
    (rb'"timestamp":"[^"]*"', b'"timestamp":"2026-11-16T12:00:00.000Z"'),
    (rb'"at":[\d.]+', b'"at":0'),
    (rb'"sent":\[\d+', b'"sent":[0'),
    (rb"today(\"?: ?\"?)\d{4}-\d\d-\d\d, \w+day", rb"today\1TODAY"),
)
"""Of a process whose clock is not ours."""
_UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[45][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


def normalise(
    files: Mapping[str, bytes], *, token: str, bodies: Sequence[Any], in_real_world: bool = False
) -> dict[str, bytes]:
    """`token` is what the path of the folder has of its own; `bodies` of the requests."""
    named = _NamedDigests(token, bodies)
    normal = {name: _normalise_text(content, token, named.replace) for name, content in files.items()}
    return _normalise_real_world(normal) if in_real_world else normal


def _normalise_real_world(files: Mapping[str, bytes]) -> dict[str, bytes]:
    ids: dict[bytes, bytes] = {}

    def name_id(found: re.Match[bytes]) -> bytes:
        return ids.setdefault(found[0], b"uuid-%d" % (len(ids) + 1))

    normal = {}
    for name, content in files.items():
        normal[name] = _UUID.sub(name_id, content)
        for pattern, replacement in _REAL_WORLD:
            normal[name] = re.sub(pattern, replacement, normal[name])
    return normal


def _normalise_text(content: bytes, token: str, name_digests: Callable[[re.Match[bytes]], bytes]) -> bytes:
    content = _SENT.sub(name_digests, content)
    content = content.replace(token.encode(), TOKEN.encode())
    content = content.replace(f"everturn/{__version__}".encode(), f"everturn/{VERSION}".encode())
    content = re.sub(rb'"((?:everturn_)?version)":"%b"' % re.escape(__version__.encode()), rb'"\1":"VERSION"', content)
    content = content.replace(json.dumps(describe_platform())[1:-1].encode(), b"PLATFORM")
    for pattern, replacement in _RULES:
        content = re.sub(pattern, replacement, content)
    return content


class _NamedDigests:
    """Fingerprints of what a request said: those of a part that names the folder, or the platform, are numbered as they come."""

    def __init__(self, token: str, bodies: Sequence[Any]) -> None:
        told = {
            "tools": [body.get("tools") for body in bodies if body],
            "system": [body.get("system") for body in bodies if body],
            "messages": [body.get("messages") for body in bodies if body],
        }
        told["context"] = told["messages"]
        words = (token, describe_platform())
        self._varies = {segment for segment, parts in told.items() if any(word in json.dumps(parts) for word in words)}
        self._names: dict[str, str] = {}

    def replace(self, found: re.Match[bytes]) -> bytes:
        digests = [
            self._names.setdefault(digest, f"{segment}-{len(self._names) + 1}")
            if segment in self._varies and digest
            else digest
            for segment, digest in zip(_SEGMENTS, json.loads(b"[%b]" % found[1]), strict=True)
        ]
        whole = found[0]
        return whole[: found.start(1) - found.start()] + json.dumps(digests, separators=(",", ":"))[1:-1].encode()

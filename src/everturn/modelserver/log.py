"""What the server remembers of each request, in memory and in a file, without the values of headers that carry keys."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import msgspec

from everturn.modelserver.rules.lints import Lint

REDACTED = "[redacted]"
_CREDENTIALS = ("x-api-key", "authorization", "proxy-authorization", "cookie")


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """One request and what became of it."""

    number: int
    """From 1, over all cases of the server."""
    at: float
    """Seconds since the server started."""
    case: str
    """The path prefix that chose the script; empty for a server with one script."""
    method: str
    path: str
    """Without prefix and query."""
    headers: dict[str, str]
    """Names in lower case; credentials are there, their values are not."""
    raw: bytes
    """The body as it came."""
    body: Any
    """The body decoded; None when it is no JSON."""
    refused: str | None = None
    """The id of the rule that refused it."""
    lints: tuple[Lint, ...] = ()


def without_credentials(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: REDACTED if name in _CREDENTIALS else value for name, value in headers.items()}


class LogFile:
    """One JSON object for each request, a line each, written at once."""

    def __init__(self, path: Path) -> None:
        try:
            self._file: IO[str] = path.open("a", encoding="utf-8")
        except OSError as error:
            raise OSError(f"the log {path} cannot be written: {error.strerror}") from error

    def append(self, received: Received) -> None:
        """The body is written as it came: a key that is also a word would be torn out of it."""
        try:
            text = _render(received, received.body)
        except RecursionError:
            text = _render(received, None)
        self._file.write(text + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def _render(received: Received, body: Any) -> str:
    line = {
        "time": time.time(),
        "number": received.number,
        "case": received.case,
        "method": received.method,
        "path": received.path,
        "headers": received.headers,
        "body": received.raw.decode("utf-8", "replace") if body is None else body,
        "refused": received.refused,
        "lints": msgspec.to_builtins(received.lints),
    }
    return json.dumps(line)

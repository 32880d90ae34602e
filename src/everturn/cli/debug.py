"""The debug log: what was asked, what came back, what was decided and how long it took; never a secret."""

import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from everturn.cli.errors import UsageError
from everturn.core.errors import ModelFault
from everturn.core.events import (
    AnswerAdded,
    CacheMissed,
    CallDenied,
    CallEnded,
    ContextChanged,
    Continued,
    ErrorReleased,
    Event,
    HookRan,
    ModelSwitched,
    ModeSwitched,
    Noticed,
    PermissionAsked,
    RequestStarted,
    ResultEvent,
    Retracted,
    RetryScheduled,
    UsageReported,
)
from everturn.core.masking import mask_keys
from everturn.models.anthropic.key_mask import mask_secrets
from everturn.ports.transport import Response, Transport

FOLDER_MODE = 0o700
FILE_MODE = 0o600
SECRET_WORDS = frozenset({"KEY", "KEYS", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "AUTHORIZATION", "HEADERS"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def is_secret_name(name: str) -> bool:
    """Of a variable or a setting: `ANTHROPIC_API_KEY`, `apiKey`; not `GIT_AUTHOR_NAME`."""
    return any(word.upper() in SECRET_WORDS for word in _WORD.findall(name))


def known_secrets(env: Mapping[str, str]) -> set[str]:
    """Values of variables whose names speak of secrets, whole and in parts: a header has its name before it."""
    values = {value for name, value in env.items() if is_secret_name(name)}
    parts = {part for value in values for part in value.split()}
    return {value.strip() for value in values | parts if value.strip()}


def open_log(named: str | bool, home: Path, env: Mapping[str, str], *, bodies: bool) -> "DebugLog":
    """In a file of its own for each run, unless one is named. Raises `UsageError` where it cannot be written."""
    if isinstance(named, str):
        path = Path(named).expanduser()
    else:
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        path = home / "debug" / f"{stamp}-{os.getpid()}.log"
    try:
        path.parent.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"--debug: {path} cannot be written: {reason}") from None
    return DebugLog(path, os.fdopen(descriptor, "w", encoding="utf-8", errors="replace"), env, bodies=bodies)


class DebugLog:
    """One line for each thing that happened: seconds since the start, what it was, and its facts."""

    def __init__(self, path: Path, file: TextIO, env: Mapping[str, str], *, bodies: bool) -> None:
        self.path = path
        self.bodies = bodies
        self._file = file
        self._secrets = known_secrets(env)
        self._start = time.monotonic()

    def write(self, what: str, /, **facts: Any) -> None:
        """A log that cannot be written any more must not end the run."""
        line = f"+{time.monotonic() - self._start:.3f}s {render_facts(what, facts)}"
        line = mask_keys(mask_secrets(line, self._secrets))
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except (OSError, ValueError):
            return

    def close(self) -> None:
        # What a full disk did not take is tried once more, and refused once more.
        with suppress(OSError):
            self._file.close()

    def note(self, event: Event) -> None:
        if (told := describe_event(event)) is not None:
            self.write(told[0], **told[1])

    def wrap(self, transport: Transport) -> Transport:
        return LoggedTransport(transport, self)


class LoggedTransport:
    """Implements `ports.transport.Transport`. Headers are not written: the credential is among them."""

    def __init__(self, inner: Transport, log: DebugLog) -> None:
        self._inner = inner
        self._log = log

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Response:
        self._log.write("request", url=url, bytes=len(body), beta=headers.get("anthropic-beta"))
        if self._log.bodies:
            self._log.write("body", json=body.decode("utf-8", "replace"))
        start = time.monotonic()
        try:
            response = await self._inner.post(url, headers, body)
        except ModelFault as fault:
            self._log.write("no_response", kind=fault.kind, text=fault.text, after_ms=_ms(start))
            raise
        self._log.write(
            "response", status=response.status, after_ms=_ms(start), request_id=response.headers.get("request-id")
        )
        return response

    async def warm(self, url: str) -> None:
        start = time.monotonic()
        await self._inner.warm(url)
        self._log.write("connection_warmed", after_ms=_ms(start))

    async def aclose(self) -> None:
        await self._inner.aclose()


def describe_event(event: Event) -> tuple[str, dict[str, Any]] | None:
    """What of an event belongs into the log: its numbers and reasons, never what was said."""
    kind = str(event.__struct_config__.tag)
    match event:
        case RequestStarted(turn=turn, model=model):
            return kind, {"turn": turn, "model": model}
        case AnswerAdded(message=message):
            return kind, {"blocks": len(message.blocks), "calls": len(message.uses)}
        case CallEnded(name=name, is_error=is_error, duration_s=duration_s):
            return kind, {"name": name, "is_error": is_error, "ms": round(duration_s * 1000)}
        case CallDenied(name=name, reason=reason) | PermissionAsked(name=name, reason=reason):
            return kind, {"name": name, "reason": reason}
        case UsageReported(purpose=purpose, model=model, usage=usage, usd=usd):
            estimated = {"estimated_output": usage.estimated_output} if usage.estimated_output else {}
            return kind, {"purpose": purpose, "model": model, "tokens": usage.total, **estimated, "usd": f"{usd:.6f}"}
        case ErrorReleased(problem=problem):
            return kind, {"kind": problem.kind, "text": problem.text}
        case ResultEvent(reason=reason, exit=code, num_turns=turns, duration_s=duration_s):
            return kind, {"reason": reason, "exit": code, "turns": turns, "ms": round(duration_s * 1000)}
        case (
            Continued()
            | RetryScheduled()
            | Retracted()
            | ModelSwitched()
            | ModeSwitched()
            | ContextChanged()
            | CacheMissed()
            | HookRan()
            | Noticed()
        ):
            return kind, {name: getattr(event, name) for name in event.__struct_fields__}
        case _:
            return None


def render_facts(what: str, facts: Mapping[str, Any]) -> str:
    told = (f"{name}={_show(value)}" for name, value in facts.items() if value not in (None, ""))
    return " ".join((what, *told))


def _ms(start: float) -> int:
    return round((time.monotonic() - start) * 1000)


def _show(value: Any) -> str:
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    return repr(text) if any(mark.isspace() or not mark.isprintable() for mark in text) else text

"""Checks the hooks of settings files. A wrong entry becomes a warning and is skipped. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import count
from typing import Any

import msgspec

from everturn.core.masking import mask_keys
from everturn.hooks.matcher import Matcher
from everturn.ports.hook_events import (
    AGENT_S,
    HOOK_EVENTS,
    PROMPT_S,
    HookEvent,
    HookKind,
)
from everturn.ports.hooks import HookSettings, WrittenHooks

MAX_HOOKS = 10_000
"""Of one event in one file. A repository could ask for minutes of work otherwise."""
MAX_TIMEOUT_S = 86_400.0
_SHOWN = 120
_SHELLS = ("bash", "powershell")


class WrongHookError(Exception):
    """The text says what is wrong with one hook."""


class HookSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One hook, checked."""

    event: HookEvent
    kind: HookKind
    matcher: Matcher
    source: str
    origin: str
    timeout_s: float
    has_own_timeout: bool = False
    condition: str = ""
    """A permission rule (`if`)."""
    command: str = ""
    arguments: tuple[str, ...] | None = None
    """Set: the command is a program, and no shell reads it."""
    shell: str = ""
    is_async: bool = False
    wakes: bool = False
    """... and its exit code 2 is told to the model."""
    url: str = ""
    headers: Mapping[str, str] = {}
    variables: tuple[str, ...] = ()
    """Which the headers may hold."""
    prompt: str = ""
    model: str = ""
    continue_on_block: bool = False
    server: str = ""
    """The MCP server that is called, and its tool."""
    tool: str = ""
    input: Mapping[str, Any] = {}
    """Arguments of that call. `${path.in.input}` in their texts is a field of the event."""

    @property
    def label(self) -> str:
        """What it is, in one line for people, without the credentials that stand in it."""
        match self.kind:
            case HookKind.COMMAND:
                told = " ".join((self.command, *(self.arguments or ())))
            case HookKind.HTTP:
                told = self.url.partition("?")[0]
            case HookKind.MCP_TOOL:
                told = f"{self.server} {self.tool}"
            case _:
                told = self.prompt
        line = mask_keys(" ".join(told.split()))
        return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"

    @property
    def key(self) -> tuple[Any, ...]:
        """The same in two hooks: they are one, and run once.

        Whatever decides what comes of it is part of it: a copy that nobody waits for, or that has no time, is another hook.
        """
        return (
            self.kind,
            self.command,
            self.arguments,
            self.shell,
            self.is_async,
            self.wakes,
            self.timeout_s,
            self.url,
            tuple(sorted(self.headers.items())),
            self.variables,
            self.prompt,
            self.model,
            self.continue_on_block,
            self.condition,
            self.server,
            self.tool,
            msgspec.json.encode(self.input, order="sorted"),
        )


class ParsedHooks(msgspec.Struct, frozen=True, kw_only=True):
    specs: tuple[HookSpec, ...]
    remarks: tuple[str, ...]
    """What was passed over, a sentence each."""


def parse_hooks(written: Iterable[WrittenHooks]) -> ParsedHooks:
    specs: list[HookSpec] = []
    remarks: list[str] = []
    for one in written:
        event = HOOK_EVENTS.get(one.event)
        if event is None:
            remarks.append(
                f"{one.origin}: there is no event {one.event!r:.60}{suggest_event(one.event)}; its hooks are passed over"
            )
        elif event.not_yet:
            remarks.append(f"{one.origin}: hooks of {one.event} do not run yet: {event.not_yet}")
        else:
            specs += _parse_event(one, event, remarks)
    return ParsedHooks(specs=tuple(specs), remarks=tuple(remarks))


def select_hooks(settings: HookSettings) -> ParsedHooks:
    """Without the http hooks that ask an address that is not allowed."""
    parsed = parse_hooks(settings.written)
    if settings.allowed_urls is None:
        return parsed
    patterns = [_compile_url(text) for text in settings.allowed_urls]
    kept, remarks = [], list(parsed.remarks)
    for spec in parsed.specs:
        if spec.kind is HookKind.HTTP and not any(pattern.fullmatch(spec.url) for pattern in patterns):
            remarks.append(
                f"{spec.origin}: the {spec.event.name} hook {spec.label} is passed over: allowedHttpHookUrls has no pattern for it"
            )
        else:
            kept.append(spec)
    return ParsedHooks(specs=tuple(kept), remarks=tuple(remarks))


def _compile_url(text: str) -> re.Pattern[str]:
    """A `*` before the path stays before it, and takes no name and password along: no host stands behind another one."""
    scheme, mark, rest = text.partition("://")
    host, slash, path = rest.partition("/") if mark else ("", "", text)
    ends = r"(?:[/?#].*)?" if host.endswith("*") and not slash else ""
    head = _join(scheme if mark else "", r"[^:/]*") + mark + _join(host, r"[^/?#@\\]*")
    return re.compile(head + slash + _join(path, ".*") + ends, re.DOTALL)


def _join(text: str, star: str) -> str:
    return star.join(map(re.escape, text.split("*")))


def suggest_event(name: str) -> str:
    by_form = {known.lower(): known for known in HOOK_EVENTS}
    found = get_close_matches(name.lower().replace("_", ""), list(by_form), n=1, cutoff=0.6)
    return f"; did you mean {by_form[found[0]]}?" if found else ""


def _parse_event(one: WrittenHooks, event: HookEvent, remarks: list[str]) -> Iterator[HookSpec]:
    handlers = _list_handlers(one.value)
    for number in count():
        try:
            if (handler := next(handlers, None)) is None:
                return
        except WrongHookError as wrong:
            remarks.append(f"{one.origin}: hooks.{event.name}: {wrong}")
            return
        if number >= MAX_HOOKS:
            remarks.append(
                f"{one.origin}: hooks.{event.name} holds more than {MAX_HOOKS:,} hooks; the rest is passed over"
            )
            return
        try:
            yield _parse_handler(one, event, *handler)
        except WrongHookError as wrong:
            remarks.append(f"{one.origin}: a hook of {event.name} is passed over: {wrong}")


def _list_handlers(value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, list):
        raise WrongHookError("it must be a list of objects with `hooks`")
    for group in value:
        if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
            raise WrongHookError("each entry must be an object with a list `hooks`")
        matcher = group.get("matcher")
        if not isinstance(matcher, str | None):
            raise WrongHookError(f"a matcher must be text, not {matcher!r:.60}")
        for handler in group["hooks"]:
            yield matcher or "", handler


def _parse_handler(one: WrittenHooks, event: HookEvent, matcher: str, value: Any) -> HookSpec:
    if not isinstance(value, dict):
        raise WrongHookError(f"it must be an object, not {value!r:.60}")
    kind = _kind(value.get("type"), event)
    given = Matcher(matcher if event.matched else "", strict_names=event.strict_names)
    timeout = value.get("timeout")
    if timeout is not None and (
        isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= MAX_TIMEOUT_S
    ):
        raise WrongHookError(f"timeout must be a number of seconds up to {MAX_TIMEOUT_S:,.0f}, not {timeout!r:.60}")
    condition = _text(value, "if")
    if condition and not event.is_of_tool:
        raise WrongHookError("`if` is for events of tools: with it, this hook never runs")
    return HookSpec(
        event=event,
        kind=kind,
        matcher=given,
        source=one.source,
        origin=one.origin,
        timeout_s=float(timeout) if timeout is not None else default_timeout(event, kind),
        has_own_timeout=timeout is not None,
        condition=condition,
        command=_text(value, "command", needed=kind is HookKind.COMMAND),
        arguments=_texts(value, "args"),
        shell=_one_of(value, "shell", _SHELLS),
        is_async=_flag(value, "async") or _flag(value, "asyncRewake"),
        wakes=_flag(value, "asyncRewake"),
        url=_url(value) if kind is HookKind.HTTP else "",
        headers=_headers(value),
        variables=_texts(value, "allowedEnvVars") or (),
        prompt=_text(value, "prompt", needed=kind in {HookKind.PROMPT, HookKind.AGENT}),
        model=_text(value, "model"),
        continue_on_block=_flag(value, "continueOnBlock"),
        server=_text(value, "server", needed=kind is HookKind.MCP_TOOL),
        tool=_text(value, "tool", needed=kind is HookKind.MCP_TOOL),
        input=_object(value, "input"),
    )


def default_timeout(event: HookEvent, kind: HookKind) -> float:
    return {HookKind.PROMPT: PROMPT_S, HookKind.AGENT: AGENT_S}.get(kind, event.program_s)


def _kind(value: Any, event: HookEvent) -> HookKind:
    try:
        kind = HookKind(value)
    except ValueError:
        raise WrongHookError(f"type must be one of {', '.join(HookKind)}, not {value!r:.60}") from None
    if kind not in event.kinds:
        raise WrongHookError(f"type {kind} is not for {event.name} (possible: {', '.join(event.kinds)})")
    return kind


def _object(value: dict[str, Any], name: str) -> dict[str, Any]:
    given = value.get(name, {})
    if not isinstance(given, dict):
        raise WrongHookError(f"{name} must be an object, not {given!r:.60}")
    return given


def _text(value: dict[str, Any], name: str, *, needed: bool = False) -> str:
    text = value.get(name, "")
    if not isinstance(text, str) or "\0" in text:
        raise WrongHookError(f"{name} must be text, not {text!r:.60}")
    if needed and not text.strip():
        raise WrongHookError(f"{name} is missing")
    return text


def _texts(value: dict[str, Any], name: str) -> tuple[str, ...] | None:
    texts = value.get(name)
    if texts is None:
        return None
    if not isinstance(texts, list) or not all(isinstance(text, str) and "\0" not in text for text in texts):
        raise WrongHookError(f"{name} must be a list of texts")
    return tuple(texts)


def _flag(value: dict[str, Any], name: str) -> bool:
    flag = value.get(name, False)
    if not isinstance(flag, bool):
        raise WrongHookError(f"{name} must be true or false, not {flag!r:.60}")
    return flag


def _one_of(value: dict[str, Any], name: str, choices: tuple[str, ...]) -> str:
    text = _text(value, name)
    if text and text not in choices:
        raise WrongHookError(f"{name} must be {' or '.join(choices)}, not {text!r:.60}")
    return text


def _url(value: dict[str, Any]) -> str:
    url = _text(value, "url", needed=True)
    if not url.startswith(("http://", "https://")) or not url.isprintable() or " " in url:
        raise WrongHookError("url must be an http or https address")
    return url


def _headers(value: dict[str, Any]) -> dict[str, str]:
    headers = value.get("headers", {})
    wrong = not isinstance(headers, dict) or not all(
        isinstance(content, str)
        and content.isprintable()
        and name.isascii()
        and name.replace("-", "").replace("_", "").isalnum()
        for name, content in headers.items()
    )
    if wrong:
        # No value is shown: one may be a credential.
        raise WrongHookError("headers must map names of headers to values of one line")
    return dict(headers)

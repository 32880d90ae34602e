"""`everturn hooks list`: every hook of the settings files, where it stands, and what keeps it from running."""

import os
from collections.abc import Iterator

import msgspec

from everturn.cli.console import complain, render_json, write
from everturn.cli.syntax import JSON, Arguments
from everturn.core.state import Exit
from everturn.frontends.harmless import make_line
from everturn.hooks.configuration import HookSpec, parse_hooks, select_hooks
from everturn.ports.hooks import HookSettings, WrittenHooks
from everturn.ports.trust import Definition
from everturn.settings.program_files import SettingsArguments, find_roots, load_program_settings
from everturn.settings.sources import Merged
from everturn.settings.trust import HOOKS

NOTHING = "No hooks are configured.\n"


class ListedHook(msgspec.Struct, frozen=True, kw_only=True):
    event: str
    matcher: str
    kind: str
    hook: str
    condition: str
    timeout_s: float
    source: str
    origin: str
    skipped: str
    """Why it does not run; empty where it does."""


def run_list(asked: Arguments) -> int:
    roots = find_roots(os.environ)
    merged, _ = load_program_settings(roots, os.environ)
    whole, _ = load_program_settings(roots, os.environ, SettingsArguments(trust=True))
    remarks: list[str] = [str(problem) for problem in merged.problems]
    listed = [each for one in whole.definitions if one.kind == HOOKS for each in _list(one, merged, remarks)]
    for remark in remarks:
        complain(make_line(remark))
    if JSON.name in asked:
        write(f"{render_json(msgspec.to_builtins(listed))}\n")
    else:
        write("".join(f"{indent_line(line)}\n" for line in render_hooks(listed)) or NOTHING)
    return Exit.USAGE if merged.problems else Exit.OK


def _list(one: Definition, merged: Merged, remarks: list[str]) -> Iterator[ListedHook]:
    written = WrittenHooks(event=one.name, value=one.value, source=one.source, origin=one.origin)
    parsed = parse_hooks((written,))
    remarks += parsed.remarks
    may_run = any(
        each.kind == HOOKS and each.origin == one.origin and each.value == one.value for each in merged.definitions
    )
    settings = merged.hooks or HookSettings()
    allowed = {spec.key for spec in select_hooks(msgspec.structs.replace(settings, written=(written,))).specs}
    for spec in parsed.specs:
        yield _describe(spec, _why_not(spec, merged, may_run=may_run, allowed=spec.key in allowed))


def _why_not(spec: HookSpec, merged: Merged, *, may_run: bool, allowed: bool) -> str:
    if not may_run:
        return "changed since the folder was trusted" if merged.trusted else "the folder is not trusted"
    if off := merged.why_no_hooks(spec.source):
        return off
    if not allowed:
        return "allowedHttpHookUrls has no pattern for it"
    return spec.matcher.problem


def _describe(spec: HookSpec, skipped: str) -> ListedHook:
    return ListedHook(
        event=spec.event.name,
        matcher=spec.matcher.text,
        kind=str(spec.kind),
        hook=spec.label,
        condition=spec.condition,
        timeout_s=spec.timeout_s,
        source=spec.source,
        origin=spec.origin,
        skipped=skipped,
    )


def render_hooks(listed: list[ListedHook]) -> Iterator[str]:
    event = ""
    for one in sorted(listed, key=lambda each: each.event):
        if one.event != event:
            event = one.event
            yield event
        on = f"{one.matcher or '*'}{f' if {one.condition}' if one.condition else ''}"
        state = f"does not run: {one.skipped}" if one.skipped else "runs"
        yield f"  {on}  {one.kind}: {one.hook}  ({one.source}, {one.origin}; at most {one.timeout_s:g} s)  {state}"


def indent_line(line: str) -> str:
    """As one line for a terminal; two blanks at its beginning stay."""
    return f"  {make_line(line)}" if line.startswith("  ") else make_line(line)

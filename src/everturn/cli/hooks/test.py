"""`everturn hooks test`: asks the hooks of an event for real, and shows what each answered and what all of them mean."""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from everturn.cli.console import complain, render_json, write
from everturn.cli.errors import UsageError
from everturn.cli.hooks.list import indent_line
from everturn.cli.syntax import JSON, Arguments
from everturn.compose.cli import Launch, plan_launch
from everturn.compose.hooks import HookPlace, build_dispatch
from everturn.compose.lone_policy import build_call
from everturn.compose.system import SystemClock
from everturn.core.errors import InputFault
from everturn.core.events import HookRan
from everturn.core.state import Exit
from everturn.frontends.harmless import make_line
from everturn.hooks.answers import name_decision
from everturn.hooks.configuration import suggest_event
from everturn.ports.hook_events import COMMON_FIELDS, HOOK_EVENTS, HookEvent
from everturn.ports.hooks import NOTHING_SAID, HookRuling, HookVerdict, Occasion
from everturn.ports.outputs import Outputs
from everturn.ports.shell_folder import ShellFolder
from everturn.ports.tasks import Tasks
from everturn.sessions.blobs import ResultShelf

SESSION = "00000000-0000-4000-8000-000000000000"
SEE = "everturn hooks test --help"


def run_test(asked: Arguments) -> int:
    """1 where the hooks refuse or end something, else 0. Raises `UsageError`."""
    [name] = asked.words
    event = HOOK_EVENTS.get(name)
    if event is None:
        raise UsageError(f"there is no event {name!r:.60}{suggest_event(name)}", see=SEE)
    if event.not_yet:
        raise UsageError(f"hooks of {name} do not run yet: {event.not_yet}", see=SEE)
    fields = load_fields(asked.text("--input"))
    launch = plan_launch({}, os.environ)
    for warning in launch.warnings:
        complain(make_line(warning))
    ran: list[HookRan] = []
    warned: list[str] = []
    verdict = asyncio.run(ask(launch, event, fields, ran, warned))
    for warning in warned:
        complain(make_line(warning))
    if JSON.name in asked:
        write(f"{render_json({'hooks': msgspec.to_builtins(ran), 'verdict': encode_verdict(verdict)})}\n")
    else:
        write("".join(f"{indent_line(line)}\n" for line in render(ran, verdict)))
    refuses = verdict.ruling is HookRuling.DENY or verdict.block is not None or verdict.stop is not None
    return Exit.ERROR if refuses else Exit.OK


def load_fields(name: str) -> dict[str, Any]:
    if not name:
        return {}
    try:
        text = sys.stdin.buffer.read() if name == "-" else Path(name).expanduser().read_bytes()
        return msgspec.json.decode(text, type=dict[str, Any])
    except OSError as error:
        raise UsageError(f"--input: {name} cannot be read: {error.strerror}", see=SEE) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise UsageError(f"--input: {name} must hold a JSON object: {error}", see=SEE) from None


async def ask(
    launch: Launch, event: HookEvent, fields: dict[str, Any], ran: list[HookRan], warned: list[str]
) -> HookVerdict:
    shelf = ResultShelf(None, Outputs())
    mode = launch.options.permission_mode or "default"
    secrets = [secret for secret in (launch.setup.api_key, launch.setup.auth_token) if secret]
    place = HookPlace(
        session_id=SESSION,
        transcript_path="",
        env=launch.env,
        shell=ShellFolder(),
        find_mode=lambda: mode,
        tasks=Tasks(),
        clock=SystemClock(),
        shelf=shelf,
        find_secrets=lambda: secrets,
        show=ran.append,
        warn=warned.append,
        resolve_model=str,
    )
    dispatch, remarks = build_dispatch(launch.setup, place)
    warned += remarks
    own = {name: value for name, value in fields.items() if name not in COMMON_FIELDS}
    call = None
    if event.is_of_tool and isinstance(own.get("tool_name"), str) and isinstance(own.get("tool_input", {}), dict):
        try:
            call = build_call(own["tool_name"], own.get("tool_input", {}))
        except InputFault as fault:
            raise UsageError(f"{own['tool_name']} would refuse this input: {fault}", see=SEE) from None
    if missing := [name for name in event.fields if name not in own]:
        warned.append(f"the input leaves out {', '.join(missing)}; in a session hooks of {event.name} have these")
    try:
        return await dispatch.ask(Occasion(event=event.name, fields=own, call=call))
    finally:
        await dispatch.aclose()
        shelf.close()


def encode_verdict(verdict: HookVerdict) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(verdict)
    empty = msgspec.to_builtins(NOTHING_SAID)
    return {name: value for name, value in told.items() if value != empty[name]}


def render(ran: list[HookRan], verdict: HookVerdict) -> Iterator[str]:
    for one in ran:
        code = "" if one.exit_code is None else f", exit code {one.exit_code}"
        yield f"{one.kind}: {one.name}  ({one.source}; {one.duration_s:.2f} s{code})"
        yield f"  {one.decision or 'nothing to say'}{f'; {one.problem}' if one.problem else ''}"
    if not ran:
        yield "No hook is meant."
    yield f"together: {name_decision(verdict) or 'nothing to say'}"
    for name, value in encode_verdict(verdict).items():
        for each in value if isinstance(value, list) else [value]:
            yield f"  {name}: {each if isinstance(each, str) else render_json(each)}"

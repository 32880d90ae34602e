"""From flags to the fields of `Options`: files read, sessions found, contradictions refused."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from everturn.cli.errors import UsageError
from everturn.cli.flags import BY_SPELLING, FLAGS, resolve_mode
from everturn.cli.sessions.lookup import check_new, find_newest, find_session, render_recent
from everturn.cli.syntax import Arguments
from everturn.core.modes import PermissionMode
from everturn.settings.checks import nearest
from everturn.settings.places import CHOSEN
from everturn.settings.program_files import SettingsArguments

CONTAINER_MARKS = ("/.dockerenv", "/run/.containerenv")
"""Files that say that this is a container, which is what the mode is meant for."""
ROOT_WARNING = (
    f"{PermissionMode.BYPASS} as root, without a sandbox or a container: whatever the model does, it does to this whole machine. "
    "--sandbox keeps commands in the working folder"
)
TEXT_FILES = {"--system-prompt-file": "--system-prompt", "--append-system-prompt-file": "--append-system-prompt"}
MAX_BYTES = 10_000_000


def plan_fields(arguments: Arguments, home: Path, folder: Path) -> dict[str, Any]:
    """Raises `UsageError`. Single values are judged by `Options`."""
    fields = {
        flag.option: arguments.get(flag.name) for flag in FLAGS if flag.option and flag.as_is and flag.name in arguments
    }
    for file_flag, flag in TEXT_FILES.items():
        if file_flag in arguments:
            _refuse_both(arguments, file_flag, flag)
            fields[BY_SPELLING[flag].option] = load_text(file_flag, arguments.get(file_flag))
    if "--json-schema" in arguments:
        fields["output_schema"] = load_schema(arguments.get("--json-schema"))
    if arguments.get("--max-budget-usd") == 0:
        # A script that has nothing left to spend must not get a run without a limit.
        raise UsageError("--max-budget-usd must be more than 0; leave it out for no limit")
    if "--no-session-persistence" in arguments:
        fields["persist"] = False
    return fields | _plan_mode(arguments) | _plan_session(arguments, home, folder)


def plan_asked(arguments: Arguments) -> SettingsArguments:
    """Raises `UsageError` for a source that there is not."""
    wanted = CHOSEN
    if "--setting-sources" in arguments:
        wanted = tuple(arguments.get("--setting-sources"))
        for name in wanted:
            if name not in CHOSEN:
                allowed = ", ".join(CHOSEN)
                raise UsageError(
                    f"--setting-sources knows no {name[:60]!r}{nearest(name, CHOSEN)} (it knows {allowed})"
                )
    return SettingsArguments(
        given=arguments.get("--settings"),
        trust="--trust" in arguments,
        wanted=wanted,
        servers=tuple(arguments.get("--mcp-config") or ()),
        only_these_servers="--strict-mcp-config" in arguments,
    )


def load_text(flag: str, name: str) -> str:
    try:
        with Path(name).expanduser().open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{flag}: {name} cannot be read: {reason}") from None
    if len(content) > MAX_BYTES:
        raise UsageError(f"{flag}: {name} is larger than {MAX_BYTES // 1_000_000} MB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{flag}: {name} is not UTF-8") from None


def load_schema(given: str) -> dict[str, Any]:
    text = given if given.lstrip().startswith("{") else load_text("--json-schema", given)
    try:
        schema = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise UsageError(f"--json-schema is not a valid JSON Schema: {error}") from None
    if not isinstance(schema, dict):
        raise UsageError("--json-schema is not a valid JSON Schema: it must be an object")
    return schema


def _plan_mode(arguments: Arguments) -> dict[str, Any]:
    mode = arguments.get("--permission-mode")
    if "--dangerously-skip-permissions" in arguments:
        if mode not in {None, PermissionMode.BYPASS}:
            raise UsageError(f"--dangerously-skip-permissions contradicts --permission-mode {mode}")
        mode = str(PermissionMode.BYPASS)
    if mode is None:
        return {}
    return {"permission_mode": resolve_mode(mode)}


def _plan_session(arguments: Arguments, home: Path, folder: Path) -> dict[str, Any]:
    _refuse_both(arguments, "--continue", "--resume")
    if "--fork-session" not in arguments:
        _refuse_both(arguments, "--continue", "--session-id")
    _refuse_both(arguments, "--continue", "--no-session-persistence")
    if "--continue" in arguments:
        return {"resume": find_newest(home, folder)}
    if "--resume" in arguments and arguments.get("--resume") in {True, ""}:
        raise UsageError(f"--resume needs to know which session to go on with{render_recent(home, folder)}")
    if "--resume" in arguments:
        return {"resume": find_session(home, folder, arguments.get("--resume")).stem}
    for flag in ("--fork-session", "--resume-session-at"):
        if flag in arguments:
            raise UsageError(f"{flag} needs --continue or --resume")
    if "--session-id" in arguments:
        check_new(home, arguments.get("--session-id"))
    return {}


def _refuse_both(arguments: Arguments, one: str, other: str) -> None:
    if one in arguments and other in arguments:
        raise UsageError(f"{one} and {other} cannot be given together")


def warn_root(mode: str, sandbox: Any, *, user: int | None = None, marks: Iterable[str] = CONTAINER_MARKS) -> str:
    """Empty where there is no need. `sandbox` as `Options` has it; `user` is the present one where none is given."""
    is_held = sandbox.get("enabled") is True if isinstance(sandbox, Mapping) else bool(sandbox)
    if mode != PermissionMode.BYPASS or is_held or (os.geteuid() if user is None else user) != 0:
        return ""
    return "" if any(Path(mark).exists() for mark in marks) else ROOT_WARNING

"""Files of cases: a JSON object a line, each a command, a file or a call with what is expected of it. Pure."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal, get_args

import msgspec

from everturn.cli.errors import UsageError
from everturn.core.modes import PermissionMode
from everturn.settings.checks import nearest
from everturn.settings.repeats import find_repeat

Decision = Literal["allow", "ask", "deny", "error"]
Operation = Literal["read", "write", "edit"]
CHOICES = {"expect": get_args(Decision), "also_ok": get_args(Decision), "op": get_args(Operation)}
"""By field: what may stand there."""
_FIELD = re.compile(r"\$\.(\w+)")


class CaseRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


class PermissionCase(msgspec.Struct, frozen=True, kw_only=True):
    """One of `command`, `op` with `path`, or `tool`. Other fields than these are for people."""

    id: str = ""
    command: str | None = None
    op: Operation | None = None
    path: str | None = None
    tool: str | None = None
    input: dict[str, Any] = {}
    """More fields of the call."""
    args: dict[str, Any] = {}
    """The same, of a call about a file."""
    setup: tuple[tuple[str, ...], ...] = ()
    """Files that a case about one needs, made in a folder of their own."""
    rules: CaseRules | None = None
    """The only ones that hold; without them, those of the settings do."""
    mode: str = ""
    expect: Decision | None = None
    also_ok: tuple[Decision, ...] = ()
    outcome: str = ""
    """What comes of it, in words; a time in it (`<2 s`) is kept."""
    why: str = ""
    group: str = ""
    basis: str = ""
    ref: str = ""

    def __post_init__(self) -> None:
        kinds = sum(given is not None for given in (self.command, self.op, self.tool))
        if kinds != 1:
            raise ValueError("Expected one of `command`, `op` or `tool`")
        if (self.op is None) != (self.path is None):
            raise ValueError("Expected `op` and `path` together")
        if not all(self.setup):
            raise ValueError("Expected each step of `setup` to begin with its name")
        if self.mode and self.mode not in set(PermissionMode):
            raise ValueError(f"Expected `mode` to be one of {', '.join(PermissionMode)}")

    @property
    def is_met_by(self) -> frozenset[str]:
        """Empty: nothing is expected."""
        return frozenset({self.expect, *self.also_ok} - {None}) if self.expect else frozenset()


def decode_cases(lines: Iterable[bytes], name: str) -> Iterator[PermissionCase]:
    """Empty lines are passed over; a case without a name gets its line's. Raises `UsageError` that names the line."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            case = _decode(line)
            _check_names(line)
        except ValueError as error:
            raise UsageError(f"{name}:{number}: {_told(error)}") from None
        except RecursionError:
            raise UsageError(f"{name}:{number}: is nested too deeply") from None
        yield case if case.id else msgspec.structs.replace(case, id=f"line-{number}")


def _decode(line: bytes) -> PermissionCase:
    """What is legal JSON and yet too much for the strict reader, such as half a character, is read by the other one."""
    try:
        return msgspec.json.decode(line, type=PermissionCase)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, RecursionError):
        return msgspec.convert(json.loads(line), type=PermissionCase)


def _check_names(line: bytes) -> None:
    """Neither twice, where a reader keeps the last, nor misspelled: the case would not be the one that somebody wrote."""
    text = line.decode("utf-8-sig")
    fields = json.loads(text)
    if repeat := find_repeat(text, fields):
        raise ValueError(f"says {'.'.join(repeat.path)} twice")
    known = PermissionCase.__struct_fields__
    for field in fields:
        if field not in known and (hint := nearest(field, known)):
            raise ValueError(f"there is no field `{field}`{hint}")


def _told(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"is not valid JSON: {error.msg} (column {error.colno})"
    if isinstance(error, UnicodeDecodeError):
        return "is not UTF-8"
    told = str(error).replace("Object contains unknown field", "there is no field")
    field = _FIELD.search(told)
    allowed = CHOICES.get(field[1], ()) if field and "Invalid enum value" in told else ()
    return f"{told} (it is one of {', '.join(allowed)})" if allowed else told

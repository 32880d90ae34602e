"""Flags of the command line over what the settings files say: which of the two wins, and what neither may say. Pure."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from everturn.core.errors import OptionError
from everturn.core.modes import PermissionMode
from everturn.settings.keys import DEFAULT_MODE, KEYS, NO_BYPASS, ONLY_MANAGED_RULES
from everturn.settings.places import SettingsRoots
from everturn.settings.program_files import WAY_OUT, is_of_repository
from everturn.settings.setup import WrittenSettings
from everturn.settings.sources import Merged

if TYPE_CHECKING:
    from everturn.ports.trust import Definition

JOINED = ("allowed_tools", "disallowed_tools")
"""Options whose flags add to the settings. Of all others the flag replaces what the settings say."""

WEAK = ("model", "permission_mode")
"""Options that settings give to new sessions only: a resumed session keeps its own, unless a flag or an administrator decides."""


class JoinedSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What flags and settings files say together."""

    fields: dict[str, Any]
    """Fields of `Options`."""
    by_flag: frozenset[str]
    """Names of the fields that a flag decided."""
    written: WrittenSettings
    """What the files say besides options."""
    warnings: tuple[str, ...]


def join_flags(
    merged: Merged, flags: Mapping[str, Any], servers: "tuple[Definition, ...] | None" = None
) -> JoinedSettings:
    """`flags` by the names of `Options`; `servers`: the MCP servers, where the command line speaks of them. Raises `OptionError`."""
    fields, warnings = refuse_bypass(merged, flags)
    flags, overruled = obey_administrator(merged, flags)
    joined = {name: [*fields.get(name, ()), *flags.get(name, ())] for name in JOINED}
    firm = {*flags, *(KEYS[name].option for name, found in merged.found.items() if found.managed)}
    written = WrittenSettings(
        permissions=merged.permissions,
        only_managed_rules=merged.only_managed_rules,
        hooks=merged.hooks,
        servers=merged.servers if servers is None else servers,
        defaults=tuple(name for name in WEAK if name in fields and name not in firm),
    )
    return JoinedSettings(
        fields=fields | dict(switch_on_sandbox(fields, flags)) | joined,
        by_flag=frozenset(flags),
        written=written,
        warnings=warnings + overruled,
    )


def refuse_unsound(merged: Merged, roots: SettingsRoots) -> None:
    """Raises `OptionError` with all that is wrong: what cannot be understood may be what somebody relies on."""
    if not merged.problems:
        return
    first, *others = {str(problem): problem for problem in merged.problems}.values()
    told = "".join((first.problem, *(f"\n{other}" for other in others)))
    if any(is_of_repository(problem.field, roots) for problem in merged.problems):
        told += f"\n{WAY_OUT}"
    raise OptionError(first.field, told)


def refuse_bypass(merged: Merged, flags: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fields and warnings of the settings. Raises `OptionError` where a flag asks for what is switched off."""
    fields, warnings = merged.options(), merged.warnings + ((merged.held,) if merged.held else ())
    off = merged.bypass_disabled
    if off is None:
        return fields, warnings
    if flags.get("permission_mode") == PermissionMode.BYPASS:
        raise OptionError("permission_mode", f"{PermissionMode.BYPASS} is switched off by {NO_BYPASS} in {off.origin}")
    if fields.get("permission_mode") == PermissionMode.BYPASS:
        del fields["permission_mode"]
        warnings += (f"{DEFAULT_MODE} is not used: {PermissionMode.BYPASS} is switched off in {off.origin}",)
    return fields, warnings


def obey_administrator(merged: Merged, flags: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The flags without what managed settings decide, and a warning for each that would have said otherwise."""
    kept, warnings = dict(flags), []
    for name, found in merged.found.items():
        option = KEYS[name].option
        if found.managed and option in kept and kept.pop(option) != found.value:
            warnings.append(f"{name} is decided by {found.origin}: the command line cannot change it")
    if merged.only_managed_rules and kept.pop("allowed_tools", None):
        origin = merged.found[ONLY_MANAGED_RULES].origin
        warnings.append(f"allow rules of the command line do not count: {origin} says that only its own do")
    return kept, tuple(warnings)


def switch_on_sandbox(fields: Mapping[str, Any], flags: Mapping[str, Any]) -> Mapping[str, Any]:
    """The flag says only that there be one; what it is like stands in the settings."""
    if flags.get("sandbox") is not True:
        return flags
    return {**flags, "sandbox": {**fields.get("sandbox", {}), "enabled": True}}

"""What the person wants of the sandbox: one value, made from settings by their public names."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from everturn.core.errors import OptionError


class SandboxSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Paths are absolute, links not yet followed."""

    enabled: bool = False
    required: bool = False
    """Rather no command than one outside."""
    auto_allow: bool | None = None
    """Whether nobody need be asked about what is held; None: where bubblewrap holds it."""
    may_leave: bool = True
    excluded: tuple[str, ...] = ()
    allow_write: tuple[str, ...] = ()
    deny_write: tuple[str, ...] = ()
    deny_read: tuple[str, ...] = ()
    allow_read: tuple[str, ...] = ()
    hidden_variables: frozenset[str] = frozenset()
    allowed_hosts: tuple[str, ...] = ()
    denied_hosts: tuple[str, ...] = ()
    asks_hosts: bool = True
    """Whether a person who is there is asked about other hosts."""
    unix_sockets: bool = False
    own_proxy_port: int | None = None
    """A proxy of the person's on this machine, in place of ours: then it judges the hosts."""
    program: str | None = None
    """Where bubblewrap is."""

    @property
    def has_network(self) -> bool:
        return bool(self.allowed_hosts) or self.own_proxy_port is not None


def parse_sandbox_settings(given: bool | Mapping[str, Any], folder: str, home: str) -> SandboxSettings:
    """`given`: values by their names below `sandbox.`, flat (`network.allowedDomains`) or nested. Raises `OptionError`.

    Relative paths are the project's.
    """
    if isinstance(given, bool):
        return SandboxSettings(enabled=given)
    values = flatten(given)

    def paths(name: str) -> tuple[str, ...]:
        return tuple(parse_path(name, entry, folder, home) for entry in values.get(name, ()))

    return SandboxSettings(
        enabled=values.get("enabled", False),
        required=values.get("required", False) or values.get("failIfUnavailable", False),
        auto_allow=values.get("autoAllowBashIfSandboxed"),
        may_leave=values.get("allowUnsandboxedCommands", True),
        excluded=tuple(values.get("excludedCommands", ())),
        allow_write=paths("filesystem.allowWrite"),
        deny_write=paths("filesystem.denyWrite"),
        deny_read=(*paths("filesystem.denyRead"), *paths("credentials.files")),
        allow_read=paths("filesystem.allowRead"),
        hidden_variables=frozenset(values.get("credentials.envVars", ())),
        allowed_hosts=tuple(values.get("network.allowedDomains", ())),
        denied_hosts=tuple(values.get("network.deniedDomains", ())),
        asks_hosts=not values.get("network.strictAllowlist", False),
        unix_sockets=values.get("network.allowAllUnixSockets", False),
        own_proxy_port=values.get("network.httpProxyPort"),
        program=values.get("bwrapPath"),
    )


def flatten(given: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}.{inner}": deeper for inner, deeper in value.items()}
        else:
            flat[name] = value
    return flat


def parse_path(name: str, entry: str, folder: str, home: str) -> str:
    """`/x` is absolute, `~/x` below the home, all else below the project; `/` and `/**` at the end say nothing."""
    bare = entry.removesuffix("**").rstrip("/") or "/"
    if any(mark in bare for mark in "*?[") or "\0" in bare:
        raise OptionError(f"sandbox.{name}", f"holds {entry!r}: wildcards do not work here; name a folder or a file")
    if bare == "~" or bare.startswith("~/"):
        return os.path.normpath(f"{home}/{bare[2:]}")
    return os.path.normpath(Path(folder, bare))

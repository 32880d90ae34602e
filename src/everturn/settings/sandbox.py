"""The settings of the sandbox by their public names below `sandbox.`: what fits, and what we refuse with a reason."""

from collections.abc import Iterable, Mapping
from typing import Any

from everturn.settings import checks
from everturn.settings.checks import Check

PREFIX = "sandbox."
PATHS = frozenset(
    {
        "filesystem.allowWrite",
        "filesystem.denyWrite",
        "filesystem.denyRead",
        "filesystem.allowRead",
        "credentials.files",
    }
)
_MAX_PORT = 65_535


class SandboxKey:
    """A plain class: of all kinds of values it is made fastest, and this is read at each start."""

    def __init__(self, check: Check, meaning: str, *, joins: bool = False, tightens: bool = False) -> None:
        """`joins`: the lists of all sources count. `tightens`: it can only take something away from commands."""
        self.check, self.meaning, self.joins, self.tightens = check, meaning, joins, tightens


def _port(value: Any) -> str | None:
    is_port = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MAX_PORT
    return None if is_port else f"must be a port from 1 to {_MAX_PORT}"


def _refused(reason: str) -> SandboxKey:
    """Empty and false say nothing, and are fine."""
    return SandboxKey(lambda value: f"is not supported: {reason}" if value else None, "refused, if it is set")


def _texts(meaning: str, *, tightens: bool = False) -> SandboxKey:
    return SandboxKey(checks.list_of(checks.text), meaning, joins=True, tightens=tightens)


KEYS: dict[str, SandboxKey] = {
    "enabled": SandboxKey(checks.flag, "commands of Bash run in a sandbox"),
    "required": SandboxKey(checks.flag, "without a working sandbox no command runs"),
    "failIfUnavailable": SandboxKey(checks.flag, "the same as sandbox.required"),
    "autoAllowBashIfSandboxed": SandboxKey(checks.flag, "commands in the sandbox run without asking"),
    "allowUnsandboxedCommands": SandboxKey(checks.flag, "the model may ask to run a command outside"),
    "excludedCommands": _texts("single commands that run outside, judged as without a sandbox: docker *"),
    "bwrapPath": SandboxKey(checks.text, "where bubblewrap is"),
    "filesystem.allowWrite": _texts("folders and files that commands may write besides the workspace"),
    "filesystem.denyWrite": _texts("what they may not write, inside the workspace too", tightens=True),
    "filesystem.denyRead": _texts("what they cannot read", tightens=True),
    "filesystem.allowRead": _texts("what they can read inside that"),
    "network.allowedDomains": _texts("hosts that commands may reach: example.com, *.example.com, host:port"),
    "network.deniedDomains": _texts("hosts that they may not, although allowed", tightens=True),
    "network.allowAllUnixSockets": SandboxKey(checks.flag, "commands may use sockets in the file system"),
    "network.httpProxyPort": SandboxKey(_port, "a proxy of your own on this machine, in place of Everturn's"),
    "network.strictAllowlist": SandboxKey(checks.flag, "a host that is not listed is refused without asking"),
    "network.allowLocalBinding": SandboxKey(checks.flag, "no effect: commands have a loopback of their own"),
    "network.allowMachLookup": _texts("no effect on Linux"),
    "credentials.files": _texts("the same as sandbox.filesystem.denyRead", tightens=True),
    "credentials.envVars": _texts("variables that commands are not given", tightens=True),
    "ignoreViolations": SandboxKey(lambda _: None, "no effect: a refusal is always reported"),
    "ripgrep": SandboxKey(lambda _: None, "no effect: the sandbox does not search"),
    "socatPath": SandboxKey(checks.text, "no effect: nothing but bubblewrap is needed"),
    "filesystem.disabled": _refused("a sandbox that holds no files holds nothing"),
    "filesystem.allowManagedReadPathsOnly": _refused("leave it out, and name the paths in the managed settings"),
    "network.allowManagedDomainsOnly": _refused("leave it out, and name the hosts in the managed settings"),
    "network.allowUnixSockets": _refused("Linux cannot allow single sockets; see network.allowAllUnixSockets"),
    "network.socksProxyPort": _refused("commands are given an HTTP proxy only; see network.httpProxyPort"),
    "network.tlsTerminate": _refused("connections are passed on unread"),
    "credentials.awsPairs": _refused("credentials are kept from commands, never put in"),
    "credentials.sigv4": _refused("credentials are kept from commands, never put in"),
    "credentials.allowPlaintextInject": _refused("credentials are kept from commands, never put in"),
    "enableWeakerNestedSandbox": _refused("where namespaces are missing, Landlock is used automatically"),
    "enableWeakerNetworkIsolation": _refused("the network is closed, or open for the hosts that you name"),
}


_GROUPS = frozenset(name.partition(".")[0] for name in KEYS if "." in name)


def check_sandbox(value: Any) -> str | None:
    """Of `Options.sandbox`: true, false, or settings by their names, nested or with dots."""
    if isinstance(value, bool):
        return None
    if not isinstance(value, Mapping):
        return "must be true, false, or a map of settings"
    for name, entry in flatten(value):
        if name not in KEYS:
            return f"knows no {name!r}{checks.nearest(name, KEYS)}"
        if problem := KEYS[name].check(entry):
            return f"holds {name}, which {problem}"
    return None


def flatten(value: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, entry in value.items():
        if isinstance(entry, Mapping) and name in _GROUPS:
            yield from ((f"{name}.{inner}", deeper) for inner, deeper in entry.items())
        else:
            yield name, entry


def anchor_paths(name: str, value: list[str], folder: str) -> list[str]:
    """What a file says of relative paths starts from that file's own folder."""
    if name.removeprefix(PREFIX) not in PATHS:
        return value
    return [entry if entry.startswith(("/", "~")) else f"{folder}/{entry.removeprefix('./')}" for entry in value]

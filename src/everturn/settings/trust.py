"""Whether the folder is trusted, and what of its settings is held back where it is not. Only tightening needs no trust."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from everturn.core.modes import PermissionMode
from everturn.settings.files import SettingsText
from everturn.settings.flatten import Flat, Remarks
from everturn.settings.keys import DEFAULT_MODE, ENV, KEYS, PROGRAMS, Reach
from everturn.settings.places import MANAGED, OF_THE_REPOSITORY, SettingsPlace

if TYPE_CHECKING:
    from everturn.ports.trust import Definition

MCP_FILE = ".mcp.json"
BOOK_NAME = "trust.json"
"""Where trust is written down, in our home."""
HOOKS, SERVERS, HELPER, STATUS_LINE = "hooks", "mcpServers", "apiKeyHelper", "statusLine"
IDLE = frozenset({STATUS_LINE})
"""Programs that this version knows and does not run."""
NEVER_FROM_A_REPOSITORY = frozenset(
    {
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "WS_PROXY", "WSS_PROXY", "FTP_PROXY"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE", "OPENSSL_CONF", "NODE_EXTRA_CA_CERTS"),
        *("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "BRAVE_API_KEY"),
    }
)
"""Variables that say where our words and our key go, and whom we believe on the way. Case does not matter."""
OUR_PREFIXES = ("ANTHROPIC_", "EVERTURN_", "CLAUDE_")
MODEL_SUFFIX = "_MODEL"


class TrustState(msgspec.Struct, frozen=True, kw_only=True):
    """How far the repository is believed."""

    trusted: bool = False
    root: str = ""
    pins: Mapping[str, str] | None = None
    """What its programs were when it was trusted: digests by label. None: whatever they are now (`--trust`)."""


class _Held(msgspec.Struct, frozen=True, kw_only=True):
    flats: tuple[Flat, ...]
    """Without what is held back."""
    kept: "tuple[Definition, ...]"
    """Programs that may be run."""
    line: str
    """What was held back and what to do about it; empty where nothing was."""


def hold_back(flats: Iterable[Flat], servers: "Iterable[Definition]", trust: TrustState, remarks: Remarks) -> _Held:
    """`servers` are those of the repository's `.mcp.json`: it cannot approve them itself, whatever its settings say."""
    kept: list[Definition] = list(servers)
    believed: list[Flat] = []
    held: list[str] = []
    for flat in flats:
        kept += list(find_definitions(flat))
        if flat.place.of_repository:
            values = _refuse_for_good(flat, remarks)
            if not trust.trusted:
                values, left_out = _tighten_only(values)
                held += left_out
            flat = msgspec.structs.replace(flat, values=values)  # noqa: PLW2901 (what is believed of it)
        believed.append(_without_managed_keys(flat, remarks))
    programs, changed = judge_programs(kept, trust)
    if idle := [program.title for program in programs if _of_repository(program) and program.kind in IDLE]:
        remarks.warnings.append(f"trusted, but not run by this version: {', '.join(idle)}")
    held += changed
    if trust.trusted:
        believed = [_without_changed_helper(flat, changed) for flat in believed]
    return _Held(flats=tuple(believed), kept=programs, line=render_held(held, trusted=trust.trusted))


def judge_programs(
    definitions: "Iterable[Definition]", trust: TrustState
) -> "tuple[tuple[Definition, ...], list[str]]":
    """Those that may run, and the titles of those that may not."""
    kept: list[Definition] = []
    held: list[str] = []
    for definition in definitions:
        if not _of_repository(definition) or (trust.trusted and _is_pinned(definition, trust)):
            kept.append(definition)
        else:
            held.append(definition.title)
    return tuple(kept), held


def find_definitions(flat: Flat) -> "Iterator[Definition]":
    for kind, value in flat.programs.items():
        named = value if kind in {HOOKS, SERVERS} and isinstance(value, dict) else {"": value}
        for name, content in named.items():
            path = (kind, name) if name else (kind,)
            yield define(flat.place, flat.text, path, content)


def define(place: SettingsPlace, text: SettingsText, path: tuple[str, ...], value: Any) -> "Definition":
    from everturn.ports.trust import Definition

    kind, *name = path
    return Definition(
        kind=kind,
        name="".join(name),
        value=value,
        source=place.source,
        path=place.path,
        origin=text.problem(path, "").field,
    )


def digest_of(definition: "Definition") -> str:
    from hashlib import sha256

    return sha256(msgspec.json.encode([definition.title, definition.value], order="sorted")).hexdigest()


def label_of(definition: "Definition", root: str) -> str:
    """The same on every machine: the file as seen from the root, and what is defined there."""
    return f"{os.path.relpath(definition.path, root)}: {definition.title}"


def render_held(held: list[str], *, trusted: bool) -> str:
    if not held:
        return ""
    told = ", ".join(dict.fromkeys(held))
    if trusted:
        return f"new or changed since this folder was trusted, and therefore off: {told} (everturn trust shows them)"
    return f"this folder is not trusted, so these of its settings are ignored: {told} (everturn trust shows them)"


def refuses_variable(name: str) -> bool:
    """From a repository, trusted or not. Only which model is meant may be said there."""
    upper = name.upper()
    if upper.startswith(OUR_PREFIXES):
        return not upper.endswith(MODEL_SUFFIX) or not upper.startswith("ANTHROPIC_")
    return upper in NEVER_FROM_A_REPOSITORY


def _refuse_for_good(flat: Flat, remarks: Remarks) -> dict[str, Any]:
    """Without what no repository may say, however much it is trusted."""
    values = dict(flat.values)
    if refused := [name for name in values.get(ENV, {}) if refuses_variable(name)]:
        values[ENV] = {name: content for name, content in values[ENV].items() if name not in refused}
        told = ", ".join(refused)
        remarks.warnings.append(f"{flat.place.path}: env may not set {told} from inside a repository; it was ignored")
    if values.get(DEFAULT_MODE) == PermissionMode.BYPASS:
        del values[DEFAULT_MODE]
        reason = f"may not be {PermissionMode.BYPASS} from inside a repository; it was ignored"
        remarks.warnings.append(str(flat.text.problem(tuple(DEFAULT_MODE.split(".")), reason)))
    return values


def _tighten_only(values: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    kept = {name: value for name, value in values.items() if name != ENV and KEYS[name].reach is Reach.ANYWHERE}
    # Programs are told by their own names.
    held = [name for name, value in values.items() if name not in kept and name not in PROGRAMS and value]
    return kept, held


def _without_managed_keys(flat: Flat, remarks: Remarks) -> Flat:
    if flat.place.source == MANAGED:
        return flat
    mine = {name for name in flat.values if name != ENV and KEYS[name].reach is Reach.MANAGED}
    if not mine:
        return flat
    for name in sorted(mine):
        remarks.warnings.append(str(flat.text.problem((name,), "counts only in managed settings; it was ignored")))
    return msgspec.structs.replace(
        flat, values={name: value for name, value in flat.values.items() if name not in mine}
    )


def _without_changed_helper(flat: Flat, changed: list[str]) -> Flat:
    if not flat.place.of_repository or HELPER not in flat.values or HELPER not in changed:
        return flat
    return msgspec.structs.replace(flat, values={name: value for name, value in flat.values.items() if name != HELPER})


def _of_repository(definition: "Definition") -> bool:
    return definition.source in OF_THE_REPOSITORY


def _is_pinned(definition: "Definition", trust: TrustState) -> bool:
    return trust.pins is None or trust.pins.get(label_of(definition, trust.root)) == digest_of(definition)

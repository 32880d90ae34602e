"""What all settings files say together: read in order, held back where nobody trusts them, merged, each value with its origin."""

import os
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from everturn.core.errors import OptionError
from everturn.core.modes import PermissionMode
from everturn.ports.policy import Ruling
from everturn.ports.rules import Permissions, WrittenBan, WrittenFolder, WrittenRule
from everturn.settings.environment import Environment, parse_environment
from everturn.settings.files import INLINE, SettingsText, find_item_lines, load_given, load_settings
from everturn.settings.flatten import Flat, Remarks, flatten_settings
from everturn.settings.keys import (
    ENV,
    FOLDERS,
    HOOK_URLS,
    HOOK_VARIABLES,
    KEYS,
    LIMIT_PREFIX,
    NO_BYPASS,
    NO_HOOKS,
    NO_SERVERS,
    ONLY_MANAGED_HOOKS,
    ONLY_MANAGED_RULES,
    RULES,
    is_limit,
)
from everturn.settings.options import MANUAL
from everturn.settings.places import (
    CHOSEN,
    COMMAND_LINE,
    LOCAL,
    MANAGED,
    PROJECT,
    USER,
    SettingsPlace,
    SettingsRoots,
    find_managed,
    find_places,
)
from everturn.settings.sandbox import PREFIX as SANDBOX
from everturn.settings.sandbox import anchor_paths
from everturn.settings.trust import HOOKS, MCP_FILE, SERVERS, TrustState, find_definitions, hold_back

if TYPE_CHECKING:
    from everturn.ports.hooks import HookSettings
    from everturn.ports.trust import Definition


SERVER_ORDER = (USER, PROJECT, LOCAL, COMMAND_LINE, MANAGED)
"""Where an MCP server may be defined. Of two with the same name the later one counts, as a whole."""


class FoundSettings(msgspec.Struct, frozen=True, kw_only=True):
    value: Any
    origin: str
    """For people: a file, a variable, `--settings`."""
    by_environment: bool = False
    """Read again where the options are checked; here only to say that it wins."""
    managed: bool = False
    """The administrator's word: not even a flag beats it."""


class Layer(msgspec.Struct, frozen=True, kw_only=True):
    """One source that was read."""

    place: SettingsPlace
    text: SettingsText


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    found: dict[str, FoundSettings]
    """By public name; only what was set somewhere."""
    env: dict[str, str]
    """The environment of the program: that of the user and the repository, the process's own over it, that of `--settings`
    and of the administrator on top."""
    env_origins: dict[str, str] = {}
    """Of each variable that a file sets, who decides it: the file, or the variable itself where the process has it."""
    permissions: Permissions = Permissions()
    definitions: "tuple[Definition, ...]" = ()
    """Programs that may be run."""
    of_repository: tuple[tuple[str, Any, str], ...] = ()
    """Of what counts, that which the repository says: name, value, file."""
    trusted: bool = False
    held: str = ""
    """What of the repository was held back, in one line; empty where nothing was."""
    warnings: tuple[str, ...] = ()
    problems: tuple[OptionError, ...] = ()
    """Why nobody should run with these settings: what they were to protect may be missing."""

    @property
    def bypass_disabled(self) -> FoundSettings | None:
        return self.found.get(NO_BYPASS)

    @property
    def only_managed_rules(self) -> bool:
        return _is_on(self.found, ONLY_MANAGED_RULES)

    @property
    def hooks(self) -> "HookSettings | None":
        """Those that run; None where there are none."""
        if not any(one.kind == HOOKS for one in self.definitions):
            return None
        from everturn.ports.hooks import HookSettings, WrittenHooks

        written = tuple(
            WrittenHooks(event=one.name, value=one.value, source=one.source, origin=one.origin)
            for one in self.definitions
            if one.kind == HOOKS and not self.why_no_hooks(one.source)
        )
        return HookSettings(
            written=written, allowed_urls=self._list(HOOK_URLS), allowed_variables=self._list(HOOK_VARIABLES)
        )

    def why_no_hooks(self, source: str) -> str:
        """What keeps the hooks of this source from running; empty where nothing does."""
        off = self.found.get(NO_HOOKS)
        if off is not None and off.value is True and (off.managed or source != MANAGED):
            return f"{NO_HOOKS} in {off.origin}"
        if _is_on(self.found, ONLY_MANAGED_HOOKS) and source != MANAGED:
            return f"{ONLY_MANAGED_HOOKS} in {self.found[ONLY_MANAGED_HOOKS].origin}"
        return ""

    @property
    def servers(self) -> "tuple[Definition, ...]":
        """MCP servers that may be started, in the order of `SERVER_ORDER`."""
        off = self._list(NO_SERVERS) or ()
        kept = [
            one
            for one in self.definitions
            if one.kind == SERVERS and not (one.name in off and one.path.endswith(f"/{MCP_FILE}"))
        ]
        return tuple(sorted(kept, key=lambda one: SERVER_ORDER.index(one.source)))

    def _list(self, name: str) -> tuple[str, ...] | None:
        return tuple(self.found[name].value) if name in self.found else None

    def options(self) -> dict[str, Any]:
        """Fields for `Options`. What the environment decides is left to it."""
        chosen = {name: found.value for name, found in self.found.items() if not found.by_environment}
        fields = {KEYS[name].option: value for name, value in chosen.items() if KEYS[name].option}
        if fields.get("permission_mode") == MANUAL:
            fields["permission_mode"] = str(PermissionMode.DEFAULT)
        limits = {name.removeprefix(LIMIT_PREFIX): value for name, value in chosen.items() if is_limit(name)}
        held = {name.removeprefix(SANDBOX): value for name, value in chosen.items() if name.startswith(SANDBOX)}
        more = {"limits": limits, "sandbox": held, "trusted": self.trusted}
        return fields | {name: value for name, value in more.items() if value}


def load_merged(
    roots: SettingsRoots,
    env: Mapping[str, str],
    given: str | None = None,
    *,
    trust: TrustState | None = None,
    wanted: Collection[str] = CHOSEN,
) -> Merged:
    """`given` is a file or JSON. A file that cannot be understood is a problem of the result; the others still count."""
    remarks = Remarks()
    layers = load_layers(roots, given, wanted, remarks)
    servers = load_servers(roots, remarks) if PROJECT in wanted else []
    return merge_layers(layers, servers, env=env, folder=roots.folder, trust=trust or TrustState(), remarks=remarks)


def load_layers(roots: SettingsRoots, given: str | None, wanted: Collection[str], remarks: Remarks) -> list[Layer]:
    """Lowest first."""
    layers: list[Layer] = []

    def load(place: SettingsPlace) -> None:
        with remarks.noting():
            if (text := load_settings(place.path)) is not None:
                layers.append(Layer(place=place, text=text))

    for place in find_places(roots, wanted):
        load(place)
    if given is not None:
        with remarks.noting():
            layers.append(_layer_of(load_given(given), roots.folder))
    with remarks.noting():
        for place in find_managed(roots.managed, roots.folder):
            load(place)
    return layers


def load_servers(roots: SettingsRoots, remarks: Remarks) -> "list[Definition]":
    """What the repository's `.mcp.json` would start. A broken one starts nothing."""
    place = SettingsPlace(source=PROJECT, path=f"{roots.folder}/{MCP_FILE}", folder=roots.folder, foreign=True)
    try:
        text = load_settings(place.path)
    except OptionError as problem:
        remarks.warnings.append(str(problem))
        return []
    if text is None:
        return []
    flat = Flat(place=place, text=text, values={}, programs={SERVERS: text.values.get(SERVERS, {})})
    return list(find_definitions(flat))


def _layer_of(text: SettingsText, folder: str) -> Layer:
    """A file given on the command line is the anchor of its own rules."""
    anchor = folder if text.where == INLINE else os.path.abspath(text.where).rpartition("/")[0]  # noqa: PTH100
    return Layer(place=SettingsPlace(source=COMMAND_LINE, path=text.where, folder=anchor or "/"), text=text)


def merge_layers(
    layers: Iterable[Layer],
    servers: "Iterable[Definition]",
    *,
    env: Mapping[str, str],
    folder: str,
    trust: TrustState,
    remarks: Remarks,
) -> Merged:
    read = [flatten_settings(layer.place, layer.text, remarks) for layer in layers]
    held = hold_back(read, servers, trust, remarks)
    below = [flat for flat in held.flats if flat.place.source not in {COMMAND_LINE, MANAGED}]
    above = [flat for flat in held.flats if flat.place.source in {COMMAND_LINE, MANAGED}]
    merged_env = {**_env_of(below), **env, **_env_of(above)}
    found: dict[str, FoundSettings] = {}
    for flat in below:
        _lay_over(found, flat)
    for name, (value, variable) in environment_values(_parse(merged_env, remarks)).items():
        found[name] = FoundSettings(value=value, origin=variable, by_environment=True)
    for flat in above:
        _lay_over(found, flat)
    rules = _gather_rules(held.flats, only_managed=_is_on(found, ONLY_MANAGED_RULES))
    return Merged(
        found=found,
        env=merged_env,
        env_origins=_origins_of(below) | {name: name for name in _env_of(below) if env.get(name)} | _origins_of(above),
        permissions=Permissions(
            rules=rules,
            folders=_gather_folders(held.flats, folder),
            no_bypass=tuple(
                WrittenBan(source=flat.place.source, origin=flat.place.path)
                for flat in held.flats
                if NO_BYPASS in flat.values
            ),
            partial=bool(remarks.problems),
        ),
        definitions=held.kept,
        of_repository=tuple(
            (name, value, flat.place.path)
            for flat in held.flats
            if flat.place.of_repository
            for name, value in flat.values.items()
        ),
        trusted=trust.trusted,
        held=held.line,
        warnings=tuple(remarks.warnings),
        problems=tuple(remarks.problems),
    )


def _parse(env: Mapping[str, str], remarks: Remarks) -> Environment:
    with remarks.noting():
        return parse_environment(env)
    return Environment()


def _is_on(found: Mapping[str, FoundSettings], name: str) -> bool:
    return name in found and found[name].value is True


def _env_of(flats: Iterable[Flat]) -> dict[str, str]:
    return {name: value for flat in flats for name, value in flat.values.get(ENV, {}).items()}


def _origins_of(flats: Iterable[Flat]) -> dict[str, str]:
    return {name: flat.place.path for flat in flats for name in flat.values.get(ENV, {})}


def _lay_over(found: dict[str, FoundSettings], flat: Flat) -> None:
    for name, value in flat.values.items():
        if name != ENV:
            anchored = anchor_paths(name, value, flat.place.folder) if name.startswith(SANDBOX) else value
            new = FoundSettings(value=anchored, origin=flat.place.path, managed=flat.place.source == MANAGED)
            found[name] = _join(found[name], new) if KEYS[name].joins and name in found else new


def _join(lower: FoundSettings, upper: FoundSettings) -> FoundSettings:
    return FoundSettings(
        value=list(dict.fromkeys([*lower.value, *upper.value])),
        origin=f"{lower.origin}, {upper.origin}",
        managed=upper.managed,
    )


def _gather_rules(flats: Iterable[Flat], *, only_managed: bool) -> tuple[WrittenRule, ...]:
    """Where only managed rules may allow, the others may still deny and ask: that takes nothing from the administrator."""
    rules: list[WrittenRule] = []
    for flat in flats:
        place = flat.place
        for key in RULES:
            ruling = Ruling(key.rpartition(".")[2])
            if not flat.values.get(key) or (only_managed and ruling is Ruling.ALLOW and place.source != MANAGED):
                continue
            lines = find_item_lines(flat.text.text, tuple(key.split(".")))
            rules += [
                WrittenRule(
                    text=text, ruling=ruling, source=place.source, folder=place.folder, origin=f"{place.path}:{line}"
                )
                for text, line in zip(flat.values[key], lines, strict=True)
            ]
    return tuple(rules)


def _gather_folders(flats: Iterable[Flat], folder: str) -> tuple[WrittenFolder, ...]:
    """What is relative starts from the working folder."""
    return tuple(
        WrittenFolder(
            path=os.path.normpath(os.path.join(folder, os.path.expanduser(name))),  # noqa: PTH118, PTH111
            source=flat.place.source,
            origin=flat.place.path,
        )
        for flat in flats
        for name in flat.values.get(FOLDERS, ())
    )


def environment_values(environment: Environment) -> dict[str, tuple[Any, str]]:
    """Each setting that a variable decides, with its value and the variable."""
    cap, retries = environment.max_output_tokens, environment.max_retries
    credential = "ANTHROPIC_API_KEY" if environment.api_key else "ANTHROPIC_AUTH_TOKEN"
    candidates = {
        "model": (environment.model, "ANTHROPIC_MODEL"),
        "apiKeyHelper": ("" if environment.api_key or environment.auth_token else None, credential),
        "alwaysThinkingEnabled": (
            None if environment.thinking_tokens is None else environment.thinking_tokens > 0,
            "MAX_THINKING_TOKENS",
        ),
        "autoCompactEnabled": (False if environment.disable_auto_compact else None, "DISABLE_AUTO_COMPACT"),
        f"{LIMIT_PREFIX}retry_scale": (environment.retry_scale, "EVERTURN_RETRY_SCALE"),
        f"{LIMIT_PREFIX}stall_s": (environment.stall_s, "EVERTURN_STALL_S"),
        f"{LIMIT_PREFIX}tool_concurrency": (environment.tool_concurrency, "EVERTURN_MAX_TOOL_CONCURRENCY"),
        f"{LIMIT_PREFIX}output_cap": (cap, "CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
        f"{LIMIT_PREFIX}escalate": (None if cap is None else False, "CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
        f"{LIMIT_PREFIX}tries": (None if retries is None else retries + 1, "CLAUDE_CODE_MAX_RETRIES"),
        f"{LIMIT_PREFIX}unreached_tries": (None if retries is None else retries + 1, "CLAUDE_CODE_MAX_RETRIES"),
    }
    return {name: pair for name, pair in candidates.items() if pair[0] is not None}

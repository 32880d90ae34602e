"""The program's profile: flags and settings in; the model client first, so that its connection opens while the rest is made."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from everturn.core.errors import OptionError
from everturn.settings.environment import find_user_home, named_home, parse_flag
from everturn.settings.files import FILE_NAME
from everturn.settings.keys import DEFAULT_MODE, KEYS, NO_BYPASS, ONLY_MANAGED_RULES
from everturn.settings.memory import Memory
from everturn.settings.options import Options
from everturn.settings.places import CHOSEN, MANAGED_FOLDERS, USER, Grounds, find_root
from everturn.settings.setup import Setup, check_options, find_home
from everturn.settings.sources import Merged, load_merged
from everturn.settings.trust import BOOK_NAME, BYPASS, Holding

if TYPE_CHECKING:
    from pathlib import Path

    from everturn.models.anthropic.client import AnthropicModel
    from everturn.ports.rules import LivePermissions
    from everturn.ports.transport import Transport

JOINED = ("allowed_tools", "disallowed_tools")
"""What a flag says is added to what the settings say; of everything else the flag wins."""

WEAK = ("model", "permission_mode")
"""What the settings say of these is for new sessions: a resumed one keeps its own, unless a flag or an administrator says otherwise."""

HELPER_KEY = "apiKeyHelper"
MEMORY = "memory"
"""The entry of the user's context that holds memory files."""
WAY_OUT = "It may hold rules that protect you. Mend it, or run without it: --setting-sources user"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says about settings files."""

    given: str | None = None
    """A file or JSON (`--settings`)."""
    trust: bool = False
    """The folder is trusted for this run."""
    wanted: tuple[str, ...] = CHOSEN
    """The files that are read (`--setting-sources`)."""
    managed: tuple[str, ...] = MANAGED_FOLDERS
    """Where the administrator's settings lie."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """Everything decided, nothing built."""

    setup: Setup
    env: dict[str, str]
    warnings: tuple[str, ...]
    key_source: str
    """What the credential comes from; never the credential."""
    grounds: Grounds
    merged: Merged
    holding: Holding
    asked: Asked
    memory: Memory

    @property
    def options(self) -> Options:
        return self.setup.options


def program_home(env: Mapping[str, str]) -> "Path":
    return find_home(named_home(env), env)


def settings_path(env: Mapping[str, str]) -> "Path":
    return program_home(env) / FILE_NAME


def find_grounds(
    env: Mapping[str, str], folder: str | None = None, managed: tuple[str, ...] = MANAGED_FOLDERS
) -> Grounds:
    """`folder` is the present one where none is given. Raises `OptionError`."""
    try:
        place = os.path.realpath(folder) if folder is not None else os.getcwd()  # noqa: PTH109 (before the first request)
    except OSError as error:
        raise OptionError("cwd", f"cannot be used: {error.strerror}") from None
    return Grounds(
        home=str(program_home(env)),
        folder=place,
        root=find_root(place, os.path.realpath(find_user_home(env))),
        foreign_home=not env.get("EVERTURN_HOME", "").strip() and bool(env.get("CLAUDE_CONFIG_DIR", "").strip()),
        managed=managed,
    )


def load_program_settings(
    grounds: Grounds, env: Mapping[str, str], asked: Asked | None = None
) -> tuple[Merged, Holding]:
    """Never raises for what stands in a file: see `Merged.problems`."""
    asked = asked or Asked()
    problems: tuple[OptionError, ...] = ()
    try:
        at_once = asked.trust or parse_flag("EVERTURN_TRUST", env.get("EVERTURN_TRUST", "").strip() or "0")
        holding = judge_trust(grounds, at_once=at_once)
    except OptionError as problem:
        holding, problems = Holding(root=grounds.root), (problem,)
    merged = load_merged(grounds, env, asked.given, holding=holding, wanted=asked.wanted)
    return msgspec.structs.replace(merged, problems=problems + merged.problems) if problems else merged, holding


def load_user_settings(env: Mapping[str, str]) -> Merged:
    """What the user has said, whichever folder we are in. See `Merged.problems`."""
    return load_program_settings(find_grounds(env), env, Asked(wanted=(USER,)))[0]


def plan_launch(flags: Mapping[str, Any], env: Mapping[str, str], asked: Asked | None = None) -> Launch:
    """`flags` by the names of `Options`. Raises `OptionError`."""
    asked = asked or Asked()
    grounds = find_grounds(env, flags.get("cwd"), asked.managed)
    merged, holding = load_program_settings(grounds, env, asked)
    refuse_unsound(merged, grounds)
    fields, warnings = refuse_bypass(merged, flags)
    flags, overruled = obey_administrator(merged, flags)
    warnings += overruled
    joined = {name: [*fields.get(name, ()), *flags.get(name, ())] for name in JOINED}
    firm = {*flags, *(KEYS[name].option for name, found in merged.found.items() if found.managed)}
    weak = {"only_defaults": [name for name in WEAK if name in fields and name not in firm]}
    flags = switch_on_sandbox(fields, flags)
    memory = Memory(grounds, trusted=merged.trusted, wanted=asked.wanted)
    fields["user_context"] = watch_memory(memory)
    setup = check_options(Options.of(**(fields | dict(flags) | joined | weak)), merged.env)
    if "effort" in fields and "effort" not in flags and (problem := judge_effort(setup)):
        setup = msgspec.structs.replace(setup, options=msgspec.structs.replace(setup.options, effort=None))
        warnings += (f"effortLevel is not used: {problem}",)
    return Launch(
        setup=setup,
        env=merged.env,
        warnings=warnings,
        key_source=find_key_source(setup),
        grounds=grounds,
        merged=merged,
        holding=holding,
        asked=asked,
        memory=memory,
    )


def watch_memory(memory: Memory) -> Callable[[], dict[str, str]]:
    """The user's context, as the memory files are whenever it is asked for."""

    def load() -> dict[str, str]:
        text = memory.load()
        return {MEMORY: text} if text else {}

    return load


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


def build_live(launch: Launch) -> "LivePermissions":
    """The same settings files, for as long as we run."""
    from everturn.settings.watching import SettingsWatch

    asked = launch.asked
    return SettingsWatch(
        launch.grounds, launch.env, asked.given, holding=launch.holding, wanted=asked.wanted, now=launch.merged
    )


def judge_trust(grounds: Grounds, *, at_once: bool) -> Holding:
    """Most users have trusted nothing yet: then there is nothing to load. Raises `OptionError`."""
    if at_once or not os.path.lexists(f"{grounds.home}/{BOOK_NAME}"):
        return Holding(trusted=at_once, root=grounds.root)
    from everturn.settings.trust_book import judge_holding, load_book

    return judge_holding(load_book(grounds.home), grounds, at_once=False)


def refuse_unsound(merged: Merged, grounds: Grounds) -> None:
    """Raises `OptionError` with all that is wrong: what cannot be understood may be what somebody relies on."""
    if not merged.problems:
        return
    first, *others = {str(problem): problem for problem in merged.problems}.values()
    told = "".join((first.problem, *(f"\n{other}" for other in others)))
    if any(is_of_repository(problem.field, grounds) for problem in merged.problems):
        told += f"\n{WAY_OUT}"
    raise OptionError(first.field, told)


def is_of_repository(place: str, grounds: Grounds) -> bool:
    """Of a file, whether `--setting-sources` can leave it out."""
    return place.startswith((f"{grounds.folder}/", f"{grounds.root}/")) and not place.startswith(f"{grounds.home}/")


@contextmanager
def naming_way_out(grounds: Grounds) -> Iterator[None]:
    """Around what reads the rules: for one of the repository that cannot work, the error says how to run without."""
    try:
        yield
    except OptionError as problem:
        if not is_of_repository(problem.field, grounds):
            raise
        raise OptionError(problem.field, f"{problem.problem}\n{WAY_OUT}") from None


def refuse_bypass(merged: Merged, flags: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fields and warnings of the settings. Raises `OptionError` where a flag asks for what is switched off."""
    fields, warnings = merged.options(), merged.warnings + ((merged.held,) if merged.held else ())
    off = merged.bypass_disabled
    if off is None:
        return fields, warnings
    if flags.get("permission_mode") == BYPASS:
        raise OptionError("permission_mode", f"{BYPASS} is switched off by {NO_BYPASS} in {off.origin}")
    if fields.get("permission_mode") == BYPASS:
        del fields["permission_mode"]
        warnings += (f"{DEFAULT_MODE} is not used: {BYPASS} is switched off in {off.origin}",)
    return fields, warnings


def judge_effort(setup: Setup) -> str | None:
    """What keeps the model from taking the effort. A default for all models is no demand on each of them."""
    from everturn.compose.catalog import build_catalog, resolve_model
    from everturn.models.anthropic.thinking import check_effort

    catalog = build_catalog(setup.options)
    card = catalog.card(resolve_model(setup.model, setup, catalog))
    return check_effort(setup.options.effort, card) if setup.options.effort else None


def find_key_source(setup: Setup) -> str:
    if setup.options.api_key_helper:
        return HELPER_KEY
    if setup.api_key:
        return "ANTHROPIC_API_KEY"
    return "ANTHROPIC_AUTH_TOKEN" if setup.auth_token else "none"


def has_credentials(launch: Launch) -> bool:
    """Headers of one's own may carry what a gateway wants."""
    return launch.setup.has_credentials or bool(launch.setup.headers)


def build_model(launch: Launch, *, wrap: "Callable[[Transport], Transport] | None" = None) -> "AnthropicModel":
    """Call it inside a running loop. `wrap` may look at what goes over the wire."""
    from everturn.models.transport.choose import choose_transport

    setup = launch.setup
    transport = choose_transport(
        launch.env,
        setup.base_url,
        connect_s=setup.limits.connect_s,
        stall_s=setup.limits.stall_s,
        ca_file=os.fspath(setup.options.ca_file) if setup.options.ca_file else None,
        ahead=True,
    )
    # After the transport, which reads certificates meanwhile.
    from everturn import __version__
    from everturn.compose.catalog import build_catalog
    from everturn.models.anthropic.client import AnthropicModel
    from everturn.models.anthropic.credentials import Credentials

    return AnthropicModel(
        transport=wrap(transport) if wrap else transport,
        catalog=build_catalog(setup.options),
        credentials=Credentials(
            api_key=setup.api_key,
            auth_token=setup.auth_token,
            helper=setup.options.api_key_helper,
            helper_name=HELPER_KEY,
        ),
        base_url=setup.base_url,
        version=__version__,
        custom_headers=setup.headers,
        first_event_s=setup.limits.first_event_s,
    )

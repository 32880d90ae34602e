"""The program's profile: flags and settings in; the model client first, so that its connection opens while the rest is made."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from everturn.core.limits import WATCHED_RETRY_AFTER
from everturn.settings.memory import Memory
from everturn.settings.options import Options
from everturn.settings.places import SettingsRoots
from everturn.settings.precedence import join_flags, refuse_unsound
from everturn.settings.program_files import (
    SettingsArguments,
    find_roots,
    list_settings_files,
    load_program_settings,
    naming_way_out,
)
from everturn.settings.setup import Setup, check_options
from everturn.settings.sources import Merged
from everturn.settings.trust import TrustState

if TYPE_CHECKING:
    from everturn.engine.deps import EngineParts
    from everturn.models.anthropic.client import AnthropicModel
    from everturn.ports.model import Model
    from everturn.ports.policy import Approver
    from everturn.ports.rules import LivePermissions
    from everturn.ports.transport import Transport
    from everturn.ports.trust import Definition
    from everturn.workspace.git_count import GitCount

HELPER_KEY = "apiKeyHelper"
MEMORY = "memory"
"""The entry of the user's context that holds memory files."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """Everything decided, nothing built."""

    setup: Setup
    env: dict[str, str]
    warnings: tuple[str, ...]
    key_source: str
    """What the credential comes from; never the credential."""
    roots: SettingsRoots
    merged: Merged
    trust: TrustState
    asked: SettingsArguments
    memory: Memory

    @property
    def options(self) -> Options:
        return self.setup.options

    @property
    def has_credentials(self) -> bool:
        """Headers of the user's own may carry what a gateway wants."""
        return self.setup.has_credentials or bool(self.setup.headers)


def plan_launch(flags: Mapping[str, Any], env: Mapping[str, str], asked: SettingsArguments | None = None) -> Launch:
    """`flags` by the names of `Options`. Raises `OptionError`."""
    asked = asked or SettingsArguments()
    roots = find_roots(env, flags.get("cwd"), asked.managed)
    merged, trust = load_program_settings(roots, env, asked)
    refuse_unsound(merged, roots)
    joined = join_flags(merged, flags, choose_servers(merged, asked))
    memory = Memory(roots, trusted=merged.trusted, wanted=asked.wanted)
    setup = check_options(
        Options.of(**{"user_context": watch_memory(memory)} | joined.fields), merged.env, joined.written
    )
    warnings = joined.warnings
    if "effort" in joined.fields and "effort" not in joined.by_flag and (problem := judge_effort(setup)):
        setup = msgspec.structs.replace(setup, options=msgspec.structs.replace(setup.options, effort=None))
        warnings += (f"effortLevel is not used: {problem}",)
    return Launch(
        setup=setup,
        env=merged.env,
        warnings=warnings,
        key_source=find_key_source(setup),
        roots=roots,
        merged=merged,
        trust=trust,
        asked=asked,
        memory=memory,
    )


def choose_servers(merged: Merged, asked: SettingsArguments) -> "tuple[Definition, ...] | None":
    """The MCP servers of the settings with those of the command line; None where it names none. Raises `OptionError`."""
    if not asked.servers and not asked.only_these_servers:
        return None
    from everturn.settings.server_files import join_given_servers

    return join_given_servers(merged.servers, asked.servers, only_these=asked.only_these_servers)


def watch_memory(memory: Memory) -> Callable[[], dict[str, str]]:
    """The user's context, as the memory files are whenever it is asked for."""

    def load() -> dict[str, str]:
        text = memory.load()
        return {MEMORY: text} if text else {}

    return load


def build_live(launch: Launch) -> "LivePermissions":
    """The same settings files, for as long as we run."""
    from everturn.settings.watch import SettingsWatch

    asked = launch.asked
    return SettingsWatch(
        launch.roots, launch.env, asked.given, trust=launch.trust, wanted=asked.wanted, now=launch.merged
    )


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


def build_model(launch: Launch, *, wrap: "Callable[[Transport], Transport] | None" = None) -> "AnthropicModel":
    """Call it inside a running loop. `wrap` may look at what goes over the wire."""
    from everturn.compose.client import build_client

    return build_client(launch.setup, launch.env, helper_name=HELPER_KEY, ahead=True, wrap=wrap)


def build_program_parts(
    launch: Launch,
    model: "Model",
    *,
    person: "Approver | None",
    is_watched: bool,
    is_interactive: bool = False,
    name_option: Callable[[str], str],
    git: "GitCount | None" = None,
) -> "EngineParts":
    """The parts of the program's engine. `is_watched`: a person can end a long wait; `is_interactive`: one who types the next prompt. Raises `OptionError`, `JournalError`."""
    from everturn.compose.engine import build_parts
    from everturn.compose.world import World
    from everturn.core.sources import QuerySource

    world = World(
        env=launch.env,
        model=model,
        live=build_live(launch),
        list_instructions=launch.memory.list_loaded,
        list_settings=partial(list_settings_files, launch.roots, launch.asked),
        source=QuerySource(),
        git=git,
    )
    setup = plan_setup(launch.setup, person, is_watched=is_watched, is_interactive=is_interactive)
    with naming_way_out(launch.roots):
        return build_parts(setup, world, name_option=name_option)


def plan_setup(setup: Setup, person: "Approver | None", *, is_watched: bool, is_interactive: bool = False) -> Setup:
    """What depends on who is there: a person who answers questions, and one who can end a long wait."""
    options, limits = setup.options, setup.limits
    if person is not None:
        options = msgspec.structs.replace(options, approver=person)
    if is_watched and isinstance(options.limits, dict) and "max_retry_after" not in options.limits:
        limits = msgspec.structs.replace(limits, max_retry_after=WATCHED_RETRY_AFTER)
    if is_interactive and isinstance(options.limits, dict) and "server_wait_s" not in options.limits:
        limits = msgspec.structs.replace(limits, server_wait_s=0.0)
    return msgspec.structs.replace(setup, options=options, limits=limits)

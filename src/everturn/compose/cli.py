"""The program's profile: flags and settings in; the model client first, so that its connection opens while the rest is made."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from everturn.settings.environment import named_home
from everturn.settings.files import FILE_NAME
from everturn.settings.options import Options
from everturn.settings.setup import Setup, check_options, find_home
from everturn.settings.sources import load_merged

if TYPE_CHECKING:
    from pathlib import Path

    from everturn.models.anthropic.client import AnthropicModel
    from everturn.ports.transport import Transport

JOINED = ("allowed_tools", "disallowed_tools")
"""What a flag says is added to what the settings say; of everything else the flag wins."""

WEAK = ("model", "permission_mode")
"""What the settings say of these is for new sessions: a resumed one keeps its own, unless a flag says otherwise."""

HELPER_KEY = "apiKeyHelper"


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """Everything decided, nothing built."""

    setup: Setup
    env: dict[str, str]
    warnings: tuple[str, ...]
    key_source: str
    """What the credential comes from; never the credential."""

    @property
    def options(self) -> Options:
        return self.setup.options


def program_home(env: Mapping[str, str]) -> "Path":
    return find_home(named_home(env), env)


def settings_path(env: Mapping[str, str]) -> "Path":
    return program_home(env) / FILE_NAME


def plan_launch(flags: Mapping[str, Any], env: Mapping[str, str], *, given: str | None = None) -> Launch:
    """`flags` by the names of `Options`; `given` is what `--settings` names. Raises `OptionError`."""
    merged = load_merged(program_home(env), env, given)
    fields = merged.options()
    joined = {name: [*fields.get(name, ()), *flags.get(name, ())] for name in JOINED}
    weak = {"only_defaults": [name for name in WEAK if name in fields and name not in flags]}
    setup = check_options(Options.of(**(fields | dict(flags) | joined | weak)), merged.env)
    warnings = merged.warnings
    if "effort" in fields and "effort" not in flags and (problem := judge_effort(setup)):
        setup = msgspec.structs.replace(setup, options=msgspec.structs.replace(setup.options, effort=None))
        warnings += (f"effortLevel is not used: {problem}",)
    return Launch(setup=setup, env=merged.env, warnings=warnings, key_source=find_key_source(setup))


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
    import os

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
    )

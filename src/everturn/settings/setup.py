"""From options and environment to a setup: every value found, checked and in its final form, ready to be composed."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from everturn.core.errors import OptionError
from everturn.core.limits import Limits
from everturn.ports.hooks import HookSettings
from everturn.ports.model import TaskBudget, ThinkingConfig, ThinkingMode
from everturn.ports.rules import Permissions
from everturn.ports.trust import Definition
from everturn.settings.environment import Environment, find_user_home, parse_environment
from everturn.settings.numbers import LIMITS
from everturn.settings.option_checks import HOOKS
from everturn.settings.options import DECLARED, Options, render_without_secrets

DEFAULT_MODEL = "claude-sonnet-5"
DEFAULT_URL = "https://api.anthropic.com"
_LIMITING = {field: option.limit for field, option in DECLARED.items() if option.limit}
"""The options that are a limit themselves, each with its name in `Limits`."""


class WrittenSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What settings files say that is no option: handed over by the program, which read them."""

    permissions: Permissions = Permissions()
    only_managed_rules: bool = False
    """Allow rules count from managed settings alone: a person's yes holds for one call and adds nothing."""
    hooks: HookSettings | None = None
    """Those that may run; None where there are none."""
    servers: tuple[Definition, ...] = ()
    """MCP servers that may be started; of two with the same name the last one counts."""
    defaults: tuple[str, ...] = ()
    """Options (model, permission_mode) that the files gave and nobody asked for: a resumed session keeps its own."""

    @property
    def bypass_disabled(self) -> bool:
        """The mode bypassPermissions is refused, whoever asks for it."""
        return bool(self.permissions.no_bypass)


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What `compose` builds from. What needs no work stays in `options`."""

    options: Options
    written: WrittenSettings = WrittenSettings()
    limits: Limits
    model: str
    """An id or an alias, not resolved yet."""
    aliases: dict[str, str]
    """What the environment says that an alias means."""
    folder: Path
    """Absolute, and there."""
    home: Path
    thinking: ThinkingConfig | None
    """None: the model thinks if it can."""
    task_budget: TaskBudget | None
    hooks: dict[str, tuple[Callable[..., Any], ...]]
    """By the names of `HOOKS`, each of them there, and of events."""
    api_key: str | None
    auth_token: str | None
    base_url: str
    """Without a slash at its end."""
    headers: dict[str, str]
    betas: tuple[str, ...]
    search_key: str | None = None

    def __repr__(self) -> str:
        return render_without_secrets(self)

    def __rich_repr__(self) -> Any:
        return iter([render_without_secrets(self)])

    @property
    def trusted(self) -> bool:
        """Whoever reads the folder's memory files marks them where it is not (`ports.trust.UNTRUSTED_MEMORY`)."""
        return self.options.trusted

    @property
    def has_credentials(self) -> bool:
        return bool(self.api_key or self.auth_token or self.options.api_key_helper)


def check_options(options: Options, env: Mapping[str, str], written: WrittenSettings = WrittenSettings()) -> Setup:  # noqa: B008 - frozen
    """Raises `OptionError` that names the option or the variable; looks at the disk for the folders only."""
    environment = parse_environment(env)
    return Setup(
        options=options,
        written=written,
        limits=build_limits(options, environment),
        model=options.model or environment.model or DEFAULT_MODEL,
        aliases=environment.aliases,
        folder=_folder(options.cwd),
        home=find_home(options.home if options.home is not None else environment.home, env),
        thinking=_thinking(options.thinking, environment.thinking_tokens),
        task_budget=TaskBudget(total=options.task_budget)
        if isinstance(options.task_budget, int)
        else options.task_budget,
        hooks={name: _functions(options, name) for name in dict.fromkeys((*HOOKS, *options.hooks))},
        # A credential in the options replaces both variables: two at once would be ambiguous.
        api_key=_stripped(options.api_key) or (None if _has_own(options) else environment.api_key),
        auth_token=_stripped(options.auth_token) or (None if _has_own(options) else environment.auth_token),
        base_url=(options.base_url or environment.base_url or DEFAULT_URL).rstrip("/"),
        headers={**environment.headers, **options.headers},
        betas=tuple(dict.fromkeys((*options.betas, *environment.betas))),
        search_key=_search_key(options, environment),
    )


def build_limits(options: Options, environment: Environment) -> Limits:
    """The defaults, then the environment, then `limits`, then the options that are a limit themselves."""
    changes: dict[str, Any] = {}
    if environment.retry_scale is not None:
        changes["retry_scale"] = environment.retry_scale
    if environment.stall_s is not None:
        changes["stall_s"] = environment.stall_s
    if environment.tool_concurrency is not None:
        changes["tool_concurrency"] = environment.tool_concurrency
    if environment.read_tokens is not None:
        changes["read_tokens"] = environment.read_tokens
    if environment.disable_auto_compact:
        changes["auto_compact"] = False
    changes |= _answer_limits(environment.max_output_tokens, environment.max_retries)
    changes |= _given(options.limits)
    changes |= _answer_limits(options.max_output_tokens, options.max_retries)
    changes |= {limit: value for field, limit in _LIMITING.items() if (value := getattr(options, field)) is not None}
    if "output_cap" in changes:
        # Whoever chose one means the output as a whole, thoughts included.
        changes.setdefault("output_cap_thinking", changes["output_cap"])
    return Limits(**changes)


def _answer_limits(cap: int | None, retries: int | None) -> dict[str, Any]:
    """A caller's cap is an override already, so nothing escalates it; tries count the first attempt too.

    Who says how often is obeyed, however long that takes.
    """
    capped = {} if cap is None else {"output_cap": cap, "escalate": False}
    if retries is None:
        return capped
    return {**capped, "tries": retries + 1, "unreached_tries": retries + 1, "unanswered_s": 0.0}


def _given(limits: Limits | Mapping[str, Any]) -> dict[str, Any]:
    """Of a whole `Limits`, what differs from the defaults."""
    if not isinstance(limits, Limits):
        return dict(limits)
    default = Limits()
    return {name: value for name in LIMITS if (value := getattr(limits, name)) != getattr(default, name)}


def _folder(cwd: str | os.PathLike[str] | None) -> Path:
    try:
        folder = Path(cwd if cwd is not None else ".").expanduser().resolve()
    except (OSError, RuntimeError) as error:
        raise OptionError("cwd", f"cannot be used: {error}") from None
    if not folder.is_dir():
        raise OptionError("cwd", f"is not a folder: {folder}")
    return folder


def find_home(chosen: str | os.PathLike[str] | None, env: Mapping[str, str]) -> Path:
    """Where sessions and the user's settings are; it need not be there. Raises `OptionError`."""
    user = Path(find_user_home(env))
    if chosen is None:
        chosen = user / ".everturn"
    elif os.fspath(chosen).startswith("~/"):
        chosen = user / os.fspath(chosen)[2:]
    try:
        return Path(chosen).expanduser().absolute()
    except (OSError, RuntimeError) as error:
        raise OptionError("home", f"cannot be used: {error}") from None


def _thinking(
    thinking: ThinkingConfig | Mapping[str, Any] | str | bool | None, tokens: int | None
) -> ThinkingConfig | None:
    """`tokens`: what the environment says; it is no demand on models that think otherwise."""
    if thinking is None or isinstance(thinking, bool):
        if thinking is False or tokens == 0:
            return ThinkingConfig(mode=ThinkingMode.DISABLED)
        return ThinkingConfig(mode=ThinkingMode.ENABLED, budget_tokens=tokens) if tokens else None
    if isinstance(thinking, ThinkingConfig):
        return thinking
    if isinstance(thinking, str):
        return ThinkingConfig(mode=ThinkingMode(thinking))
    return ThinkingConfig(
        mode=ThinkingMode(thinking["type"]),
        budget_tokens=thinking.get("budget_tokens"),
        display=thinking.get("display"),
    )


def _functions(options: Options, name: str) -> tuple[Callable[..., Any], ...]:
    hooks: Any = options.hooks.get(name, ())
    return tuple(hooks) if isinstance(hooks, list | tuple) else (hooks,)


def _search_key(options: Options, environment: Environment) -> str | None:
    key = _stripped(options.web_search_key) or environment.search_key
    if options.web_search is not None and key is None:
        raise OptionError("web_search", "needs a key: set BRAVE_API_KEY, or give web_search_key")
    return key


def _has_own(options: Options) -> bool:
    return bool(options.api_key or options.auth_token or options.api_key_helper)


def _stripped(secret: str | None) -> str | None:
    return secret.strip() if secret else None

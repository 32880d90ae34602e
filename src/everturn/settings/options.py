"""What a caller may ask of Everturn: one frozen value, checked when it is made, with each error naming its field."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from everturn.core.errors import OptionError
from everturn.core.limits import Limits
from everturn.ports.model import Effort, ModelCard, TaskBudget, ThinkingConfig
from everturn.ports.policy import Approver
from everturn.ports.rules import WrittenRule
from everturn.ports.tool import Tool
from everturn.settings import checks, numbers
from everturn.settings.checks import Check
from everturn.settings.sandbox import check_sandbox

PermissionMode = Literal["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]
JournalSync = Literal["always", "end", "off"]
AnyPath = str | os.PathLike[str]

MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")
HOOKS = ("stop", "post_tool", "stop_failure", "pre_compact", "post_compact")
SYNCS = ("always", "end", "off")
THINKING = ("adaptive", "enabled", "disabled")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
SECRETS = frozenset({"api_key", "auth_token", "headers", "web_search_key", "search_key"})
"""Fields whose values are never shown."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Everything has a default. What is None is taken from the environment, and then from the defaults of the loop."""

    model: str | None = None
    """The main model: an id or an alias. `ANTHROPIC_MODEL`, else claude-sonnet-5."""
    fallback_models: Sequence[str] = ()
    """Models to switch to, in this order, when the main one is overloaded or gone."""
    small_model: str = "haiku"
    """The model for small side jobs, such as tool summaries."""
    models: AnyPath | Sequence[ModelCard | Mapping[str, Any]] = ()
    """More entries for the model catalogue, or a file that holds them."""

    cwd: AnyPath | None = None
    """The working folder; None = the present one."""
    system_prompt: str | None = None
    """Replaces the default system prompt."""
    append_system_prompt: str | None = None
    """Follows the system prompt, whichever it is."""
    user_context: Mapping[str, str] | Callable[[], Mapping[str, str]] = {}
    """Named texts for the model in a hidden first message, frozen for the session; or a function that gives them, called when a query begins. What changed since is told with the prompt."""
    system_context: Mapping[str, str] = {}
    """Named texts for the model at the end of the system prompt; frozen for the session. What a resumed session finds changed is told with the prompt."""

    environment: bool = True
    """The model is told where it works, at the end of the system prompt: folders, git branch, platform, date, its name."""

    permission_mode: PermissionMode | None = None
    """default asks before anything but reading; acceptEdits, plan, dontAsk and bypassPermissions are the others."""
    allowed_tools: Sequence[str] = ()
    """Rules for calls that run without asking: `Bash(git status)`, `Edit(/src/**)`, `WebFetch(domain:*.example.com)`."""
    ask_tools: Sequence[str] = ()
    """Rules for calls that a person is always asked about, in every mode."""
    disallowed_tools: Sequence[str] = ()
    """Rules for calls that never run; they beat everything else. A bare name takes the tool off the model's list."""
    add_dirs: Sequence[AnyPath] = ()
    """Folders to work in besides the working folder; what the settings add comes on top."""
    rules: Sequence[WrittenRule] = ()
    """Rules of settings files, each with its source. What `allowed_tools` and `disallowed_tools` say counts as the command line's."""
    additional_directories: Sequence[str] = ()
    """Folders to work in besides the working folder."""
    try_held: bool = False
    """A command that would be asked about runs held first (see docs/held.md); only where it meets the wall a person is asked."""
    bypass_disabled: bool = False
    """The mode bypassPermissions is refused, whoever asks for it."""
    only_managed_rules: bool = False
    """Allow rules count from managed settings alone: a person's yes holds for one call and adds nothing."""
    trusted: bool = False
    """The folder's authors are believed: what its memory files say binds, and git is run to count its changed files."""
    sandbox: bool | Mapping[str, Any] | None = None
    """Whether commands run in a sandbox; or its settings by their public names (`{"enabled": True, "network": {…}}`)."""
    approver: Approver | None = None
    """Asked where a call needs approval, and where the model asks the person; None = such calls are denied."""
    tools: Sequence[Tool] = ()
    """Own tools, in addition to the built-in ones."""
    builtin_tools: bool | Sequence[str] = True
    """False = none of the built-in tools; a list = only these. True leaves out what needs an approver where there is none."""
    web_search: Literal["brave"] | None = None
    """The search engine behind WebSearch: brave. None = the tool is not offered."""
    web_search_key: str | None = None
    """The search engine's key. `BRAVE_API_KEY`."""
    hooks: Mapping[str, Callable[..., Any] | Sequence[Callable[..., Any]]] = {}
    """Functions to call: `stop`, `post_tool`, `stop_failure`, `pre_compact`, `post_compact`."""

    max_turns: int | None = None
    """Rounds with the API in one query; 0 = no limit."""
    max_budget_usd: float | None = None
    """USD of one query, all its model calls included; 0 = no limit."""
    max_total_tokens: int | None = None
    """Tokens of one query, all four counters; 0 = no limit."""
    max_tool_calls: int | None = None
    """Calls that the model may make in one query; the first beyond does not run and ends it. 0 = no limit."""
    max_wall_s: float | None = None
    """Seconds that one query may take; 0 = no limit."""
    work_budget: int | None = None
    """Output tokens that a query should spend before it stops by itself; 0 = off."""
    limits: Limits | Mapping[str, Any] = {}
    """Any number of the loop by its name (second table). A field above beats the same number here."""

    max_output_tokens: int | None = None
    """Cap on the output of one answer, in place of the loop's own; it is not raised when an answer is cut."""
    task_budget: int | TaskBudget | None = None
    """Tokens that the API is told to make do with, where the model takes it."""
    thinking: bool | ThinkingConfig | Mapping[str, Any] | Literal["adaptive", "enabled", "disabled"] | None = None
    """How the model thinks: adaptive, enabled, disabled, or `{"type": "enabled", "budget_tokens": …}`; False = not at all, where it can be kept from it. None or True = as `MAX_THINKING_TOKENS` says, else on where the model can."""
    effort: Effort | None = None
    """low, medium, high, xhigh or max. None = the model's default."""
    fast: bool = False
    """Fast mode, where the model has one."""
    betas: Sequence[str] = ()
    """More values for the anthropic-beta header. `ANTHROPIC_BETAS` adds to them."""
    output_schema: Mapping[str, Any] | None = None
    """JSON Schema that the final answer must fit."""
    cache_ttl: Literal["5m", "1h"] = "5m"
    """How long the API keeps the prompt cache."""

    streaming_tools: bool = True
    """Calls start while the answer is still streaming."""
    tool_summaries: bool = False
    """The small model words each batch of calls in one line."""
    escalate: bool | None = None
    """An answer that hit the output cap is asked for again with a larger one."""
    collapse: bool = True
    """Staged collapses are committed when the window fills."""
    auto_compact: bool | None = None
    """The conversation is summarised before the window is full. `DISABLE_AUTO_COMPACT` switches it off."""
    reactive_compact: bool | None = None
    """The conversation is summarised when the API refuses it as too long."""

    stall_s: float | None = None
    """Silence after which a stream counts as broken. `EVERTURN_STALL_S`."""
    max_retries: int | None = None
    """Further attempts after one that failed. `CLAUDE_CODE_MAX_RETRIES`."""

    session_id: str | None = None
    """Id of a new session, or of the copy with fork_session; None = a fresh one."""
    resume: str | None = None
    """A session to go on with: its id, a beginning of it, or its title."""
    continue_conversation: bool = False
    """Go on with the newest session of the folder."""
    resume_at: str | None = None
    """Id of the message to go on from; what was said after it stays in the file and is no longer seen."""
    fork_session: bool = False
    """Go on with a copy under a new id; the session itself stays as it is."""
    only_defaults: Sequence[str] = ()
    """Names of options (model, permission_mode) that are no wish: a resumed session keeps its own."""
    persist: bool = True
    """Keep the session on disk."""
    journal_sync: JournalSync = "always"
    """When to wait until the disk would survive a power cut: always = before each side effect and at a query's end; end; off."""
    home: AnyPath | None = None
    """Where sessions are kept. `EVERTURN_HOME`, else `CLAUDE_CONFIG_DIR`, else ~/.everturn."""

    api_key: str | None = None
    """Credential, sent as x-api-key. `ANTHROPIC_API_KEY`."""
    auth_token: str | None = None
    """Credential, sent as a bearer token. `ANTHROPIC_AUTH_TOKEN`."""
    api_key_helper: str | None = None
    """Shell command that prints the credential."""
    base_url: str | None = None
    """Address of the API. `ANTHROPIC_BASE_URL`, else https://api.anthropic.com."""
    headers: Mapping[str, str] = {}
    """More headers for each request. `ANTHROPIC_CUSTOM_HEADERS` adds to them."""
    ca_file: AnyPath | None = None
    """File with certificates to trust besides the system's. Where it is not given, `SSL_CERT_FILE` or `NODE_EXTRA_CA_CERTS` counts."""

    def __post_init__(self) -> None:
        for field, check in CHECKS.items():
            value = getattr(self, field)
            if value is DEFAULTS[field] or (value is None and field in OPTIONAL):
                continue
            if problem := check(value):
                raise OptionError(field, problem)
        self._check_session()

    def _check_session(self) -> None:
        chosen = "continue_conversation" if self.continue_conversation else "resume"
        resumes = self.continue_conversation or self.resume is not None
        if self.continue_conversation and self.resume is not None:
            raise OptionError("continue_conversation", "cannot be given together with resume")
        if self.session_id is not None and resumes and not self.fork_session:
            raise OptionError(chosen, "cannot be given together with session_id: a resumed session has its id already")
        if resumes and not self.persist:
            raise OptionError(chosen, "needs persist: what is resumed is the session on disk")
        for field in ("resume_at", "fork_session"):
            if getattr(self, field) and not resumes:
                raise OptionError(field, "needs resume or continue_conversation")

    @classmethod
    def of(cls, **fields: Any) -> "Options":
        """Like the constructor, but an unknown name is an `OptionError` with the name that was probably meant."""
        for name in fields:
            if name not in cls.__struct_fields__:
                raise OptionError(name, f"is not an option{checks.nearest(name, cls.__struct_fields__)}")
        return cls(**fields)

    def __repr__(self) -> str:
        return render_without_secrets(self)

    def __rich_repr__(self) -> Any:
        return iter([render_without_secrets(self)])


DEFAULTS: dict[str, Any] = dict(zip(Options.__struct_fields__, Options.__struct_defaults__, strict=True))
"""What nobody gave need not be checked."""


def render_without_secrets(value: msgspec.Struct) -> str:
    """Only what differs from the defaults; of a secret only that it is there."""
    shown = []
    for field in msgspec.structs.fields(value):
        content = getattr(value, field.name)
        default = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
        if content != default:
            shown.append(f"{field.name}={'<set>' if field.name in SECRETS else repr(content)}")
    return f"{type(value).__name__}({', '.join(shown)})"


def _path(value: Any) -> str | None:
    is_path = isinstance(value, str | os.PathLike) and bool(os.fspath(value)) and "\0" not in str(value)
    return None if is_path else f"must be a path, not {value!r:.60}"


def _hooks(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return f"must map {', '.join(HOOKS)} to functions"
    for name, hooks in value.items():
        if name not in HOOKS:
            return f"knows no {name!r}{checks.nearest(str(name), HOOKS)} (allowed: {', '.join(HOOKS)})"
        if not all(callable(hook) for hook in (hooks if isinstance(hooks, list | tuple) else (hooks,))):
            return f"must map {name} to a function or a list of functions"
    return None


def _thinking(value: Any) -> str | None:
    if isinstance(value, ThinkingConfig | bool):
        return None
    kinds = checks.one_of(*THINKING)
    if isinstance(value, str):
        return kinds(value)
    if not isinstance(value, Mapping):
        return f"must be adaptive, enabled, disabled, or a map with a type, not {value!r:.60}"
    stranger = next((key for key in value if key not in {"type", "budget_tokens", "display"}), None)
    if stranger is not None:
        return f"knows no {stranger!r} (allowed: type, budget_tokens, display)"
    if problem := kinds(value.get("type")):
        return f"has a type that {problem}"
    return _thinking_details(value)


def _thinking_details(value: Mapping[str, Any]) -> str | None:
    budget, display = value.get("budget_tokens"), value.get("display")
    if value["type"] == "enabled" and (problem := checks.whole(1_024)(budget)):
        return f"has budget_tokens that {problem}"
    if value["type"] != "enabled" and budget is not None:
        return "takes budget_tokens with type enabled only"
    problem = checks.one_of("summarized", "omitted")(display) if display is not None else None
    return f"has a display that {problem}" if problem else None


_TOOL = checks.having("name", "description", "schema", "parse", "run", hint="write it with the decorator @tool")
_WRITTEN_RULE = checks.having("text", "ruling", "source", "folder", "origin", hint="write a WrittenRule")
_MODEL_CARD = checks.any_of(
    lambda value: None if isinstance(value, ModelCard | Mapping) else "must be a catalogue entry (a map with an id)"
)

CHECKS: dict[str, Check] = {
    "model": checks.text,
    "fallback_models": checks.list_of(checks.text),
    "small_model": checks.text,
    "models": checks.any_of(_path, checks.list_of(_MODEL_CARD)),
    "cwd": _path,
    "system_prompt": checks.words,
    "append_system_prompt": checks.words,
    "user_context": lambda value: None if callable(value) else checks.text_map(value),
    "system_context": checks.text_map,
    "environment": checks.flag,
    "permission_mode": checks.one_of(*MODES),
    "allowed_tools": checks.list_of(checks.tool_rule),
    "ask_tools": checks.list_of(checks.tool_rule),
    "disallowed_tools": checks.list_of(checks.tool_rule),
    "add_dirs": checks.list_of(_path),
    "rules": checks.list_of(_WRITTEN_RULE),
    "additional_directories": checks.list_of(_path),
    "try_held": checks.flag,
    "bypass_disabled": checks.flag,
    "only_managed_rules": checks.flag,
    "trusted": checks.flag,
    "sandbox": check_sandbox,
    "approver": checks.having("approve", hint="an approver answers approve(call, reason)"),
    "tools": checks.list_of(_TOOL),
    "builtin_tools": checks.any_of(checks.flag, checks.list_of(checks.bare_name)),
    "web_search": checks.one_of("brave"),
    "web_search_key": checks.secret,
    "hooks": _hooks,
    "max_turns": checks.whole(0),
    "max_budget_usd": checks.number(0),
    "max_total_tokens": checks.whole(0),
    "max_tool_calls": checks.whole(0),
    "max_wall_s": checks.number(0),
    "work_budget": checks.whole(0),
    "limits": numbers.limits,
    "max_output_tokens": checks.whole(1),
    "task_budget": checks.any_of(
        checks.whole(1), lambda value: None if isinstance(value, TaskBudget) else "must be a TaskBudget"
    ),
    "thinking": _thinking,
    "effort": checks.one_of(*EFFORTS),
    "fast": checks.flag,
    "betas": checks.list_of(checks.text),
    "output_schema": lambda value: None if isinstance(value, Mapping) else "must be a JSON Schema as a map",
    "cache_ttl": checks.one_of("5m", "1h"),
    "streaming_tools": checks.flag,
    "tool_summaries": checks.flag,
    "escalate": checks.flag,
    "collapse": checks.flag,
    "auto_compact": checks.flag,
    "reactive_compact": checks.flag,
    "stall_s": checks.number(0.001),
    "max_retries": checks.whole(0),
    "session_id": checks.session_id,
    "resume": checks.text,
    "continue_conversation": checks.flag,
    "resume_at": checks.text,
    "fork_session": checks.flag,
    "only_defaults": checks.list_of(checks.one_of("model", "permission_mode")),
    "persist": checks.flag,
    "journal_sync": checks.one_of(*SYNCS),
    "home": _path,
    "api_key": checks.secret,
    "auth_token": checks.secret,
    "api_key_helper": checks.text,
    "base_url": checks.url,
    "headers": checks.headers,
    "ca_file": _path,
}
OPTIONAL = frozenset(field.name for field in msgspec.structs.fields(Options) if field.default is None)

"""What a caller may ask of Everturn: one frozen value, each option declared where it stands, checked when it is made."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, get_args

import msgspec

from everturn.core.errors import OptionError
from everturn.core.limits import Limits
from everturn.core.modes import ModeName
from everturn.ports.model import Effort, ModelCard, TaskBudget, ThinkingConfig
from everturn.ports.policy import Approver, Call
from everturn.ports.tool import Tool
from everturn.settings import checks, numbers, option_checks
from everturn.settings.declaration import CompletionOffer, Declaration, Flag, Takes, Topic
from everturn.settings.option_checks import THINKING
from everturn.settings.sandbox import check_sandbox

JournalSync = Literal["always", "end", "off"]
CacheTtl = Literal["5m", "1h"]
AnyPath = str | os.PathLike[str]

MODES: tuple[ModeName, ...] = get_args(ModeName)
MANUAL = "manual"
"""What other programs call the mode default."""
MODE_NAMES = (*MODES, MANUAL)
EFFORTS: tuple[Effort, ...] = get_args(Effort)


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Everything has a default. What is None is taken from the environment, and then from the defaults of the loop.

    `Declaration` says of each field what fits, and which setting in files and which flags set it: the settings, the parser and the
    help are made from this.
    """

    model: Annotated[
        str | None,
        Declaration(
            checks.text,
            "the main model: an id or an alias",
            key="model",
            flags=(
                Flag(name="--model", topic=Topic.MODEL, takes=Takes.TEXT, value="NAME", offer=CompletionOffer.MODELS),
            ),
        ),
    ] = None
    """The main model: an id or an alias. `ANTHROPIC_MODEL`, else claude-sonnet-5."""
    fallback_models: Annotated[
        Sequence[str],
        Declaration(
            checks.list_of(checks.text),
            "models to switch to, in this order, when the main one is overloaded or gone",
            key="fallbackModel",
            flags=(
                Flag(
                    name="--fallback-model",
                    topic=Topic.MODEL,
                    takes=Takes.LIST,
                    value="A,B",
                    offer=CompletionOffer.MODELS,
                ),
            ),
        ),
    ] = ()
    """Models to switch to, in this order, when the main one is overloaded or gone."""
    small_model: Annotated[str, Declaration(checks.text)] = "haiku"
    """The model for small side jobs, such as tool summaries."""
    models: Annotated[
        AnyPath | Sequence[ModelCard | Mapping[str, Any]],
        Declaration(
            option_checks.models, "more entries for the model catalogue, or a file with them", key="everturn.models"
        ),
    ] = ()
    """More entries for the model catalogue, or a file with them."""

    cwd: Annotated[AnyPath | None, Declaration(checks.path)] = None
    """The working folder; None = the current folder."""
    system_prompt: Annotated[
        str | None,
        Declaration(
            checks.words,
            flags=(
                Flag(
                    name="--system-prompt",
                    topic=Topic.PROMPT,
                    takes=Takes.TEXT,
                    value="TEXT",
                    help="replaces the system prompt",
                ),
                Flag(
                    name="--system-prompt-file",
                    topic=Topic.PROMPT,
                    takes=Takes.FILE,
                    value="FILE",
                    as_is=False,
                    help="the same, from a file",
                ),
            ),
        ),
    ] = None
    """Replaces the default system prompt."""
    append_system_prompt: Annotated[
        str | None,
        Declaration(
            checks.words,
            flags=(
                Flag(
                    name="--append-system-prompt",
                    topic=Topic.PROMPT,
                    takes=Takes.TEXT,
                    value="TEXT",
                    help="is added after the system prompt",
                ),
                Flag(
                    name="--append-system-prompt-file",
                    topic=Topic.PROMPT,
                    takes=Takes.FILE,
                    value="FILE",
                    as_is=False,
                    help="the same, from a file",
                ),
            ),
        ),
    ] = None
    """Text that is added after the system prompt."""
    user_context: Annotated[
        Mapping[str, str] | Callable[[], Mapping[str, str]], Declaration(option_checks.user_context)
    ] = {}
    """Named texts for the model in a hidden first message, or a function that returns them, called when a query begins. They are fixed for the session; the next prompt tells the model what has changed."""
    system_context: Annotated[Mapping[str, str], Declaration(checks.text_map)] = {}
    """Named texts for the model at the end of the system prompt. They are fixed for the session; after a resume, the next prompt tells the model what has changed."""

    environment: Annotated[bool, Declaration(checks.flag)] = True
    """Tell the model where it works, at the end of the system prompt: folders, git branch, platform, date, its name."""

    permission_mode: Annotated[
        ModeName | None,
        Declaration(
            checks.one_of(*MODES),
            ", ".join(MODES),
            key="permissions.defaultMode",
            key_check=checks.one_of(*MODE_NAMES),
            flags=(
                Flag(
                    name="--permission-mode",
                    topic=Topic.PERMISSIONS,
                    takes=Takes.TEXT,
                    value="MODE",
                    choices=MODE_NAMES,
                    as_is=False,
                ),
            ),
        ),
    ] = None
    """default (asks before everything except reading), acceptEdits, plan, dontAsk or bypassPermissions."""
    allowed_tools: Annotated[
        Sequence[str],
        Declaration(
            checks.list_of(checks.tool_rule),
            flags=(
                Flag(
                    name="--allowed-tools",
                    also=("--allowedTools",),
                    topic=Topic.PERMISSIONS,
                    takes=Takes.LIST,
                    value="RULES",
                    help="calls that run without asking: Bash(git status), Edit(/src/**)",
                ),
            ),
        ),
    ] = ()
    """Rules for calls that run without asking: `Bash(git status)`, `Edit(/src/**)`, `WebFetch(domain:*.example.com)`."""
    ask_tools: Annotated[
        Sequence[str],
        Declaration(
            checks.list_of(checks.tool_rule),
            flags=(
                Flag(
                    name="--ask-tools",
                    also=("--askTools",),
                    topic=Topic.PERMISSIONS,
                    takes=Takes.LIST,
                    value="RULES",
                    help="calls that a person is always asked about",
                ),
            ),
        ),
    ] = ()
    """Rules for calls that a person is always asked about, in every mode."""
    disallowed_tools: Annotated[
        Sequence[str],
        Declaration(
            checks.list_of(checks.tool_rule),
            flags=(
                Flag(
                    name="--disallowed-tools",
                    also=("--disallowedTools",),
                    topic=Topic.PERMISSIONS,
                    takes=Takes.LIST,
                    value="RULES",
                    help="calls that never run",
                ),
            ),
        ),
    ] = ()
    """Rules for calls that never run; they override everything else. A tool's name alone hides the tool from the model."""
    add_dirs: Annotated[
        Sequence[AnyPath],
        Declaration(
            checks.list_of(checks.path),
            flags=(
                Flag(
                    name="--add-dir",
                    topic=Topic.PERMISSIONS,
                    takes=Takes.EACH,
                    value="FOLDER",
                    help="one more folder to work in; may be given again",
                ),
            ),
        ),
    ] = ()
    """Folders to work in besides the working folder; the settings may add more."""
    try_held: Annotated[
        bool,
        Declaration(
            checks.flag,
            "a command that would ask runs first, confined by the system; a person is asked only if the system refused it something",
            key="permissions.tryHeld",
        ),
    ] = False
    """A command that would ask runs first, confined by the operating system (see docs/explanation/held.md); a person is asked only if the system refused it something."""
    trusted: Annotated[bool, Declaration(checks.flag)] = False
    """Trust the folder: its memory files are rules for the model, and git runs to count its changed files."""
    sandbox: Annotated[
        bool | Mapping[str, Any] | None,
        Declaration(
            check_sandbox,
            flags=(
                Flag(
                    name="--sandbox",
                    topic=Topic.PERMISSIONS,
                    help="run commands in a sandbox: they write in the working folder only",
                ),
            ),
        ),
    ] = None
    """Run commands in a sandbox: True, or its settings by their public names (`{"enabled": True, "network": {…}}`)."""
    approver: Annotated[Approver | Callable[[Call, str], Any] | None, Declaration(option_checks.approver)] = None
    """Decides about calls that need approval, and answers questions of the model: a function of the call and the reason that returns a `Verdict`, or an object with such a method `approve`. None = such calls are denied."""
    tools: Annotated[Sequence[Tool | Callable[..., Any]], Declaration(option_checks.tools)] = ()
    """Own tools, in addition to the built-in ones; a plain function with types and a docstring is one, too."""
    mcp_servers: Annotated[Mapping[str, Any], Declaration(option_checks.mcp_servers)] = {}
    """MCP servers by name: a definition as in `.mcp.json`, or a server in this process, which has a method `answer`."""
    builtin_tools: Annotated[
        bool | Sequence[str], Declaration(checks.any_of(checks.flag, checks.list_of(checks.bare_name)))
    ] = True
    """False = none of the built-in tools; a list = only these. True leaves out the tools that need an approver if there is none."""
    web_search: Annotated[
        Literal["brave"] | None,
        Declaration(checks.one_of("brave"), "the search engine behind WebSearch: brave", key="everturn.webSearch"),
    ] = None
    """The search engine behind WebSearch: brave. None = the tool is not offered."""
    web_search_key: Annotated[str | None, Declaration(checks.secret, secret=True)] = None
    """The search engine's key. `BRAVE_API_KEY`."""
    hooks: Annotated[
        Mapping[str, Callable[..., Any] | Sequence[Callable[..., Any]]], Declaration(option_checks.hooks)
    ] = {}
    """Functions to call: `stop`, `post_tool`, `stop_failure`, `pre_compact`, `post_compact`, and every event of docs/reference/hooks.md by its name."""

    goal: Annotated[
        str | None,
        Declaration(
            checks.text,
            flags=(
                Flag(
                    name="--goal",
                    topic=Topic.RUN,
                    takes=Takes.TEXT,
                    value="TEXT",
                    help="the goal, in words: what must be true before the work is done; with --verify",
                ),
            ),
        ),
    ] = None
    """The goal, in words: what must be true before the work is done. With `verify` alone, the command must succeed."""
    verify: Annotated[
        str | None,
        Declaration(
            checks.text,
            flags=(
                Flag(
                    name="--verify",
                    topic=Topic.RUN,
                    takes=Takes.TEXT,
                    value="COMMAND",
                    help="the command that checks the goal: it runs when the model stops, until exit code 0",
                ),
            ),
        ),
    ] = None
    """The command that checks the goal: it runs whenever the model stops, and exit code 0 means that the goal is met. Exactly this command is allowed; rules that deny it still hold."""

    max_turns: Annotated[
        int | None,
        Declaration(
            checks.whole(0),
            limit="max_turns",
            flags=(
                Flag(
                    name="--max-turns",
                    topic=Topic.LIMITS,
                    takes=Takes.WHOLE,
                    value="N",
                    help="rounds with the model at most (what a goal sends back is the same round)",
                ),
            ),
        ),
    ] = None
    """Rounds with the API in one query; 0 = no limit."""
    max_budget_usd: Annotated[
        float | None,
        Declaration(
            checks.number(0),
            limit="max_usd",
            flags=(
                Flag(
                    name="--max-budget-usd",
                    topic=Topic.LIMITS,
                    takes=Takes.NUMBER,
                    value="USD",
                    help="USD that the run may cost; it ends at most one model call later",
                ),
            ),
        ),
    ] = None
    """USD of one query, all its model calls included; 0 = no limit."""
    max_total_tokens: Annotated[int | None, Declaration(checks.whole(0), limit="max_tokens_total")] = None
    """Tokens of one query, all four counters; 0 = no limit."""
    max_tool_calls: Annotated[int | None, Declaration(checks.whole(0), limit="max_tool_calls")] = None
    """Calls that the model may make in one query; the first call above the limit does not run and ends the query. 0 = no limit."""
    max_wall_s: Annotated[float | None, Declaration(checks.number(0), limit="max_wall_s")] = None
    """Seconds that one query may take; 0 = no limit."""
    work_budget: Annotated[
        int | None,
        Declaration(
            checks.whole(0),
            limit="work_budget",
            flags=(
                Flag(
                    name="--token-budget",
                    topic=Topic.LIMITS,
                    takes=Takes.WHOLE,
                    value="N",
                    help="output tokens that the run should spend before it stops by itself",
                ),
            ),
        ),
    ] = None
    """Output tokens that a query should spend before it stops by itself; 0 = off."""
    limits: Annotated[Limits | Mapping[str, Any], Declaration(numbers.limits)] = {}
    """Any limit by its name (see the table of limits). An option overrides the same limit here."""

    max_output_tokens: Annotated[
        int | None,
        Declaration(
            checks.whole(1),
            flags=(
                Flag(
                    name="--max-output-tokens",
                    topic=Topic.LIMITS,
                    takes=Takes.WHOLE,
                    value="N",
                    help="cap on the output of one answer",
                ),
            ),
        ),
    ] = None
    """Cap on the output of one answer, in place of the default; it is not raised when an answer is cut off."""
    task_budget: Annotated[int | TaskBudget | None, Declaration(option_checks.task_budget)] = None
    """Token budget that is sent to the API, if the model supports it."""
    effort: Annotated[
        Effort | None,
        Declaration(
            checks.one_of(*EFFORTS),
            f"{', '.join(EFFORTS[:-1])} or {EFFORTS[-1]}",
            key="effortLevel",
            flags=(Flag(name="--effort", topic=Topic.MODEL, takes=Takes.TEXT, value="LEVEL", choices=EFFORTS),),
        ),
    ] = None
    """low, medium, high, xhigh or max. None = the model's default."""
    thinking: Annotated[
        bool | ThinkingConfig | Mapping[str, Any] | Literal["adaptive", "enabled", "disabled"] | None,
        Declaration(
            option_checks.thinking,
            key="alwaysThinkingEnabled",
            key_check=checks.flag,
            key_help="false: the model does not think, if it can be switched off",
            flags=(
                Flag(
                    name="--thinking",
                    topic=Topic.MODEL,
                    takes=Takes.TEXT,
                    value="MODE",
                    choices=THINKING,
                    help=f"{', '.join(THINKING[:-1])} or {THINKING[-1]}; without it, a model that can think does",
                ),
            ),
        ),
    ] = None
    """How the model thinks: adaptive, enabled, disabled, or `{"type": "enabled", "budget_tokens": …}`; False = off, if the model allows that. None or True = as `MAX_THINKING_TOKENS` says, else on if the model can think."""
    fast: Annotated[bool, Declaration(checks.flag)] = False
    """Fast mode, if the model has one."""
    betas: Annotated[
        Sequence[str],
        Declaration(
            checks.list_of(checks.text),
            "more values for the anthropic-beta header",
            flags=(Flag(name="--betas", topic=Topic.MODEL, takes=Takes.LIST, value="A,B"),),
        ),
    ] = ()
    """More values for the anthropic-beta header. `ANTHROPIC_BETAS` adds to them."""
    output_schema: Annotated[
        Mapping[str, Any] | None,
        Declaration(
            option_checks.output_schema,
            flags=(
                Flag(
                    name="--json-schema",
                    topic=Topic.RUN,
                    takes=Takes.TEXT,
                    value="SCHEMA",
                    as_is=False,
                    help="JSON Schema (JSON, or a file) that the final answer must fit",
                ),
            ),
        ),
    ] = None
    """JSON Schema that the final answer must fit."""
    cache_ttl: Annotated[CacheTtl, Declaration(checks.one_of(*get_args(CacheTtl)))] = "5m"
    """How long the API keeps the prompt cache."""
    cache_write: Annotated[bool, Declaration(checks.flag)] = True
    """False: requests read the prompt cache, but do not write their messages to it. For a fork that asks one question."""

    streaming_tools: Annotated[bool, Declaration(checks.flag)] = True
    """Calls start while the answer is still streaming."""
    prompt_suggestions: Annotated[bool, Declaration(checks.flag)] = False
    """The small model suggests the person's next prompt when a query ends."""
    job_file: Annotated[AnyPath | None, Declaration(checks.path)] = None
    """File to which the session writes its state, for programs that list sessions: working, needs input, done or failed."""
    tool_summaries: Annotated[bool, Declaration(checks.flag)] = False
    """The small model describes each batch of calls in one line."""
    escalate: Annotated[bool | None, Declaration(checks.flag, limit="escalate")] = None
    """Request an answer that hit the output cap again, with a larger cap."""
    collapse: Annotated[bool, Declaration(checks.flag)] = True
    """Use summaries of finished work when the window fills."""
    auto_compact: Annotated[
        bool | None,
        Declaration(checks.flag, "summarise before the window is full", key="autoCompactEnabled", limit="auto_compact"),
    ] = None
    """The conversation is summarised before the window is full. `DISABLE_AUTO_COMPACT` switches it off."""
    reactive_compact: Annotated[bool | None, Declaration(checks.flag, limit="reactive_compact")] = None
    """The conversation is summarised when the API refuses it as too long."""

    stall_s: Annotated[float | None, Declaration(checks.number(0.001), limit="stall_s")] = None
    """Silence after which a stream counts as broken. `EVERTURN_STALL_S`."""
    max_retries: Annotated[int | None, Declaration(checks.whole(0))] = None
    """Further attempts after one that failed. `CLAUDE_CODE_MAX_RETRIES`."""

    continue_conversation: Annotated[
        bool,
        Declaration(
            checks.flag,
            "go on with the newest session of this folder",
            flags=(Flag(name="--continue", short="-c", topic=Topic.SESSION, as_is=False),),
        ),
    ] = False
    """Go on with the newest session of the folder."""
    resume: Annotated[
        str | None,
        Declaration(
            checks.text,
            flags=(
                Flag(
                    name="--resume",
                    short="-r",
                    topic=Topic.SESSION,
                    takes=Takes.MAYBE_TEXT,
                    value="SESSION",
                    offer=CompletionOffer.SESSIONS,
                    as_is=False,
                    help="go on with a session: by its id, a beginning of it, its title, or latest",
                ),
            ),
        ),
    ] = None
    """A session to go on with: its id, a beginning of it, or its title."""
    session_id: Annotated[
        str | None,
        Declaration(
            checks.session_id,
            "id of the new session",
            flags=(Flag(name="--session-id", topic=Topic.SESSION, takes=Takes.TEXT, value="ID"),),
        ),
    ] = None
    """Id of a new session, or of the copy with fork_session; None = a fresh one."""
    fork_session: Annotated[
        bool,
        Declaration(
            checks.flag,
            flags=(
                Flag(
                    name="--fork-session",
                    topic=Topic.SESSION,
                    help="with --continue or --resume: go on with a copy under a new id",
                ),
            ),
        ),
    ] = False
    """Go on with a copy under a new id; the session itself stays as it is."""
    resume_at: Annotated[
        str | None,
        Declaration(
            checks.text,
            flags=(
                Flag(
                    name="--resume-session-at",
                    topic=Topic.SESSION,
                    takes=Takes.TEXT,
                    value="MESSAGE",
                    help="with --continue or --resume: go on from this message, without later ones",
                ),
            ),
        ),
    ] = None
    """Id of the message to go on from; later messages stay in the file, but the model does not see them."""
    persist: Annotated[
        bool,
        Declaration(
            checks.flag,
            flags=(
                Flag(
                    name="--no-session-persistence",
                    topic=Topic.SESSION,
                    as_is=False,
                    help="keep the session in memory only",
                ),
            ),
        ),
    ] = True
    """Keep the session on disk."""
    journal_sync: Annotated[
        JournalSync,
        Declaration(
            checks.one_of(*get_args(JournalSync)),
            "when to wait for the disk: always, end (of a query), off",
            key="everturn.journalSync",
        ),
    ] = "always"
    """When to wait until the data would survive a power cut: always (before each side effect and at a query's end), end (at a query's end) or off."""
    home: Annotated[AnyPath | None, Declaration(checks.path)] = None
    """Where sessions are kept. `EVERTURN_HOME`, else `CLAUDE_CONFIG_DIR`, else ~/.everturn."""

    api_key: Annotated[str | None, Declaration(checks.secret, secret=True)] = None
    """Credential, sent as x-api-key. `ANTHROPIC_API_KEY`."""
    auth_token: Annotated[str | None, Declaration(checks.secret, secret=True)] = None
    """Credential, sent as a bearer token. `ANTHROPIC_AUTH_TOKEN`."""
    api_key_helper: Annotated[
        str | None, Declaration(checks.text, "shell command that prints the credential", key="apiKeyHelper")
    ] = None
    """Shell command that prints the credential."""
    base_url: Annotated[str | None, Declaration(checks.url)] = None
    """Address of the API. `ANTHROPIC_BASE_URL`, else https://api.anthropic.com."""
    headers: Annotated[Mapping[str, str], Declaration(checks.headers, secret=True)] = {}
    """More headers for each request. `ANTHROPIC_CUSTOM_HEADERS` adds to them."""
    ca_file: Annotated[AnyPath | None, Declaration(checks.path)] = None
    """File with certificates to trust besides the system's. Without it, `SSL_CERT_FILE` or `NODE_EXTRA_CA_CERTS` counts."""

    def __post_init__(self) -> None:
        """Raises one `OptionError` for all fields that are wrong."""
        problems = {}
        for field, option in DECLARED.items():
            value = getattr(self, field)
            if value is DEFAULTS[field] or (value is None and field in OPTIONAL):
                continue
            if problem := option.check(value):
                problems[field] = problem
        for field, problem in self._find_contradictions():
            problems.setdefault(field, problem)
        if problems:
            raise OptionError.join([OptionError(field, problem) for field, problem in problems.items()])

    def _find_contradictions(self) -> Iterator[tuple[str, str]]:
        """Fields that do not go with others, each with what is wrong."""
        chosen = "continue_conversation" if self.continue_conversation else "resume"
        resumes = self.continue_conversation or self.resume is not None
        if self.continue_conversation and self.resume is not None:
            yield "continue_conversation", "cannot be given together with resume"
        if self.session_id is not None and resumes and not self.fork_session:
            yield chosen, "cannot be given together with session_id: a resumed session has its id already"
        if resumes and not self.persist:
            yield chosen, "needs persist: what is resumed is the session on disk"
        for field in ("resume_at", "fork_session"):
            if getattr(self, field) and not resumes:
                yield field, "needs resume or continue_conversation"
        if self.goal is not None and self.verify is None:
            yield "goal", "needs verify: a command that shows whether the goal is met"

    @classmethod
    def of(cls, **fields: Any) -> "Options":
        """Like the constructor, but an unknown name is an `OptionError` with the name that was probably meant."""
        return make_options(cls, fields)

    def with_changes(self, **fields: Any) -> "Options":
        """The same options but for these. Raises `OptionError`, also for an unknown name."""
        return make_options(partial(msgspec.structs.replace, self), fields)

    def __repr__(self) -> str:
        return render_without_secrets(self)

    def __rich_repr__(self) -> Any:
        return iter([render_without_secrets(self)])


DECLARED: dict[str, Declaration] = {name: type_.__metadata__[0] for name, type_ in Options.__annotations__.items()}
"""What each option declares, by its name."""
DEFAULTS: dict[str, Any] = dict(zip(Options.__struct_fields__, Options.__struct_defaults__, strict=True))
"""What nobody gave need not be checked."""
OPTIONAL = frozenset(name for name, default in DEFAULTS.items() if default is None)
SECRETS = frozenset({*(name for name, option in DECLARED.items() if option.secret), "search_key"})
"""Fields whose values are never shown, of the options and of what is made from them."""


def make_options(
    make: Callable[..., Options], fields: Mapping[str, Any], *, other_names: Iterable[str] = ()
) -> Options:
    """Calls `make` with the fields. Raises one `OptionError` for all that are wrong; for an unknown name it has the one that was probably meant.

    `other_names`: names that may have been meant although they are not options.
    """
    known = {name: value for name, value in fields.items() if name in DEFAULTS}
    if len(known) == len(fields):
        return make(**fields)
    names = (*DEFAULTS, *other_names)
    problems = [
        OptionError(name, f"is not an option{checks.nearest(name, names)}") for name in fields if name not in known
    ]
    try:
        make(**known)
    except OptionError as error:
        problems += error.all
    raise OptionError.join(problems)


def render_without_secrets(value: msgspec.Struct) -> str:
    """Only what differs from the defaults; of a secret only that it is there."""
    shown = []
    for field in msgspec.structs.fields(value):
        content = getattr(value, field.name)
        default = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
        if content != default:
            shown.append(f"{field.name}={'<set>' if field.name in SECRETS else repr(content)}")
    return f"{type(value).__name__}({', '.join(shown)})"

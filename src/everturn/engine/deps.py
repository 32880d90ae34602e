"""The parts of an engine: ports to the outside world, the settings of a query, and the parts of a request."""

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

import msgspec

from everturn.core.limits import Limits
from everturn.core.notes import Goal
from everturn.core.sources import QuerySource
from everturn.engine.crew import Crew
from everturn.engine.notices import Notices
from everturn.ports.clock import Clock, Ids
from everturn.ports.context import Pipeline
from everturn.ports.files import Files
from everturn.ports.hooks import Checker, Hooks
from everturn.ports.ledger import Ledger
from everturn.ports.model import Catalog, Clearing, Effort, Model, TaskBudget, ThinkingConfig
from everturn.ports.policy import Approver, Grants, Policy, SettingsConsent
from everturn.ports.resources import Resources
from everturn.ports.servers import Servers
from everturn.ports.store import Journal, Replay, SessionFile
from everturn.ports.tasks import Tasks
from everturn.ports.tool import Modes, Tool

if TYPE_CHECKING:
    from everturn.core.jobs import JobReport
    from everturn.ports.goal import Verifier


class Deps(msgspec.Struct, frozen=True, kw_only=True):
    """The ports through which the engine does all I/O. Production and test versions satisfy the same Protocols."""

    model: Model
    catalog: Catalog
    pipeline: Pipeline
    journal: Journal
    ledger: Ledger
    policy: Policy
    hooks: Hooks
    files: Files
    clock: Clock
    ids: Ids
    modes: Modes | None = None
    """The policy's permission modes, where it has any."""
    approver: Approver | None = None
    grants: Grants | None = None
    """Adds rules to the policy when a person says yes; None where it takes none."""
    settings: SettingsConsent | None = None
    """Asks about changed settings; None where they cannot change while the session runs."""
    list_added: Callable[[], tuple[str, ...]] = tuple
    """Returns the working folders besides the first one, as they are now. Real paths."""
    add_folder: Callable[[str], str] | None = None
    """Adds a working folder and returns its real path, or raises `OptionError`; None where there are no rules about folders."""
    checker: Checker | None = None
    """Checks the final answer against a schema; None where there is no schema."""
    make_verifier: "Callable[[], Verifier] | None" = None
    """Makes what runs the command of a goal; called for the first goal."""
    note_job: "Callable[[JobReport], None] | None" = None
    """Takes the state of the session for a list of sessions; None where there is no such list."""
    servers: Servers | None = None
    """MCP servers of the session; None where there are none."""
    secrets: Callable[[], Collection[str]] = tuple
    """Returns the credentials that we use, as far as they are known; they are removed from every user message."""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a query, taken once when it starts; none of them changes while it runs."""

    session_id: str
    folder: str
    limits: Limits
    streaming_tools: bool = True
    """Calls start while the model still streams."""
    tool_summaries: bool = False
    collapse: bool = True
    fast: bool = False
    cache: bool = True
    cache_ttl: str = "5m"
    cache_write: bool = True
    small_model: str = ""
    suggestions: bool = False


class Prompting(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a request before the messages. System prompt and tools stay the same for a query, the contexts for the session."""

    system: Callable[[str], tuple[str, ...]] = lambda _: ()
    """The system prompt in blocks, with the section on permissions that the session began with."""
    permissions: Callable[[str], str] = lambda _: ""
    """Text of the section on permissions, by the permission mode; empty where the prompt has no such section."""
    user_context: Mapping[str, str] | Callable[[], Mapping[str, str]] = {}
    """The user context; a function is called when a query begins."""
    system_context: Callable[[str, str], Mapping[str, str]] = lambda _, __: {}
    """System context by the model and the permission mode; called when a query begins, and when the mode was switched."""
    told_once: frozenset[str] = frozenset()
    """Entries of the system context that describe the beginning of the session: later values are not compared with them."""
    told_with_prompt: frozenset[str] = frozenset()
    """Entries that may change while a query runs: they are compared when a prompt comes, and not when a query goes on."""
    output_schema: Mapping[str, object] | None = None


class AgentContext(msgspec.Struct, frozen=True, kw_only=True):
    """Model, tools and settings with which the loop works now. It is replaced, never changed: a fallback replaces the model."""

    model: str
    tools: tuple[Tool, ...]
    """Tools that every request lists, in this order."""
    deferred: tuple[Tool, ...] = ()
    """Tools that are not listed until ToolSearch has found them."""
    fallbacks: tuple[str, ...] = ()
    """Fallback models that this query has not used yet."""
    thinking: ThinkingConfig | None = None
    effort: Effort | None = None
    betas: tuple[str, ...] = ()
    max_output: int | None = None
    """Output cap that the caller set; None: the model's default."""
    task_budget: TaskBudget | None = None
    clearing: Clearing | None = None
    """Old results that the API is asked to clear by itself."""
    source: QuerySource = QuerySource()


class EngineParts(msgspec.Struct, frozen=True, kw_only=True):
    """Made by `everturn.compose` from options: `compose.engine.build_parts`."""

    deps: Deps
    config: Config
    prompting: Prompting
    agent: AgentContext
    notices: Notices = msgspec.field(default_factory=Notices)
    session_file: SessionFile
    renew: "Callable[[], EngineParts]"
    """Makes the parts of the conversation that follows after `clear`."""
    source: str = "startup"
    """How the session begins: startup, resume, clear or fork."""
    list_instructions: Callable[[], tuple[tuple[str, str], ...]] = tuple
    """Returns the memory files that the model was given: pairs of path and `User` or `Project`."""
    replay: Replay | None = None
    """State of a resumed session; None for a new one."""
    goal: Goal | None = None
    """Goal of every query; wins over the goal that the session keeps."""
    tasks: Tasks = msgspec.field(default_factory=Tasks)
    """Tasks in the background; they go on after `clear`."""
    resources: Resources = msgspec.field(default_factory=Resources)
    """Locks and the like that only one session can have at a time."""
    background: Crew = msgspec.field(default_factory=Crew)
    """Asyncio tasks of our own that end with the engine."""
    closers: tuple[Callable[[], None], ...] = ()
    """Functions that are called last when the engine closes."""

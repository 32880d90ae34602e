"""What a query is given: the world behind ports, a snapshot of the switches, and the parameters of the prompt."""

from collections.abc import Callable, Collection, Mapping

import msgspec

from everturn.core.commands import MAIN
from everturn.core.limits import Limits
from everturn.ports.clock import Clock, Ids
from everturn.ports.context import Pipeline
from everturn.ports.files import Files
from everturn.ports.hooks import Checker, Hooks
from everturn.ports.ledger import Ledger
from everturn.ports.model import Catalog, Clearing, Effort, Model, TaskBudget, ThinkingConfig
from everturn.ports.modes import Modes
from everturn.ports.policy import Approver, Grants, Policy, SettingsConsent
from everturn.ports.store import Journal
from everturn.ports.tool import Tool


class Deps(msgspec.Struct, frozen=True, kw_only=True):
    """All I/O. Production and test versions satisfy the same Protocols."""

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
    """Of the policy, where it has any."""
    approver: Approver | None = None
    grants: Grants | None = None
    """Of the policy, where a person's yes can add to its rules."""
    settings: SettingsConsent | None = None
    """Of the policy, where its settings may change while we run."""
    list_added: Callable[[], tuple[str, ...]] = tuple
    """Folders to work in beside the working folder, at the moment. Real paths."""
    checker: Checker | None = None
    """Set where the answer must fit a schema."""
    secrets: Callable[[], Collection[str]] = tuple
    """Our own credentials, as far as they are known by now: no message of a user carries them."""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Taken once when a query starts; nothing of it changes while the query runs."""

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
    small_model: str = ""
    is_compaction: bool = False


class Prompting(msgspec.Struct, frozen=True, kw_only=True):
    """What stands before the messages: constant over all iterations, the contexts over the whole session."""

    system: Callable[[str], tuple[str, ...]] = lambda _: ()
    """The system prompt in blocks, with the section on permissions that the session began with."""
    permissions: Callable[[str], str] = lambda _: ""
    """That section by the permission mode; empty where the prompt has none."""
    user_context: Mapping[str, str] | Callable[[], Mapping[str, str]] = {}
    """A function is asked when a query begins."""
    system_context: Callable[[str, str], Mapping[str, str]] = lambda _, __: {}
    """By the model and the permission mode; asked when a query begins, and when the mode was switched."""
    told_once: frozenset[str] = frozenset()
    """Entries of the system context that tell of the beginning of the session: they are not compared later."""
    told_with_prompt: frozenset[str] = frozenset()
    """Entries that may change while a query runs: they are compared when a prompt comes, and not when a query goes on."""
    output_schema: Mapping[str, object] | None = None


class AgentContext(msgspec.Struct, frozen=True, kw_only=True):
    """Who works here, and with what. The spec's `tool_context`: rebuilt, never edited; a fallback changes its model."""

    model: str
    tools: tuple[Tool, ...]
    """Listed with every request, in this order."""
    deferred: tuple[Tool, ...] = ()
    """Not listed until a search has found them."""
    fallbacks: tuple[str, ...] = ()
    """Models not used yet in this query."""
    thinking: ThinkingConfig | None = None
    effort: Effort | None = None
    betas: tuple[str, ...] = ()
    max_output: int | None = None
    """The caller's own output cap."""
    task_budget: TaskBudget | None = None
    clearing: Clearing | None = None
    """What the API is asked to clear by itself."""
    address: str = MAIN
    source: str = "main"
    """Main thread, `sdk`, `agent:…`, `compact`, …"""

    @property
    def is_main(self) -> bool:
        return self.address == MAIN

"""What `Engine`, `query`, `run` and `run_sync` take by name, for type checkers alone: nothing loads it. Made by `make pages`.

Each option is declared in `settings/options.py`, what stands in for the world in `compose/world.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from everturn.core.limits import Limits
from everturn.core.modes import ModeName
from everturn.ports.clock import Clock, Ids
from everturn.ports.disk import Disk
from everturn.ports.ledger import Ledger
from everturn.ports.model import Effort, Model, ModelCard, TaskBudget, ThinkingConfig
from everturn.ports.policy import Approver, Call
from everturn.ports.tool import Tool
from everturn.settings.options import AnyPath, CacheTtl, JournalSync


class Keywords(TypedDict, total=False):
    model: str | Model | None
    fallback_models: Sequence[str]
    small_model: str
    models: AnyPath | Sequence[ModelCard | Mapping[str, Any]]
    cwd: AnyPath | None
    system_prompt: str | None
    append_system_prompt: str | None
    user_context: Mapping[str, str] | Callable[[], Mapping[str, str]]
    system_context: Mapping[str, str]
    environment: bool
    permission_mode: ModeName | None
    allowed_tools: Sequence[str]
    ask_tools: Sequence[str]
    disallowed_tools: Sequence[str]
    add_dirs: Sequence[AnyPath]
    try_held: bool
    trusted: bool
    sandbox: bool | Mapping[str, Any] | None
    approver: Approver | Callable[[Call, str], Any] | None
    tools: Sequence[Tool | Callable[..., Any]]
    mcp_servers: Mapping[str, Any]
    builtin_tools: bool | Sequence[str]
    web_search: Literal["brave"] | None
    web_search_key: str | None
    hooks: Mapping[str, Callable[..., Any] | Sequence[Callable[..., Any]]]
    goal: str | None
    verify: str | None
    max_turns: int | None
    max_budget_usd: float | None
    max_total_tokens: int | None
    max_tool_calls: int | None
    max_wall_s: float | None
    work_budget: int | None
    limits: Limits | Mapping[str, Any]
    max_output_tokens: int | None
    task_budget: int | TaskBudget | None
    effort: Effort | None
    thinking: bool | ThinkingConfig | Mapping[str, Any] | Literal["adaptive", "enabled", "disabled"] | None
    fast: bool
    betas: Sequence[str]
    output_schema: Mapping[str, Any] | None
    cache_ttl: CacheTtl
    cache_write: bool
    streaming_tools: bool
    prompt_suggestions: bool
    job_file: AnyPath | None
    tool_summaries: bool
    escalate: bool | None
    collapse: bool
    auto_compact: bool | None
    reactive_compact: bool | None
    stall_s: float | None
    max_retries: int | None
    continue_conversation: bool
    resume: str | None
    session_id: str | None
    fork_session: bool
    resume_at: str | None
    persist: bool
    journal_sync: JournalSync
    home: AnyPath | None
    api_key: str | None
    auth_token: str | None
    api_key_helper: str | None
    base_url: str | None
    headers: Mapping[str, str]
    ca_file: AnyPath | None
    env: Mapping[str, str] | None
    ledger: Ledger | None
    disk: Disk | None
    clock: Clock | None
    ids: Ids | None

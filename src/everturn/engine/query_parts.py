"""What all turns of a query share, built when the query begins."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from everturn.core.events import PromptSuggested
from everturn.core.messages import Message
from everturn.core.outcomes import Problem
from everturn.engine.attachments import Attachments
from everturn.engine.context_watch import ContextWatch
from everturn.engine.crew import Crew
from everturn.engine.deps import AgentContext, Config, Deps
from everturn.engine.executor import Executor
from everturn.engine.recorder import Recorder
from everturn.engine.requests import Requests
from everturn.engine.summaries import Summaries
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.resources import Resources

if TYPE_CHECKING:
    from everturn.engine.goals import GoalWork


class QueryParts(msgspec.Struct, frozen=True, kw_only=True):
    deps: Deps
    config: Config
    query_id: str
    requests: Requests
    recorder: Recorder
    signal: AbortSignal
    attachments: Attachments
    contexts: ContextWatch
    summaries: Summaries
    files: FileStates
    admit: Callable[[], Awaitable[Problem | None]]
    """Adds the prompt, if there is one, to the transcript. Returns why hooks refused it, or None."""
    deferred: bool
    """The query continues with a call that a hook deferred."""
    make_executor: Callable[[AgentContext], Executor]
    keep_snapshot: Callable[[Sequence[Message], AgentContext], None]
    """Keeps the present context for side questions."""
    keep_suggestion: Callable[[PromptSuggested], None]
    """Keeps the suggestion for the next prompt."""
    crew: Crew
    """Tasks that end with the query."""
    background: Crew
    """Tasks that end with the engine."""
    resources: Resources
    """Locks and the like that only one session can have at a time."""
    goal: "GoalWork | None" = None
    """The goal of the query, where there is one."""

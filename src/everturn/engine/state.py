"""The loop's own state: immutable, rebuilt whole at each `Continue`."""

import msgspec

from everturn.core.state import Guards
from everturn.core.tokens import Meter
from everturn.core.view import View
from everturn.engine.deps import AgentContext
from everturn.engine.summaries import Pending
from everturn.ports.context import Tracking


class State(msgspec.Struct, frozen=True, kw_only=True):
    """No field is ever assigned. Counters and flags are in `guards`: they are all that `decide` sees."""

    messages: View
    """What is carried into the next iteration: the prepared view and what came; the transcript stays whole."""
    tool_context: AgentContext
    guards: Guards = Guards()
    compaction: Tracking = Tracking()
    meter: Meter | None = None
    """What the API counted last; None when a stage has changed the view since."""
    pending_summary: tuple[Pending, ...] = ()
    """What words tool batches in a line each, beside the next calls; the oldest first. Mostly the last batch alone."""

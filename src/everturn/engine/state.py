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
    """Messages that the next turn starts from: the prepared view and what was added to it."""
    tool_context: AgentContext
    guards: Guards = Guards()
    compaction: Tracking = Tracking()
    meter: Meter | None = None
    """The last count of the API; None when a stage has changed the view since."""
    pending_summary: tuple[Pending, ...] = ()
    """Summaries of tool rounds that are being made beside the next calls; oldest first, mostly only the last round's."""

"""How much of the window the next request would use, for people: nothing is prepared, sent or changed."""

from collections.abc import Sequence

from everturn.core.limits import Limits
from everturn.core.messages import Message
from everturn.core.tokens import Meter
from everturn.core.window import WindowUse, fold_window, measure_messages
from everturn.engine.deps import AgentContext
from everturn.engine.requests import Requests


def measure_window(
    requests: Requests, agent: AgentContext, view: Sequence[Message], meter: Meter | None, limits: Limits
) -> WindowUse:
    card = requests.card(agent)
    usable = max(0, card.window - requests.output_cap(agent, None))
    # Above the threshold the conversation is compacted, so space beyond it cannot be used.
    threshold = int(usable * limits.compact_share) if limits.auto_compact else usable
    counted = None
    if meter is not None and meter.messages <= len(view):
        counted = meter.tokens + measure_messages(view[meter.messages :]).total()
    return fold_window(
        requests.list_fixed(agent),
        view,
        model=agent.model,
        window=card.window,
        reserve=card.window - threshold,
        total=counted,
    )

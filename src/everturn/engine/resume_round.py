"""Goes on with a query that was cut off: adds what should have followed its last round; then the loop takes over."""

from everturn.core.decide import Continue, decide
from everturn.core.events import Continued
from everturn.core.messages import Kind
from everturn.core.outcomes import CallsFinished
from everturn.core.state import Guards
from everturn.engine.query_parts import QueryParts
from everturn.engine.resumed_session import ask_for_rest, tell_again
from everturn.engine.transitions import record_transition
from everturn.ports.store import OpenQuery


def resume_round(parts: QueryParts, query: OpenQuery, address: str, *, closed: bool) -> Guards:
    """Returns the guards of the next turn. `closed`: calls of the last answer just got results that say "interrupted"."""
    recorder, guards = parts.recorder, query.guards
    if words := tell_again(query, parts.config.limits.work_budget) or ask_for_rest(recorder.view):
        recorder.add_user(Kind.HIDDEN, words)
        return guards
    if not (query.tools_ran or closed):
        parts.attachments.collect_finished()
        return guards
    parts.attachments.collect(address)
    decision = decide(guards, CallsFinished(), parts.config.limits)
    if not isinstance(decision, Continue):
        # The limit of turns was reached; a caller who goes on begins to count anew.
        return Guards()
    guards = decision.guards
    record_transition(parts, decision.transition, guards)
    recorder.emit(Continued(transition=decision.transition, turn=guards.turn))
    return guards

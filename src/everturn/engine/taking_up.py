"""A query that was cut off goes on: what should have followed its last round is done now, then the loop has it."""

from everturn.core.decide import Continue, decide
from everturn.core.events import Continued
from everturn.core.messages import Kind
from everturn.core.outcomes import CallsFinished
from everturn.core.records import TransitionTaken
from everturn.core.state import Guards
from everturn.engine.restoring import ask_for_rest
from everturn.engine.workshop import Workshop
from everturn.ports.store import OpenQuery


def take_up(shop: Workshop, query: OpenQuery, address: str, *, closed: bool) -> Guards:
    """`closed`: calls of the last answer got a result just now, which says that they were cut off."""
    recorder, guards = shop.recorder, query.guards
    if words := ask_for_rest(recorder.view):
        recorder.add_user(Kind.HIDDEN, words)
        return guards
    if not (query.tools_ran or closed):
        shop.attachments.collect_finished()
        return guards
    shop.attachments.collect(address)
    decision = decide(guards, CallsFinished(), shop.config.limits)
    if not isinstance(decision, Continue):
        # The limit of turns was reached; whoever asks to go on begins to count anew.
        return Guards()
    guards = decision.guards
    recorder.record(
        TransitionTaken(query_id=shop.query_id, transition=decision.transition, turn=guards.turn, guards=guards)
    )
    recorder.emit(Continued(transition=decision.transition, turn=guards.turn))
    return guards

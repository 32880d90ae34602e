"""The loop: act, observe, decide. Everything it can do, and every way it can end, is a case of `core.decide`.

Calls of tools may already run while the model streams: `CallModel` starts them, `RunTools` waits for their results.
"""

from everturn.core.actions import Action, CallModel
from everturn.core.decide import Continue, Decision, Do, Terminal, decide
from everturn.engine.actions.perform import perform
from everturn.engine.end_query import end_query
from everturn.engine.query_parts import QueryParts
from everturn.engine.state import State
from everturn.engine.transitions import next_state
from everturn.engine.turn import Turn


async def run_loop(parts: QueryParts, state: State, first: Action) -> tuple[Terminal, Turn]:
    """Runs turns until `decide` says stop. Returns the terminal and the turn in which it came."""
    started_s = parts.deps.clock.elapsed()
    while True:
        turn, action = Turn(parts, state), first
        first = CallModel()
        match await run_turn(turn, action):
            case Continue() as decision:
                state = next_state(turn, decision)
            case Terminal() as terminal:
                await end_query(turn, terminal, duration_s=parts.deps.clock.elapsed() - started_s)
                return terminal, turn


async def run_turn(turn: Turn, action: Action) -> Continue | Terminal:
    """Performs the action, then those that `decide` asks for, until it says continue or stop."""
    decision: Decision = Do(action)
    while isinstance(decision, Do):
        outcome = await perform(turn, decision.action)
        decision = decide(turn.state.guards, outcome, turn.parts.config.limits)
    return decision

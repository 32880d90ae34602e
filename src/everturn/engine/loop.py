"""The loop: act, observe, decide. Everything it can do, and every way it can end, is a case of `core.decide`."""

from everturn.core.actions import CallModel
from everturn.core.decide import Continue, Decision, Do, Terminal, decide
from everturn.engine.ending import end_query
from everturn.engine.iteration import Iteration
from everturn.engine.state import State
from everturn.engine.workshop import Workshop


async def run_loop(shop: Workshop, state: State) -> tuple[Terminal, Iteration]:
    """Goes round until `decide` says stop. Gives the terminal and the iteration it came in."""
    started_s = shop.deps.clock.elapsed()
    while True:
        iteration = Iteration(shop, state)
        match await run_iteration(iteration):
            case Continue() as decision:
                state = iteration.next_state(decision)
            case Terminal() as terminal:
                await end_query(iteration, terminal, duration_s=shop.deps.clock.elapsed() - started_s)
                return terminal, iteration


async def run_iteration(iteration: Iteration) -> Continue | Terminal:
    """Calls the model, then does what the policy says until it says go on or stop."""
    decision: Decision = Do(CallModel())
    while isinstance(decision, Do):
        outcome = await iteration.perform(decision.action)
        decision = decide(iteration.state.guards, outcome, iteration.shop.config.limits)
    return decision

"""One prompt: runs the loop to its end and closes what it opened, with exactly one terminal."""

from collections.abc import Callable

from everturn.core.decide import Terminal
from everturn.core.events import ErrorReleased, Terminated
from everturn.core.outcomes import Problem
from everturn.core.records import QueryEnded
from everturn.core.state import ENDINGS, AbortCause, Exit, Reason
from everturn.engine.commands import CommandQueue
from everturn.engine.iteration import Iteration
from everturn.engine.loop import run_loop
from everturn.engine.state import State
from everturn.engine.workshop import Workshop
from everturn.ports.hooks import FailureInput


async def run_query(
    shop: Workshop, state: State, *, queue: CommandQueue, on_end: Callable[[Iteration], None]
) -> Terminated:
    """Its event is the last but one: what ran beside the loop still says what it cost, but nothing after it.

    Cancelled, it has no terminal; what it started is ended all the same.
    """
    try:
        try:
            terminal, last = await run_loop(shop, state)
            on_end(last)
        except Exception as error:  # noqa: BLE001 (exceptions inside become terminals)
            problem = Problem(text=f"Everturn failed: {type(error).__name__}: {error}", by_api=False)
            terminal = Terminal(reason=Reason.MODEL_ERROR, release=problem)
        await shop.crew.end()
        queue.complete()
        start_failure_hooks(shop, terminal)
        error_text = terminal.release.text if terminal.release else ""
        shop.recorder.record(QueryEnded(query_id=shop.query_id, reason=terminal.reason, error=error_text))
        await shop.recorder.sync(end=True)
        if terminal.release is not None:
            shop.recorder.emit(ErrorReleased(problem=terminal.release))
        terminated = Terminated(reason=terminal.reason, problem=terminal.release, exit=exit_code(shop, terminal))
        shop.recorder.emit(terminated)
        return terminated
    finally:
        await shop.crew.end()
        queue.abandon()


def start_failure_hooks(shop: Workshop, terminal: Terminal) -> None:
    """Started, not awaited: the engine ends them when it closes."""
    if ENDINGS[terminal.reason].stop_failure:
        error = terminal.release.text if terminal.release else ""
        failure = FailureInput(session_id=shop.config.session_id, reason=terminal.reason, error=error)
        shop.background.start(shop.deps.hooks.stop_failure(failure))


def exit_code(shop: Workshop, terminal: Terminal) -> int:
    ending = ENDINGS[terminal.reason]
    if ending.exit is Exit.INTERRUPTED and shop.signal.cause is AbortCause.TERMINATED:
        return Exit.TERMINATED
    if ending.exit is Exit.OK and terminal.release is not None:
        return Exit.ERROR
    return ending.exit

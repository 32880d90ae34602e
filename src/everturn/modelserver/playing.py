"""Acts out steps on a connection: the only place where an answer meets the socket."""

import asyncio
from collections.abc import Callable

from everturn.modelserver.connection import ClientLeftError, Connection
from everturn.modelserver.steps import HangUp, Head, Send, Steps, Wait, WaitFor


class Stage:
    """What steps need besides a connection: the pace, and the gates that tests open."""

    def __init__(self, time_scale: float) -> None:
        self._time_scale = time_scale
        self._gates: dict[str, asyncio.Event] = {}

    def gate(self, name: str) -> asyncio.Event:
        return self._gates.setdefault(name, asyncio.Event())

    async def play(self, connection: Connection, steps: Steps, on_start: Callable[[], None] | None = None) -> bool:
        """Whether the connection can serve another request. `on_start` is called when the answer begins."""
        for step in steps:
            match step:
                case Head():
                    await connection.begin(step)
                    if on_start:
                        on_start()
                case Send():
                    await connection.send(step.data)
                case Wait():
                    await connection.wait(asyncio.sleep(step.ms / 1000 * self._time_scale))
                case WaitFor():
                    await connection.wait(self.gate(step.gate).wait())
                case HangUp():
                    await self._hang_up(connection, step)
                    return False
        await connection.finish()
        return True

    async def _hang_up(self, connection: Connection, step: HangUp) -> None:
        match step.how:
            case "rst":
                await connection.reset()
            case "stall":
                await connection.gone()
                raise ClientLeftError
            case "eof":
                await connection.close()

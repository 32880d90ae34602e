"""Acts out steps on a connection: the only place where an answer meets the socket."""

import asyncio
from collections.abc import Callable

from everturn.modelserver.connection import ClientConnection, ClientLeftError
from everturn.modelserver.steps import HangUp, Head, Send, Steps, Wait, WaitFor


class AnswerGate:
    """Lets through whoever has a permit; once open, everybody."""

    def __init__(self) -> None:
        self._permits = asyncio.Semaphore(0)
        self._is_open = False

    def open(self) -> None:
        self._is_open = True
        self._permits.release()

    def let_through(self, pieces: int) -> None:
        for _ in range(pieces):
            self._permits.release()

    async def passed(self) -> None:
        await self._permits.acquire()
        if self._is_open:
            self._permits.release()


class StepPlayer:
    """What steps need besides a connection: the pace, and the gates that tests open."""

    def __init__(self, time_scale: float) -> None:
        self._time_scale = time_scale
        self._gates: dict[str, AnswerGate] = {}

    def gate(self, name: str) -> AnswerGate:
        return self._gates.setdefault(name, AnswerGate())

    async def play(
        self, connection: ClientConnection, steps: Steps, on_start: Callable[[], None] | None = None
    ) -> bool:
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
                    await connection.wait(self.gate(step.gate).passed())
                case HangUp():
                    await self._hang_up(connection, step)
                    return False
        await connection.finish()
        return True

    async def _hang_up(self, connection: ClientConnection, step: HangUp) -> None:
        match step.how:
            case "rst":
                await connection.reset()
            case "stall":
                await connection.gone()
                raise ClientLeftError
            case "eof":
                await connection.close()

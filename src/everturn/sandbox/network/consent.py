"""Asks the person about unknown hosts while the connection waits: once for each host of a command."""

import asyncio

from everturn.ports.abort import AbortedError
from everturn.ports.policy import HOST_QUESTION
from everturn.ports.sandbox import render_target
from everturn.ports.tool import Access, Inquire, Inquiry
from everturn.sandbox.network.proxy import UNNAMED

_NOBODY_WAITS = f"{UNNAMED}, and there are no questions about a command in the background"
_ENDED = f"{UNNAMED}, and the question was ended"


class Consent:
    """Of one command. An answer, yes or no, holds until it ends: programs try again, and open several connections."""

    def __init__(self, inquire: Inquire, command: str) -> None:
        self._inquire = inquire
        self._command = command
        self._loop = asyncio.get_running_loop()
        self._asked: dict[str, asyncio.Task[str | None]] = {}
        self._open = 0
        self._since = 0.0
        self._past_s = 0.0
        self._stopped = False

    @property
    def asked_s(self) -> float:
        """How long there was a question, of several at once counted once."""
        return self._past_s + (self._loop.time() - self._since if self._open else 0.0)

    async def ask(self, host: str, port: int) -> str | None:
        """None for a yes; else why not. A client that gives up and comes again finds the same question."""
        target = render_target(host, port)
        if self._stopped and target not in self._asked:
            return _NOBODY_WAITS
        if target not in self._asked:
            self._asked[target] = self._loop.create_task(self._put(target, host, port))
        asked = self._asked[target]
        await asyncio.wait({asked})
        return _NOBODY_WAITS if asked.cancelled() else asked.result()

    def stop(self) -> None:
        """Ends the questions that are open. What was answered stays answered."""
        self._stopped = True
        for asked in self._asked.values():
            asked.cancel()

    async def _put(self, target: str, host: str, port: int) -> str | None:
        self._begin()
        try:
            return await self._inquire(
                Inquiry(
                    name=HOST_QUESTION,
                    input={"host": host, "port": port, "command": self._command},
                    line=f"a connection to {target}",
                    reason=UNNAMED,
                    access=Access.NETWORK,
                )
            )
        except AbortedError:
            return _ENDED
        except Exception as error:  # noqa: BLE001 - an approver may be anybody's, and no answer is no
            return f"{UNNAMED}, and nobody could be asked ({type(error).__name__})"
        finally:
            self._end()

    def _begin(self) -> None:
        if not self._open:
            self._since = self._loop.time()
        self._open += 1

    def _end(self) -> None:
        self._open -= 1
        if not self._open:
            self._past_s += self._loop.time() - self._since

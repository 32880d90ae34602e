"""The server: listens, finds the case of each request, notes what came and has the answer played."""

import asyncio
import contextlib
import hashlib
import os
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import unquote

import h11

from everturn.modelserver.answers import Fail
from everturn.modelserver.case import Case, CaseMemory, CaseResponse
from everturn.modelserver.compose import derive_id
from everturn.modelserver.connection import ClientConnection, ClientLeftError, Incoming
from everturn.modelserver.delivery import plan_fail, plan_unsendable
from everturn.modelserver.log import LogFile, Received, without_credentials
from everturn.modelserver.prompt_cache import PromptCache
from everturn.modelserver.rules.envelope import MAX_BYTES, MESSAGES
from everturn.modelserver.scripts import Reply, Script, When, script
from everturn.modelserver.signatures import IssuedThinking
from everturn.modelserver.stage import StepPlayer
from everturn.modelserver.threads import Threads

Playable = Script | Sequence[Reply | str | When]
"""A script, or just its answers in a list."""

_PATIENCE = 60.0
"""Seconds. Whoever asks may be a program that a busy machine has yet to start."""


class ModelServer:
    """`async with ModelServer([text("Hello")]) as server:` serves at `server.url` until the block ends.

    `cases` are scripts under path prefixes, `server.url_of(name)` each; they share nothing but the address.
    """

    def __init__(
        self,
        played: Playable | None = None,
        *,
        cases: Mapping[str, Playable] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        time_scale: float = 1.0,
        tls: ssl.SSLContext | None = None,
        log: Path | None = None,
        remember: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`time_scale` multiplies every scripted pause; `clock` is what the prompt cache ages by.

        A server that runs for days does not `remember` its requests: `requests` stays empty.
        """
        self.requests: list[Received] = []
        self.handed = IssuedThinking()
        """The thinking that was given out; `check_request` asks for it when signatures were scripted."""
        self.hangups = 0
        """Clients that left in the middle of an answer."""
        self._host, self._port, self._tls = host, port, tls
        self._clock = clock
        self._started = clock()
        self._stage = StepPlayer(time_scale)
        self._log_path = log
        self._remember = remember
        self._count = 0
        self._log: LogFile | None = None
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Server | None = None
        self._closing = False
        self._memories: dict[str, CaseMemory] = {}
        self._cases: dict[str, Case] = {}
        for name, playable in {**({} if played is None else {"": played}), **(cases or {})}.items():
            self.play(playable, case=name)

    def play(self, played: Playable, *, case: str = "") -> None:
        """Put a script on, from its beginning, in place of the one that was there. The prompt cache and the threads stay."""
        put_on = played if isinstance(played, Script) else script(*played)
        memory = self._memories.setdefault(case, CaseMemory(PromptCache(), Threads(self._clock)))
        self._cases[case] = Case(put_on, self.handed, memory, self._clock)

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://{self._host}:{self._port}"

    def url_of(self, case: str) -> str:
        """The base URL of one case."""
        return f"{self.url}/{case}" if case else self.url

    def asked(self, case: str | None = None) -> list[Received]:
        """The requests for messages (not those that count tokens or list models), of one case or of all."""
        return [one for one in self.requests if one.path == MESSAGES and case in {None, one.case}]

    async def wait_for(self, count: int, *, case: str | None = None, patience: float = _PATIENCE) -> list[Received]:
        """Return when so many requests for messages have come; raises TimeoutError when they do not."""
        await self._wait_until(lambda: len(self.asked(case)) >= count, patience)
        return self.asked(case)

    async def wait_for_hangups(self, count: int = 1, *, patience: float = _PATIENCE) -> None:
        """Return when so many clients have left in the middle of an answer."""
        await self._wait_until(lambda: self.hangups >= count, patience)

    def release(self, gate: str = "go", *, pieces: int | None = None) -> None:
        """Open the gate at which a `hold(…)` waits, for good; with `pieces`, let only so many pieces of content through."""
        held = self._stage.gate(gate)
        if pieces is None:
            held.open()
        else:
            held.let_through(pieces)

    async def __aenter__(self) -> Self:
        self._log = LogFile(self._log_path) if self._log_path else None
        try:
            self._listener = await asyncio.start_server(self._accept, self._host, self._port, ssl=self._tls)
        except (OSError, OverflowError) as error:
            raise OSError(f"cannot listen on {self._host}:{self._port}: {_reason_of(error)}") from error
        self._port = self._listener.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing = True
        if self._listener:
            self._listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._listener:
            await self._listener.wait_closed()
        if self._log:
            self._log.close()

    async def _wait_until(self, holds: Callable[[], bool], patience: float) -> None:
        async with asyncio.timeout(patience), self._changed:
            await self._changed.wait_for(holds)

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._closing:
            writer.transport.abort()
            return
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Cancelled before its first step, a task does not run its own `finally`; closing would wait for this client.
        task.add_done_callback(lambda _: writer.transport.abort())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = ClientConnection(reader, writer)
        try:
            await self._converse(connection)
        except ClientLeftError:
            self.hangups += 1
            await self._tell()
        finally:
            connection.abort()

    async def _converse(self, connection: ClientConnection) -> None:
        with contextlib.suppress(h11.RemoteProtocolError, ConnectionError):
            while incoming := await connection.next_request(MAX_BYTES + 1):
                response = await self._receive(incoming)
                if not await self._play(connection, response):
                    return
        await connection.close()

    async def _play(self, connection: ClientConnection, response: CaseResponse) -> bool:
        try:
            return await self._stage.play(connection, response.steps, response.on_start)
        except h11.LocalProtocolError as error:
            return await self._stage.play(connection, plan_unsendable(str(error)))

    async def _receive(self, incoming: Incoming) -> CaseResponse:
        case, path = self._route(incoming.target)
        self._count += 1
        seed = f"{case} {self._count} {hashlib.sha256(incoming.body).hexdigest()}"
        found = self._cases.get(case)
        response = found.respond(incoming, path, seed) if found else _no_case(case, seed)
        received = Received(
            number=self._count,
            at=self._clock() - self._started,
            case=case,
            method=incoming.method,
            path=path,
            headers=without_credentials(incoming.headers),
            raw=incoming.body,
            body=response.body,
            refused=response.refused,
            lints=response.lints,
        )
        if self._remember:
            self.requests.append(received)
        if self._log:
            self._log.append(received)
        await self._tell()
        return response

    def _route(self, target: str) -> tuple[str, str]:
        """The case and the path within it."""
        path = target.partition("?")[0]
        first, _, rest = path.lstrip("/").partition("/")
        name = unquote(first)
        return (name, f"/{rest}") if name in self._cases or "" not in self._cases else ("", path)


def _reason_of(error: OSError | OverflowError) -> str:
    """In the words of the system: asyncio's own repeat the address."""
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno) if error.errno > 0 else str(error.strerror)
    return str(error)


def _no_case(name: str, seed: str) -> CaseResponse:
    fail = Fail(
        status=404,
        type="not_found_error",
        message=f"There is no case {name!r} here: the base URL ends in the id of a case.",
    )
    return CaseResponse(plan_fail(fail, request_id=derive_id("req", seed), rule="path-known"), refused="path-known")

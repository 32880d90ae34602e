"""The link to a server of this process: messages are handed over as Python values, each in a task of its own."""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from everturn.mcp.faults import ProtocolFault, RequestRefused
from everturn.mcp.json_rpc import Outgoing, RpcNotification, RpcRequest
from everturn.mcp.link import Receiver
from everturn.mcp.protocol import INTERNAL_ERROR
from everturn.mcp.servers import InProcessServer


class InProcessLink:
    """`link.Link`."""

    def __init__(self, server: InProcessServer) -> None:
        self._server = server
        self._receiver: Receiver
        self._asked: dict[int, asyncio.Task[None]] = {}
        self._told: set[asyncio.Task[None]] = set()

    async def open(self, receiver: Receiver) -> None:
        self._receiver = receiver

    def send(self, message: Outgoing, headers: Mapping[str, str] | None = None) -> None:
        del headers
        request_id = message.id if isinstance(message, RpcRequest) else None
        task = asyncio.get_running_loop().create_task(self._hand_over(msgspec.to_builtins(message), request_id))
        if request_id is None:
            self._told.add(task)
            task.add_done_callback(self._told.discard)
        else:
            self._asked[request_id] = task
            task.add_done_callback(lambda _: self._asked.pop(request_id, None))

    def settle(self, version: str) -> None:
        del version

    def abandon(self, request_id: int, reason: str) -> None:
        params = {"requestId": request_id, "reason": reason}
        self.send(RpcNotification(jsonrpc="2.0", method="notifications/cancelled", params=params))
        if (task := self._asked.get(request_id)) is not None:
            task.cancel()

    def describe(self) -> str:
        return ""

    async def aclose(self) -> None:
        tasks = [*self._asked.values(), *self._told]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _hand_over(self, message: dict[str, Any], request_id: int | None) -> None:
        name = self._server.name
        try:
            answer = await self._server.server.answer(message)
        except Exception as error:  # noqa: BLE001 (code of others may raise anything)
            if request_id is not None:
                said = str(error) or type(error).__name__
                text = f'The MCP server "{name}" failed: {said}'
                self._receiver.fail(request_id, RequestRefused(name, text, code=INTERNAL_ERROR))
            return
        if answer is not None:
            try:
                data = msgspec.json.encode(answer)
            except (TypeError, ValueError, RecursionError) as error:
                data = b""
                fault = ProtocolFault(name, f'The MCP server "{name}" gave an answer that is no JSON: {error}.')
                self._receiver.fail(request_id, fault)
            if data:
                self._receiver.take(data)
        elif request_id is not None:
            self._receiver.fail(request_id, ProtocolFault(name, f'The MCP server "{name}" gave no answer.'))

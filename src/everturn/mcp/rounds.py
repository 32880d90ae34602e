"""A request of the stateless era that needs answers first: the same request again, with what the server asked for."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from everturn.mcp.faults import ProtocolFault, RequestRefused
from everturn.mcp.questions import Questions, RefusedError
from everturn.ports.clock import Clock

MAX_ROUNDS = 10
"""So often one request may be sent."""
_FIRST_PAUSE_S = 0.05
_MAX_PAUSE_S = 1.0
_COMPLETE = "complete"
_INPUT_REQUIRED = "input_required"


class _Asked(msgspec.Struct, frozen=True):
    method: str
    params: msgspec.Raw = msgspec.Raw(b"{}")


class _Result(msgspec.Struct, frozen=True, rename="camel"):
    result_type: str = _COMPLETE
    input_requests: dict[str, _Asked] | None = None
    request_state: str | None = None


_RESULT = msgspec.json.Decoder(_Result)
Send = Callable[[dict[str, Any]], Awaitable[bytes]]
"""Sends the request with these parameters; gives the result."""


class Rounds:
    """Those of one request."""

    def __init__(self, server: str, questions: Questions, clock: Clock) -> None:
        self._server = server
        self._questions = questions
        self._clock = clock

    async def run(self, method: str, params: dict[str, Any], send: Send) -> bytes:
        """The result. Raises `McpFault`."""
        asked = params
        pause_s = _FIRST_PAUSE_S
        for _ in range(MAX_ROUNDS):
            raw = await send(asked)
            try:
                result = _RESULT.decode(raw)
            except (msgspec.DecodeError, RecursionError) as error:
                text = f'The MCP server "{self._server}" answered {method} with something that cannot be read: {error}.'
                raise ProtocolFault(self._server, text) from None
            if result.result_type == _COMPLETE:
                return raw
            if result.result_type != _INPUT_REQUIRED:
                kind = result.result_type[:40]
                text = f'The MCP server "{self._server}" answered {method} with a result of the kind {kind!r}, which Everturn does not know.'
                raise ProtocolFault(self._server, text)
            asked = dict(params)
            if result.request_state is not None:
                asked["requestState"] = result.request_state
            if result.input_requests:
                asked["inputResponses"] = await self._answer(method, result.input_requests)
            else:
                # It only wants to be asked again.
                await self._clock.sleep(pause_s)
                pause_s = min(pause_s * 2, _MAX_PAUSE_S)
        text = f'The MCP server "{self._server}" asked for more and more before it would answer {method}.'
        raise ProtocolFault(self._server, text)

    async def _answer(self, method: str, requests: dict[str, _Asked]) -> dict[str, Any]:
        """One after the other: a person answers one question at a time."""
        answers: dict[str, Any] = {}
        for key, request in requests.items():
            try:
                answers[key] = await self._questions.answer(request.method, bytes(request.params))
            except RefusedError as refused:
                text = f'The MCP server "{self._server}" wants {request.method} answered before {method}: {refused}'
                raise RequestRefused(self._server, text, code=refused.code) from None
        return answers

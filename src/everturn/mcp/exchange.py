"""Requests and their answers over one link: who waits for what, progress, questions of the server, and giving up."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from everturn.mcp.faults import McpFault, ProtocolFault, RequestRefused, ServerTimeout, ToolUnknown
from everturn.mcp.json_rpc import (
    RpcError,
    RpcMessage,
    RpcNotification,
    RpcReply,
    RpcRequest,
    UnreadableError,
    decode_messages,
    find_id,
)
from everturn.mcp.link import Link
from everturn.mcp.protocol import ELICITATION, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND
from everturn.mcp.questions import RefusedError

MAX_QUESTIONS = 32
"""So many questions of one server are open at the same time; more are refused."""
_SAID = 2_000
"""Characters of a server's error that are kept."""


class Progress(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How far a call has come; the unit is the server's."""

    progress: float
    total: float | None = None
    message: str | None = None


OnProgress = Callable[[Progress], object]


class _ProgressParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    progress_token: int | str
    progress: float
    total: float | None = None
    message: str | None = None


class _CancelledParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    request_id: int | str | None = None


OnRequest = Callable[[str, bytes], Awaitable[dict[str, Any]]]
"""Answers a question of the server: its method and its parameters. Raises `RefusedError`."""
OnNotification = Callable[[str, bytes], object]
OnLost = Callable[[McpFault], object]


class _Waiting:
    __slots__ = ("answer", "left_s", "limit", "method", "on_progress")

    def __init__(self, method: str, answer: "asyncio.Future[bytes]", on_progress: OnProgress | None) -> None:
        self.method = method
        self.answer = answer
        self.on_progress = on_progress
        self.limit: asyncio.Timeout | None = None
        self.left_s: float | None = None
        """What is left of its time while that does not run."""


class Exchange:
    """`link.Receiver`. One for each connection; after it was lost, every request fails at once."""

    def __init__(
        self, server: str, link: Link, *, on_request: OnRequest, on_notification: OnNotification, on_lost: OnLost
    ) -> None:
        self._server = server
        self._link = link
        self._on_request = on_request
        self._on_notification = on_notification
        self._on_lost = on_lost
        self._waiting: dict[int, _Waiting] = {}
        self._last_id = 0
        self._questions: dict[int | str, asyncio.Task[None]] = {}
        self._thinking: set[int | str] = set()
        """Questions that a person is asked."""
        self.lost: McpFault | None = None
        self.passed_over = 0
        """Messages that answered nothing, or that could not be read."""

    async def request(
        self,
        method: str,
        params: dict[str, Any] | None,
        *,
        timeout_s: float | None,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
        told: bool = True,
    ) -> bytes:
        """The result, as JSON. Raises `McpFault`. `told`: where it is given up, the server is told."""
        if self.lost is not None:
            raise self.lost
        self._last_id += 1
        request_id = self._last_id
        waiting = _Waiting(method, asyncio.get_running_loop().create_future(), on_progress)
        self._waiting[request_id] = waiting
        if on_progress is not None:
            params = {**(params or {}), "_meta": {**((params or {}).get("_meta") or {}), "progressToken": request_id}}
        try:
            self._link.send(RpcRequest(jsonrpc="2.0", id=request_id, method=method, params=params), headers)
            async with asyncio.timeout(timeout_s) as limit:
                waiting.limit = limit
                return await waiting.answer
        except TimeoutError:
            if told:
                self._link.abandon(request_id, "it took too long")
            text = f'The MCP server "{self._server}" did not answer {method} within {timeout_s:g} s.'
            raise ServerTimeout(self._server, text) from None
        except asyncio.CancelledError:
            if told:
                self._link.abandon(request_id, "the person or the program has interrupted it")
            raise
        finally:
            del self._waiting[request_id]

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        if self.lost is None:
            self._link.send(RpcNotification(jsonrpc="2.0", method=method, params=params))

    async def aclose(self) -> None:
        """Questions that are open are withdrawn."""
        open_questions = list(self._questions.values())
        for task in open_questions:
            task.cancel()
        if open_questions:
            await asyncio.wait(open_questions)

    def take(self, data: bytes) -> None:
        try:
            messages = decode_messages(data)
        except UnreadableError:
            self.passed_over += 1
            fault = ProtocolFault(
                self._server, f'The MCP server "{self._server}" sent an answer that is no valid JSON-RPC message.'
            )
            request_id = find_id(data, data)
            if request_id is not None:
                self.fail(request_id, fault)
            return
        for message in messages:
            self._take(message)

    def fail(self, request_id: int | None, fault: McpFault) -> None:
        if request_id is None:
            for waiting in list(self._waiting.values()):
                _settle(waiting, fault)
        elif (found := self._waiting.get(request_id)) is not None:
            _settle(found, fault)

    def waits_for(self, request_id: int) -> bool:
        waiting = self._waiting.get(request_id)
        return waiting is not None and not waiting.answer.done()

    def lose(self, fault: McpFault) -> None:
        if self.lost is None:
            self.lost = fault
            self.fail(None, fault)
            self._on_lost(fault)

    def _take(self, message: RpcMessage) -> None:
        if message.method is None:
            self._take_answer(message)
        elif message.id is None:
            self._take_notification(message.method, bytes(message.params))
        else:
            self._take_question(message.id, message.method, bytes(message.params))

    def _take_answer(self, message: RpcMessage) -> None:
        waiting = self._waiting.get(message.id) if isinstance(message.id, int) else None
        if waiting is None or waiting.answer.done():
            # It answers twice, or nobody, or somebody who has given up.
            self.passed_over += 1
        elif message.error is not None:
            _settle(waiting, self._explain_refusal(waiting.method, message.error))
        elif not (result := bytes(message.result)):
            text = f'The MCP server "{self._server}" answered {waiting.method} with neither a result nor an error.'
            _settle(waiting, ProtocolFault(self._server, text))
        else:
            waiting.answer.set_result(result)

    def _take_notification(self, method: str, params: bytes) -> None:
        if method == "notifications/progress":
            self._take_progress(params)
        elif method == "notifications/cancelled":
            with suppress(msgspec.DecodeError):
                withdrawn = msgspec.json.decode(params, type=_CancelledParams).request_id
                if withdrawn is not None and (task := self._questions.get(withdrawn)) is not None:
                    task.cancel()
        else:
            self._on_notification(method, params)

    def _take_progress(self, params: bytes) -> None:
        with suppress(msgspec.DecodeError):
            found = msgspec.json.decode(params, type=_ProgressParams)
            waiting = self._waiting.get(found.progress_token) if isinstance(found.progress_token, int) else None
            if waiting is not None and waiting.on_progress is not None:
                waiting.on_progress(Progress(progress=found.progress, total=found.total, message=found.message))

    def _take_question(self, question_id: int | str, method: str, params: bytes) -> None:
        if question_id in self._questions or len(self._questions) >= MAX_QUESTIONS:
            self._refuse(question_id, INTERNAL_ERROR, "Too many requests of this server are open.")
            return
        task = asyncio.get_running_loop().create_task(self._answer(question_id, method, params))
        self._questions[question_id] = task
        if method == ELICITATION:
            self._pause(question_id)
        task.add_done_callback(lambda _: self._forget(question_id))

    async def _answer(self, question_id: int | str, method: str, params: bytes) -> None:
        try:
            result = await self._on_request(method, params)
        except RefusedError as refused:
            self._refuse(question_id, refused.code, str(refused))
        except Exception:  # noqa: BLE001 (who is asked is code of others: the server is told that there is no answer)
            self._refuse(question_id, INTERNAL_ERROR, f"{method} could not be answered.")
        else:
            self._link.send(RpcReply(jsonrpc="2.0", id=question_id, result=result))

    def _refuse(self, question_id: int | str, code: int, text: str) -> None:
        self._link.send(RpcReply(jsonrpc="2.0", id=question_id, error={"code": code, "message": text}))

    def _forget(self, question_id: int | str) -> None:
        del self._questions[question_id]
        self._thinking.discard(question_id)
        if not self._thinking:
            self._resume()

    def _pause(self, question_id: int | str) -> None:
        """While a person thinks about a server's question, no request of ours can be late."""
        self._thinking.add(question_id)
        now = asyncio.get_running_loop().time()
        for waiting in self._waiting.values():
            limit = waiting.limit
            if limit is not None and not limit.expired() and (due := limit.when()) is not None:
                waiting.left_s = due - now
                limit.reschedule(None)

    def _resume(self) -> None:
        now = asyncio.get_running_loop().time()
        for waiting in self._waiting.values():
            if waiting.limit is not None and waiting.left_s is not None:
                waiting.limit.reschedule(now + waiting.left_s)
                waiting.left_s = None

    def _explain_refusal(self, method: str, error: RpcError) -> McpFault:
        said = error.message[:_SAID] or f"error {error.code}"
        text = f'The MCP server "{self._server}" refused {method}: {said}'
        unknown = method == "tools/call" and (
            error.code == METHOD_NOT_FOUND or (error.code == INVALID_PARAMS and "unknown tool" in said.lower())
        )
        kind = ToolUnknown if unknown else RequestRefused
        return kind(self._server, text, code=error.code, data=error.data)


def _settle(waiting: _Waiting, fault: McpFault) -> None:
    if not waiting.answer.done():
        waiting.answer.set_exception(fault)

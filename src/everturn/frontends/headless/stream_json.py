"""Events as JSON lines that the clients of this format know, and a few kinds of our own, such as `transition` and `tombstone`."""

from collections.abc import Callable
from typing import Any

import msgspec

from everturn.core import events as ev
from everturn.core.errors import FaultKind
from everturn.core.messages import Answer, Block, Kind, Message, ToolResult, derive_id, text_block
from everturn.frontends.commands import Cleared, Said
from everturn.frontends.headless.answer_parts import AnswerParts, Part
from everturn.frontends.headless.json_result import CardOf, render_result, render_usage
from everturn.frontends.headless.lines import encode_shown
from everturn.frontends.headless.partial import Partial
from everturn.frontends.headless.view import Introduction

FORMAT_LEVEL = "2.1.300"
"""The level of the public message format that we follow; clients compare it with what they need."""
SYNTHETIC = "<synthetic>"
"""The model of an answer that no model gave."""
Line = dict[str, Any]

_ERRORS: dict[str, str] = {
    FaultKind.OVERLOADED: "overloaded",
    FaultKind.RATE_LIMITED: "rate_limit",
    FaultKind.SERVER: "server_error",
    FaultKind.TIMEOUT: "server_error",
    FaultKind.CONFLICT: "server_error",
    FaultKind.CONNECTION: "server_error",
    FaultKind.STREAM_BROKEN: "server_error",
    FaultKind.STALLED: "server_error",
    FaultKind.TOO_LONG: "invalid_request",
    FaultKind.MEDIA: "invalid_request",
    FaultKind.SIGNATURE: "invalid_request",
    FaultKind.PAIRING: "invalid_request",
    FaultKind.INVALID: "invalid_request",
    FaultKind.MODEL_NOT_FOUND: "model_not_found",
    FaultKind.AUTHENTICATION: "authentication_failed",
    FaultKind.PERMISSION: "authentication_failed",
    FaultKind.BILLING: "billing_error",
    FaultKind.SPEND_LIMIT: "billing_error",
    "max_output_tokens": "max_output_tokens",
}
"""From kinds of problems to the names that clients know; any other is `unknown`."""


class StreamJson:
    """`render_event` does no I/O: it remembers what later lines need (what of an answer was told, names of calls)."""

    def __init__(
        self,
        *,
        session_id: str,
        new_id: Callable[[], str],
        elapsed: Callable[[], float],
        card_of: CardOf,
        partial: bool = False,
        replay_prompts: bool = False,
    ) -> None:
        self._session_id = session_id
        self._new_id = new_id
        self._elapsed = elapsed
        self._card_of = card_of
        self._replay_prompts = replay_prompts
        self._partial = Partial()
        self._parts = AnswerParts()
        self._results_told: set[str] = set()
        """Calls whose results were told when they ended; the message that carries them follows."""
        self._running: dict[str, tuple[str, float]] = {}
        self._status: int | None = None
        shows: dict[type, Callable[[Any], list[Line]]] = {
            ev.RequestStarted: self._request,
            ev.MessageBegan: self._message_began,
            ev.BlockBegan: self._block_began,
            ev.BlockFinished: self._block_finished,
            ev.AnswerAdded: self._answer,
            ev.UserAdded: self._user,
            ev.Continued: self._transition,
            ev.Retracted: self._tombstone,
            ev.RetryScheduled: self._retry,
            ev.ModelSwitched: self._switch,
            ev.ContextChanged: self._context,
            ev.CacheMissed: self._cache_break,
            ev.CompactionBegan: self._compaction_began,
            ev.CompactionEnded: self._compaction_ended,
            ev.CallBegan: self._call_began,
            ev.CallProgressed: self._call_progressed,
            ev.CallEnded: self._call_ended,
            ev.CallDenied: self._denied,
            ev.ModeSwitched: self._mode,
            ev.ToolsSummarised: self._summary,
            ev.StopPhaseProgressed: self._stop_phase,
            ev.Noticed: self._notice,
            ev.Attached: self._attachment,
            ev.TaskBegan: self._task_began,
            ev.TaskEnded: self._task_ended,
            ev.CommandNoted: self._command,
            ev.WorkCompleted: self._work,
            ev.ErrorReleased: self._error,
            ev.ResultEvent: self._result,
            Said: self._said,
            Cleared: self._cleared,
        }
        if partial:
            shows |= {
                ev.MessageBegan: self._partial_began,
                ev.BlockBegan: self._partial_block_began,
                ev.TextDelta: self._text,
                ev.ThinkingDelta: self._thinking,
                ev.InputDelta: self._input,
                ev.BlockFinished: self._partial_block_finished,
                ev.AnswerAdded: self._partial_answer,
            }
        self.shows = shows
        """By the kind of event; a kind that is missing is never rendered."""

    def render_event(self, event: Any) -> list[Line]:
        render = self.shows.get(type(event))
        return render(event) if render else []

    def render_init(
        self, introduction: Introduction, *, model: str, permission_mode: str, commands: tuple[str, ...]
    ) -> Line:
        return self._system(
            "init",
            cwd=introduction.folder,
            tools=introduction.tools,
            mcp_servers=introduction.mcp_servers,
            model=model,
            permissionMode=permission_mode,
            slash_commands=commands,
            apiKeySource=introduction.api_key_source,
            claude_code_version=FORMAT_LEVEL,
            everturn_version=introduction.version,
            output_style=introduction.output_style,
            agents=introduction.agents,
            skills=introduction.skills,
            plugins=introduction.plugins,
            betas=introduction.betas,
        )

    def _line(self, type_: str, *, uuid: str | None = None, **fields: Any) -> Line:
        return {"type": type_, **fields, "session_id": self._session_id, "uuid": uuid or self._new_id()}

    def _system(self, subtype: str, **fields: Any) -> Line:
        return self._line("system", subtype=subtype, **fields)

    def _request(self, event: ev.RequestStarted) -> list[Line]:
        return [self._system("request_start", turn=event.turn, model=event.model)]

    def _message_began(self, event: ev.MessageBegan) -> list[Line]:
        self._parts.begin(event)
        return []

    def _block_began(self, event: ev.BlockBegan) -> list[Line]:
        self._parts.enter(event.message_id)
        return self.release()

    def _block_finished(self, event: ev.BlockFinished) -> list[Line]:
        self._parts.enter(event.message_id)
        lines = self.release()
        self._parts.hold(event.block)
        return lines

    def release(self) -> list[Line]:
        """The block that is held back because the answer may end with it."""
        part = self._parts.release()
        began = self._parts.began
        known = Answer(api_id=began.api_id, model=began.model, usage=began.usage)
        return [] if part is None else [self._assistant(part, began.message_id, known)]

    def _answer(self, event: ev.AnswerAdded) -> list[Line]:
        """A line for each block that was not told yet; the last one has the stop reason and the whole usage."""
        message = event.message
        answer = message.answer or Answer()
        self._parts.enter(message.id)
        began = self._parts.began
        taken_back, parts = self._parts.end(message)
        known = msgspec.structs.replace(answer, stop_reason=None, usage=began.usage)
        lines = [self._assistant(part, message.id, answer if part.is_last else known) for part in parts]
        if answer.incomplete and lines:
            lines[-1]["aborted"] = True
        if taken_back:
            lines.insert(0, self._take_back(message.id, "repair", taken_back))
        return lines

    def _assistant(self, part: Part, message_id: str, answer: Answer) -> Line:
        message = {
            "id": answer.api_id or message_id,
            "type": "message",
            "role": "assistant",
            "model": answer.model or answer.asked,
            "content": [msgspec.Raw(part.block.raw)],
            "stop_reason": answer.stop_reason,
            "stop_sequence": None,
            "usage": render_usage(answer.usage),
        }
        return self._line("assistant", uuid=part.uuid, message=message, parent_tool_use_id=None)

    def _user(self, event: ev.UserAdded) -> list[Line]:
        """One line for each tool result, so that each has its shown half beside it."""
        message = event.message
        match message.kind:
            case Kind.PROMPT if not self._replay_prompts:
                return []
            case Kind.PROMPT:
                return [self._user_line(message.id, message.blocks) | {"isReplay": True}]
            case Kind.RESULTS:
                return self._results(message)
            case _:
                return [self._user_line(message.id, message.blocks) | {"isSynthetic": True}]

    def _results(self, message: Message) -> list[Line]:
        """Only those that were not told when their calls ended, such as of calls that an earlier program left open."""
        told, self._results_told = self._results_told, set()
        return [
            self._user_line(derive_id(message.id, place), (block,))
            for place, block in enumerate(message.blocks)
            if not (isinstance(block.view, ToolResult) and block.view.tool_use_id in told)
        ]

    def _user_line(self, uuid: str, blocks: tuple[Block, ...]) -> Line:
        message = {"role": "user", "content": [msgspec.Raw(block.raw) for block in blocks]}
        return self._line("user", uuid=uuid, message=message, parent_tool_use_id=None)

    def _transition(self, event: ev.Continued) -> list[Line]:
        return [self._system("transition", transition=event.transition, turn=event.turn)]

    def _tombstone(self, event: ev.Retracted) -> list[Line]:
        return [self._take_back(event.message_id, event.cause, self._parts.retract())]

    def _take_back(self, message_id: str, cause: str, uuids: list[str]) -> Line:
        """`message_id` as the lines of the message have it."""
        began = self._parts.began
        known = (began.api_id if began.message_id == message_id else "") or message_id
        return self._system("tombstone", message_id=known, uuids=uuids, cause=cause)

    def _retry(self, event: ev.RetryScheduled) -> list[Line]:
        line = self._system(
            "api_retry",
            attempt=event.attempt,
            max_retries=event.max_tries - 1,
            retry_delay_ms=round(event.delay_s * 1000),
            error_status=event.status,
            error=_ERRORS.get(event.error, "unknown"),
            message=event.text,
        )
        return [line]

    def _switch(self, event: ev.ModelSwitched) -> list[Line]:
        return self._informational(f"Switched from {event.before} to {event.model}: {event.cause}", "notice")

    def _context(self, event: ev.ContextChanged) -> list[Line]:
        if event.stage == "compact":
            trigger = "manual" if event.cause == "manual" else "auto"
            metadata = {"trigger": trigger, "pre_tokens": event.tokens_before, "post_tokens": event.tokens_after}
            return [self._system("compact_boundary", compact_metadata=metadata)]
        line = self._system(
            "context",
            stage=event.stage,
            cause=event.cause,
            tokens_before=event.tokens_before,
            tokens_after=event.tokens_after,
        )
        return [line]

    def _cache_break(self, event: ev.CacheMissed) -> list[Line]:
        line = self._system(
            "cache_break",
            segment=event.segment,
            cause=event.cause,
            kept_messages=event.kept,
            tokens=event.tokens,
            cost_usd=event.usd,
            turn=event.turn,
        )
        return [line]

    def _compaction_began(self, _event: ev.CompactionBegan) -> list[Line]:
        return [self._system("status", status="compacting")]

    def _compaction_ended(self, _event: ev.CompactionEnded) -> list[Line]:
        return [self._system("status", status=None)]

    def _call_began(self, event: ev.CallBegan) -> list[Line]:
        self._running[event.tool_use_id] = event.name, self._elapsed()
        return [*self.release(), *self._progress(event.tool_use_id, description=event.line)]

    def _call_progressed(self, event: ev.CallProgressed) -> list[Line]:
        return self._progress(event.tool_use_id, output=event.text)

    def _call_ended(self, event: ev.CallEnded) -> list[Line]:
        self._running.pop(event.tool_use_id, None)
        if event.block is None:
            return []
        uuid = derive_id(event.message_id, event.index)
        self._results_told.add(event.tool_use_id)
        self._parts.note_result(uuid)
        return [*self.release(), self._user_line(uuid, (event.block,)) | _render_ended(event)]

    def _progress(self, tool_use_id: str, **fields: Any) -> list[Line]:
        now = self._elapsed()
        name, began_s = self._running.get(tool_use_id, ("", now))
        line = self._line(
            "tool_progress",
            tool_use_id=tool_use_id,
            tool_name=name,
            parent_tool_use_id=None,
            elapsed_time_seconds=round(now - began_s, 3),
            **fields,
        )
        return [line]

    def _denied(self, event: ev.CallDenied) -> list[Line]:
        line = self._system(
            "permission_denied",
            tool_name=event.name,
            tool_use_id=event.tool_use_id,
            **({"decision_reason_type": event.by} if event.by else {}),
            decision_reason=event.reason,
            message=f"{event.line or event.name} was not allowed: {event.reason}",
        )
        return [*self.release(), line]

    def _mode(self, event: ev.ModeSwitched) -> list[Line]:
        return [self._system("status", status=None, permissionMode=event.mode)]

    def _summary(self, event: ev.ToolsSummarised) -> list[Line]:
        return [self._line("tool_use_summary", summary=event.text, preceding_tool_use_ids=event.tool_use_ids)]

    def _stop_phase(self, event: ev.StopPhaseProgressed) -> list[Line]:
        return self._informational(f"{event.step}: {event.text}", "info")

    def _notice(self, event: ev.Noticed) -> list[Line]:
        return self._informational(event.text, event.level)

    def _informational(self, content: str, level: str) -> list[Line]:
        return [self._system("informational", content=content, level=level)]

    def _attachment(self, event: ev.Attached) -> list[Line]:
        if event.kind == "finished_task":
            return [self._system("task_notification", **event.detail)]
        return [self._system("attachment", kind=event.kind, detail=event.detail)]

    def _task_began(self, event: ev.TaskBegan) -> list[Line]:
        line = self._system(
            "task_started",
            task_id=event.task_id,
            tool_use_id=event.tool_use_id,
            description=event.description,
            task_type=event.kind,
            is_backgrounded=True,
        )
        return [line]

    def _task_ended(self, event: ev.TaskEnded) -> list[Line]:
        line = self._system(
            "task_notification",
            task_id=event.task_id,
            tool_use_id=event.tool_use_id,
            status=event.status,
            output_file=event.output_path,
            summary=event.summary,
        )
        return [line]

    def _command(self, event: ev.CommandNoted) -> list[Line]:
        return [self._system("command", command_id=event.command_id, state=event.state)]

    def _work(self, event: ev.WorkCompleted) -> list[Line]:
        line = self._system(
            "work_budget",
            continuations=event.continuations,
            percent=event.percent,
            diminishing=event.diminishing,
            duration_ms=round(event.duration_s * 1000),
        )
        return [line]

    def _error(self, event: ev.ErrorReleased) -> list[Line]:
        """An answer in the model's place; a limit of ours is no answer, the result alone names it."""
        problem = event.problem
        self._status = problem.status
        if not problem.by_api and problem.kind not in _ERRORS:
            return self._informational(problem.text, "warning")
        id_ = self._new_id()
        line = self._assistant(Part(id_, text_block(problem.text)), id_, Answer(model=SYNTHETIC))
        return [line | {"error": _ERRORS.get(problem.kind, "unknown")}]

    def _result(self, event: ev.ResultEvent) -> list[Line]:
        self._results_told.clear()
        self._running.clear()
        status, self._status = self._status, None
        return [render_result(event, uuid=self._new_id(), card_of=self._card_of, status=status)]

    def _said(self, said: Said) -> list[Line]:
        return [self._system("local_command_output", content=said.text)]

    def _cleared(self, cleared: Cleared) -> list[Line]:
        line = self._line("conversation_reset", new_conversation_id=cleared.after)
        self._session_id = cleared.after
        return [line]

    def _partial_began(self, event: ev.MessageBegan) -> list[Line]:
        self._partial.begin_message(event)
        return self._message_began(event)

    def _partial_block_began(self, event: ev.BlockBegan) -> list[Line]:
        return self._block_began(event) + self._stream(*self._partial.begin_block(event))

    def _text(self, event: ev.TextDelta) -> list[Line]:
        return self._stream(self._partial.add_text(event))

    def _thinking(self, event: ev.ThinkingDelta) -> list[Line]:
        return self._stream(self._partial.add_thinking(event))

    def _input(self, event: ev.InputDelta) -> list[Line]:
        return self._stream(*self._partial.add_input(event))

    def _partial_block_finished(self, event: ev.BlockFinished) -> list[Line]:
        return self._stream(*self._partial.finish_block(event)) + self._block_finished(event)

    def _partial_answer(self, event: ev.AnswerAdded) -> list[Line]:
        return self._stream(*self._partial.end_message(event)) + self._answer(event)

    def _stream(self, *events: dict[str, Any]) -> list[Line]:
        return [self._line("stream_event", event=event, parent_tool_use_id=None) for event in events]


def _render_ended(event: ev.CallEnded) -> Line:
    shown = {} if event.shown is None else {"tool_use_result": encode_shown(event.shown)}
    return shown | {"tool_use_line": event.line} if event.line else shown

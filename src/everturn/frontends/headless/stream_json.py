"""Events as JSON lines that the clients of this format know, and a few kinds of our own, such as `transition` and `tombstone`."""

from collections.abc import Callable
from functools import partial as bind
from typing import Any

import msgspec

from everturn.core import events as ev
from everturn.core.messages import Answer, Block, Kind, Message, ToolResult, derive_id, text_block
from everturn.frontends.commands import Cleared
from everturn.frontends.headless.answer_parts import AnswerPart, AnswerParts
from everturn.frontends.headless.json_result import CardOf, render_cause, render_result, render_usage
from everturn.frontends.headless.lines import encode_shown
from everturn.frontends.headless.partial import Partial
from everturn.frontends.headless.system_lines import SYSTEM_LINES, Told, is_error_of_api, name_error, tell
from everturn.frontends.headless.view import Introduction

FORMAT_LEVEL = "2.1.300"
"""The level of the public message format that we follow; clients compare it with what they need."""
SYNTHETIC = "<synthetic>"
"""The model of an answer that no model gave."""
Line = dict[str, Any]


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
            ev.MessageBegan: self._message_began,
            ev.BlockBegan: self._block_began,
            ev.BlockFinished: self._block_finished,
            ev.AnswerAdded: self._answer,
            ev.UserAdded: self._user,
            ev.Retracted: self._tombstone,
            ev.CallBegan: self._call_began,
            ev.CallProgressed: self._call_progressed,
            ev.CallEnded: self._call_ended,
            ev.CallDenied: self._denied,
            ev.ToolsSummarised: self._summary,
            ev.PromptSuggested: self._suggestion,
            ev.ErrorReleased: self._error,
            ev.ResultEvent: self._result,
            Cleared: self._cleared,
        }
        shows |= {kind: bind(self._tell, render) for kind, render in SYSTEM_LINES.items()}
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

    def _tell(self, render: Callable[[Any], Told], event: Any) -> list[Line]:
        subtype, fields = render(event)
        return [self._system(subtype, **fields)]

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

    def _assistant(self, part: AnswerPart, message_id: str, answer: Answer) -> Line:
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

    def _tombstone(self, event: ev.Retracted) -> list[Line]:
        return [self._take_back(event.message_id, event.cause, self._parts.retract())]

    def _take_back(self, message_id: str, cause: str, uuids: list[str]) -> Line:
        """`message_id` as the lines of the message have it."""
        began = self._parts.began
        known = (began.api_id if began.message_id == message_id else "") or message_id
        return self._system("tombstone", message_id=known, uuids=uuids, cause=cause)

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
            **render_cause(event.cause, unasked=event.unasked),
            decision_reason=event.reason,
            message=f"{event.line or event.name} was not allowed: {event.reason}",
        )
        return [*self.release(), line]

    def _summary(self, event: ev.ToolsSummarised) -> list[Line]:
        return [self._line("tool_use_summary", summary=event.text, preceding_tool_use_ids=event.tool_use_ids)]

    def _suggestion(self, event: ev.PromptSuggested) -> list[Line]:
        return [self._line("prompt_suggestion", suggestion=event.text)]

    def _error(self, event: ev.ErrorReleased) -> list[Line]:
        """An answer in the model's place; a limit of ours is no answer, the result alone names it."""
        problem = event.problem
        self._status = problem.status
        if not problem.by_api and not is_error_of_api(problem.kind):
            subtype, fields = tell(problem.text, "warning")
            return [self._system(subtype, **fields)]
        id_ = self._new_id()
        line = self._assistant(AnswerPart(id_, text_block(problem.text)), id_, Answer(model=SYNTHETIC))
        return [line | {"error": name_error(problem.kind)}]

    def _result(self, event: ev.ResultEvent) -> list[Line]:
        self._results_told.clear()
        self._running.clear()
        status, self._status = self._status, None
        return [render_result(event, uuid=self._new_id(), card_of=self._card_of, status=status)]

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

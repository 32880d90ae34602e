"""Text on a terminal: the answer as it streams, a line for each tool call, and what happened on the way in dim."""

import asyncio
from collections.abc import Callable

from everturn.core import events as ev
from everturn.core.masking import KeyMask, mask_keys
from everturn.core.messages import Text, Thinking
from everturn.core.notes import Todo, TodoStatus
from everturn.core.state import Transition
from everturn.frontends.ansi import DIM, RED, YELLOW
from everturn.frontends.commands import Said
from everturn.frontends.figures import render_count, render_duration, render_usage, render_usd
from everturn.frontends.flow import Flow, cut_line, width_of
from everturn.frontends.harmless import HarmlessText, make_harmless, make_line
from everturn.frontends.headless.advice import advise, advise_denials
from everturn.frontends.headless.call_lines import cut_call, render_failure
from everturn.frontends.headless.text import INTERRUPTED, answer_of, render_interruption
from everturn.frontends.headless.view import Handlers
from everturn.frontends.headless.waiting import Waiting
from everturn.frontends.markdown import Markdown, Piece
from everturn.frontends.screen import Screen

FRAME_S = 0.05
"""Deltas and the status line are painted at most this often, however many come."""
WIDEST = 100
"""Prose is read badly in longer lines."""


TODO_MARKS = {TodoStatus.PENDING: "☐", TodoStatus.IN_PROGRESS: "▸", TodoStatus.COMPLETED: "☑"}


class TerminalText:
    def __init__(
        self,
        screen: Screen,
        *,
        elapsed: Callable[[], float],
        asked_s: Callable[[], float] = lambda: 0.0,
        is_kept: Callable[[], bool] = lambda: True,
        only_managed: bool = False,
    ) -> None:
        """`asked_s`: how long a person was waited for until now; no time that is shown includes it. `is_kept`: the session is on disk, to be gone on with. `only_managed`: only an administrator writes allow rules."""
        self._screen = screen
        self._is_kept = is_kept
        self._only_managed = only_managed
        self._asked_s = asked_s
        self._waiting = Waiting(lambda: elapsed() - asked_s())
        self._asked_for = "working"
        self._markdown = Markdown(bare=not screen.style.colour)
        self._flow = self._new_flow()
        self._harmless = HarmlessText()
        self._mask = KeyMask()
        self._pending: list[str] = []
        self._fed = False
        self._speaking = False
        self._message_id = ""
        self._paragraph = self._paragraph_at_mark = ""
        self._denied: dict[str, str] = {}
        self._todos: tuple[Todo, ...] = ()
        self._error_said = False
        self._frame: asyncio.TimerHandle | None = None

    @property
    def handlers(self) -> Handlers:
        return {
            ev.RequestStarted: self._request,
            ev.BlockBegan: self._block_began,
            ev.TextDelta: self._text,
            ev.BlockFinished: self._block_finished,
            ev.AnswerAdded: self._answer,
            ev.Retracted: self._retracted,
            ev.RetryScheduled: self._retry,
            ev.ModelSwitched: self._switched,
            ev.Continued: self._continued,
            ev.CallBegan: self._call_began,
            ev.CallProgressed: self._call_progressed,
            ev.PermissionAsked: self._asked,
            ev.CallDenied: self._call_denied,
            ev.CallEnded: self._call_ended,
            ev.NotesChanged: self._notes,
            ev.ModeSwitched: self._mode,
            ev.ContextChanged: self._context,
            ev.CompactionBegan: self._compaction_began,
            ev.CompactionEnded: self._compaction_ended,
            ev.ToolsSummarised: self._summary,
            ev.StopPhaseProgressed: self._stop_phase,
            ev.Noticed: self._notice,
            ev.ErrorReleased: self._error,
            ev.ResultEvent: self._result,
            Said: self._said,
        }

    def begin(self) -> None:
        self._waiting.begin("starting")
        self._plan_frame()

    def close(self) -> None:
        if self._frame is not None:
            self._frame.cancel()
            self._frame = None
        self._end_text()
        self._screen.hide_status()
        self._screen.end_line()

    def _plan_frame(self) -> None:
        if self._frame is None:
            self._frame = asyncio.get_running_loop().call_later(FRAME_S, self._paint)

    def _paint(self) -> None:
        self._frame = None
        self._flush()
        if self._speaking:
            if rows := self._markdown.rows_held:
                self._screen.show_status(f"writing a table: {render_count(rows, 'row')}")
        elif status := self._waiting.render(self._screen.columns - 1):
            self._screen.show_status(status)
            self._plan_frame()

    def _request(self, event: ev.RequestStarted) -> None:
        self._asked_for = f"waiting for {make_line(event.model)}"
        self._waiting.begin(self._asked_for)
        self._plan_frame()

    def _block_began(self, event: ev.BlockBegan) -> None:
        self._end_text()
        if event.message_id != self._message_id:
            self._message_id = event.message_id
            self._paragraph_at_mark = self._paragraph
            self._screen.mark()
        match event.kind:
            case "text":
                self._speaking, self._fed = True, False
                self._flow = self._new_flow()
            case "thinking" | "redacted_thinking":
                self._waiting.begin("thinking")
            case _:
                self._waiting.begin(f"writing a call of {make_line(event.name)}" if event.name else "working")
        self._plan_frame()

    def _text(self, event: ev.TextDelta) -> None:
        self._pending.append(event.text)
        if self._frame is None:
            self._plan_frame()

    def _block_finished(self, event: ev.BlockFinished) -> None:
        match event.block.view:
            case Text(text=text) if not self._fed and not self._pending:
                self._pending.append(text)
                self._end_text()
            case Text():
                self._end_text()
            case Thinking(thinking=thinking) if thought := make_line(thinking):
                self._say(f"∴ {thought}", DIM)

    def _answer(self, _event: ev.AnswerAdded) -> None:
        self._end_text()
        self._screen.keep()
        self._message_id = ""

    def _retracted(self, event: ev.Retracted) -> None:
        """The calls of a response that is taken back end without a word."""
        self._waiting.forget_calls()
        if event.message_id != self._message_id:
            return
        self._message_id = ""
        self._end_text()
        if self._screen.take_back():
            self._paragraph = self._paragraph_at_mark
        else:
            self._say(f"↶ taken back ({event.cause}): the words above no longer count", YELLOW)
        self._screen.keep()

    def _retry(self, event: ev.RetryScheduled) -> None:
        wait = f"again in {render_duration(event.delay_s)} ({event.attempt}/{event.max_tries})"
        self._say_call(f"↻ {make_line(event.text).rstrip('.')}", wait, DIM)
        self._waiting.begin("waiting to try again")

    def _switched(self, event: ev.ModelSwitched) -> None:
        self._say(f"⇄ {make_line(event.model)} answers instead of {make_line(event.before)}", DIM)

    def _continued(self, event: ev.Continued) -> None:
        """The ordinary next turn needs no word."""
        if event.transition is not Transition.NEXT_TURN:
            self._say(f"→ {event.transition}", DIM)

    def _call_began(self, event: ev.CallBegan) -> None:
        self._waiting.begin_call(event.tool_use_id, make_line(event.line) or make_line(event.name))
        self._plan_frame()

    def _call_progressed(self, event: ev.CallProgressed) -> None:
        self._waiting.note_progress(event.tool_use_id, event.text)

    def _asked(self, _event: ev.PermissionAsked) -> None:
        """The question is written by others: until the next event nothing is painted, and nothing above is taken back."""
        if self._frame is not None:
            self._frame.cancel()
            self._frame = None
        self._flush()
        self._screen.hide_status()
        self._screen.end_line()
        self._screen.keep()
        self._paragraph = "question"

    def _call_denied(self, event: ev.CallDenied) -> None:
        self._denied[event.tool_use_id] = make_line(event.reason)

    def _call_ended(self, event: ev.CallEnded) -> None:
        self._waiting.end_call(event.tool_use_id)
        line = make_line(event.call_line) or make_line(event.name)
        if (reason := self._denied.pop(event.tool_use_id, None)) is not None:
            # A long command or path is cut, not what became of it.
            shown = cut_call(f"✗ {line}", self._screen.columns * 2 // 3)
            self._put_words(f"{shown}: not allowed ({reason})", RED, kind="line")
        else:
            took = render_duration(event.duration_s)
            done = make_line(event.line)
            if event.is_error:
                room = self._screen.columns - 1 - width_of(f"  {took}")
                self._say_call(render_failure(f"✗ {line}", done, room), took, RED)
            else:
                brought = cut_line(done, self._screen.columns // 3)
                self._say_call(f"· {line}", f"{brought}  {took}" if done else took, "")

    def _notes(self, event: ev.NotesChanged) -> None:
        if event.notes.todos == self._todos:
            return
        self._todos = event.notes.todos
        for todo in self._todos:
            words = todo.active_form if todo.status is TodoStatus.IN_PROGRESS else todo.content
            self._say(f"  {TODO_MARKS[todo.status]} {make_line(words)}", DIM)

    def _mode(self, event: ev.ModeSwitched) -> None:
        self._say(f"⇄ permission mode {event.mode} (before: {event.before})", DIM)

    def _context(self, event: ev.ContextChanged) -> None:
        if event.tokens_before:
            self._say(f"⊟ {event.stage}: {event.tokens_before:,} → {event.tokens_after:,} tokens ({event.cause})", DIM)

    def _compaction_began(self, _event: ev.CompactionBegan) -> None:
        self._waiting.begin("compacting")
        self._plan_frame()

    def _compaction_ended(self, _event: ev.CompactionEnded) -> None:
        self._waiting.begin(self._asked_for)

    def _summary(self, event: ev.ToolsSummarised) -> None:
        self._say(f"  {make_line(event.text)}", DIM)

    def _stop_phase(self, event: ev.StopPhaseProgressed) -> None:
        self._say(f"{make_line(event.step)}: {make_line(event.text)}", DIM)

    def _notice(self, event: ev.Noticed) -> None:
        if event.level is ev.Level.WARNING:
            # What protects somebody, and the way out at its end, must not fall off the edge.
            self._put_words(f"! {make_line(event.text)}", YELLOW, kind="line")
        else:
            self._say(f"! {make_line(event.text)}", DIM)

    def _error(self, event: ev.ErrorReleased) -> None:
        self._error_said = True
        self._put_words(event.problem.text, RED)
        if advice := advise(event.problem):
            self._put_words(advice, DIM, kind="line")

    def _said(self, said: Said) -> None:
        if said.paint is not None:
            self._end_text()
            self._open_paragraph("text")
            self._screen.put(said.paint(self._screen.style, self._screen.columns))
        else:
            self._put_words(said.text, RED if said.is_error else "")
        self._error_said = True

    def _result(self, event: ev.ResultEvent) -> None:
        self._end_text()
        self._waiting.end()
        if not self._error_said:
            for error in event.errors:
                self._put_words(error, RED)
        if advice := advise_denials(event.new_denials, only_managed=self._only_managed):
            self._put_words(advice, DIM, kind="line")
        if event.reason in INTERRUPTED and not event.errors:
            self._put_words(render_interruption(is_kept=self._is_kept()), DIM, kind="line")
        if not event.num_turns:
            return
        stopped = f"{event.terminal_reason} · " if event.is_error or not answer_of(event) else ""
        worked = render_duration(event.duration_s - self._asked_s())
        rounds = render_count(event.rounds, "round")
        figures = (rounds, render_usage(event.usage), render_usd(event.total_usd), worked)
        self._put_words(f"— {stopped}{' · '.join(figures)}", DIM, kind="closing")

    def _flush(self) -> None:
        """Paints the text that has come."""
        if not self._pending:
            return
        text = self._mask.feed(self._harmless.feed("".join(self._pending)))
        self._pending.clear()
        self._put_text(text)

    def _put_text(self, text: str) -> None:
        if not text:
            return
        if not self._fed:
            self._fed = True
            self._open_paragraph("text")
        self._screen.put(self._flow.lay(self._markdown.feed(text)))

    def _end_text(self) -> None:
        self._flush()
        self._put_text(self._mask.feed(self._harmless.finish()) + self._mask.finish())
        if self._speaking:
            self._speaking = False
            self._screen.put(self._flow.lay(self._markdown.finish()) + self._flow.finish())
            self._screen.end_line()

    def _say(self, text: str, codes: str) -> None:
        """One line between the words."""
        self._end_text()
        self._open_paragraph("line")
        self._screen.put_line(text, codes)

    def _say_call(self, line: str, ending: str, codes: str) -> None:
        """However long the line is, its ending stays visible."""
        self._end_text()
        self._open_paragraph("line")
        self._screen.put_line(line, codes, ending=f"  {ending}")

    def _put_words(self, text: str, codes: str, *, kind: str = "text") -> None:
        """Whole, however many rows they take."""
        self._end_text()
        self._open_paragraph(kind)
        flow = self._new_flow()
        for line in mask_keys(make_harmless(text)).splitlines():
            self._screen.put(flow.lay((Piece(line, codes), Piece("\n"))))

    def _open_paragraph(self, kind: str) -> None:
        """An empty line between words and lines, none between lines."""
        if self._paragraph and (kind != self._paragraph or kind == "text"):
            self._screen.put("\n")
        self._paragraph = kind

    def _new_flow(self) -> Flow:
        columns = self._screen.columns - 1
        return Flow(self._screen.style, min(columns, WIDEST), table_columns=columns)

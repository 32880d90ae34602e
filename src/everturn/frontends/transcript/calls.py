"""Calls of tools: what runs, how it ended, and the list of tasks."""

from everturn.core import events as ev
from everturn.core.denials import DenialCause
from everturn.core.notes import Todo, TodoStatus
from everturn.frontends.ansi import DIM, RED
from everturn.frontends.figures import render_duration
from everturn.frontends.flow import cut_line, width_of
from everturn.frontends.harmless import make_line
from everturn.frontends.headless.view import Handlers
from everturn.frontends.transcript.call_lines import cut_call, render_failure
from everturn.frontends.transcript.page import Page

TODO_MARKS = {TodoStatus.PENDING: "☐", TodoStatus.IN_PROGRESS: "▸", TodoStatus.COMPLETED: "☑"}


_DENIED = "not allowed"
_DECLINED = {"AskUserQuestion": "not answered", "ExitPlanMode": "not approved", "EnterPlanMode": "not wanted"}
"""What a person declines who is asked for no permission."""


class CallLines:
    def __init__(self, page: Page) -> None:
        self._page = page
        self._denied: dict[str, str] = {}
        self._todos: tuple[Todo, ...] = ()
        self.is_cut = False
        """The line of the call that ended last did not fit."""

    @property
    def handlers(self) -> Handlers:
        return {
            ev.CallBegan: self._call_began,
            ev.CallProgressed: self._call_progressed,
            ev.PermissionAsked: self._asked,
            ev.CallDenied: self._call_denied,
            ev.CallEnded: self.end_call,
            ev.NotesChanged: self._notes,
            ev.ToolsSummarised: self._summary,
        }

    def _call_began(self, event: ev.CallBegan) -> None:
        self._page.waiting.begin_call(event.tool_use_id, make_line(event.line) or make_line(event.name))
        self._page.plan_frame()

    def _call_progressed(self, event: ev.CallProgressed) -> None:
        self._page.waiting.note_progress(event.tool_use_id, event.text)

    def _asked(self, _event: ev.PermissionAsked) -> None:
        """The question is written by others: until the next event nothing is painted, and nothing above is taken back."""
        page = self._page
        page.drop_frame()
        page.flush()
        page.screen.hide_status()
        page.screen.end_line()
        page.screen.keep()
        page.paragraph = "question"

    def _call_denied(self, event: ev.CallDenied) -> None:
        what = _DECLINED.get(event.name, _DENIED) if event.cause is DenialCause.PERSON else _DENIED
        self._denied[event.tool_use_id] = f"{what} ({make_line(event.reason)})"

    def end_call(self, event: ev.CallEnded) -> None:
        page, screen = self._page, self._page.screen
        page.waiting.end_call(event.tool_use_id)
        line = make_line(event.call_line) or make_line(event.name)
        if (denied := self._denied.pop(event.tool_use_id, None)) is not None:
            # A long command or path is cut, not what became of it.
            shown = cut_call(f"✗ {line}", screen.columns * 2 // 3)
            page.put_words(f"{shown}: {denied}", RED, kind="line")
            return
        took = render_duration(event.duration_s)
        done = make_line(event.line)
        if event.name == "TodoWrite" and not event.is_error:
            # Its line counts them already.
            done = ""
        if event.is_error:
            room = screen.columns - 1 - width_of(f"  {took}")
            self.is_cut = width_of(f"✗ {line}: {done}") > room
            page.say_with_ending(render_failure(f"✗ {line}", done, room), took, RED)
        else:
            brought = cut_line(done, screen.columns // 3)
            ending = f"{brought}  {took}" if done else took
            self.is_cut = width_of(f"· {line}  {ending}") > screen.columns - 1
            page.say_with_ending(f"· {line}", ending, "")

    def _notes(self, event: ev.NotesChanged) -> None:
        if event.notes.todos == self._todos:
            return
        self._todos = event.notes.todos
        for todo in self._todos:
            words = todo.active_form if todo.status is TodoStatus.IN_PROGRESS else todo.content
            self._page.say(f"  {TODO_MARKS[todo.status]} {make_line(words)}", DIM)

    def _summary(self, event: ev.ToolsSummarised) -> None:
        self._page.say(f"  {make_line(event.text)}", DIM)

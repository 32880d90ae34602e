"""Events in, lines out: what happens, as it happens, each turn of fortune with one line that explains it."""

from collections.abc import Callable

from everturn.cli.demo.explain import TRANSITIONS, explain_retraction, explain_retry
from everturn.cli.demo.lines import Line, Span, Style, line, restyle, wrap
from everturn.cli.demo.parts import CallRow, Part, Words
from everturn.cli.demo.screen import Screen
from everturn.core.events import (
    AnswerAdded,
    BlockBegan,
    BlockFinished,
    CallBegan,
    CallDenied,
    CallEnded,
    Continued,
    ErrorReleased,
    Event,
    InputDelta,
    Noticed,
    RequestStarted,
    Retracted,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
)
from everturn.core.messages import ToolUse


class Narrator:
    """Keeps the answer under way in sight until it is certain: what is retracted is struck out before it goes."""

    def __init__(self, screen: Screen, *, shorten: Callable[[str], str], cap: int) -> None:
        self._screen = screen
        self._shorten = shorten
        self._cap = cap
        self._turn = 0
        self._parts: list[Part] = []
        self._certain = False
        """The answer is in the transcript; its parts may stay as they settle."""

    def tell(self, event: Event) -> None:
        match event:
            case RequestStarted(turn=turn) if turn != self._turn:
                self._turn = turn
                self._screen.keep((), line(Span(f"turn {turn}", Style.STRONG)))
            case BlockBegan():
                self._begin(event)
            case TextDelta(text=text) | ThinkingDelta(text=text) | InputDelta(text=text):
                self._parts[-1].add(text)
            case BlockFinished(block=block) if isinstance(block.view, ToolUse):
                self._rows[-1].id = block.view.id
            case AnswerAdded():
                self._certain = True
            case CallBegan(tool_use_id=id_, line=what):
                self._row(id_).begin(what)
            case CallEnded(tool_use_id=id_):
                self._row(id_).end(event)
            case Retracted():
                self._retract(event)
            case RetryScheduled():
                self._say("↻ ", Style.TROUBLE, explain_retry(event))
            case Continued(transition=transition):
                self._say("→ ", Style.FLOW, f"{transition}: {TRANSITIONS[transition]}.")
            case CallDenied(name=name, line=told, reason=reason):
                self._say("✗ ", Style.BAD, f"{told or name} was not allowed: {reason}.")
            case Noticed(text=text):
                self._say("· ", Style.FAINT, text)
            case ErrorReleased(problem=problem):
                self._say("✗ ", Style.BAD, problem.text)
        self.refresh()

    def refresh(self) -> None:
        """What is certain and settled stays; the rest is painted again, with the time that running calls have taken."""
        while self._certain and self._parts and self._parts[0].settled:
            self._screen.keep(*self._parts.pop(0).lines(self._screen.width))
        self._screen.paint(self._visible())

    @property
    def _rows(self) -> list[CallRow]:
        return [part for part in self._parts if isinstance(part, CallRow)]

    def _row(self, id_: str) -> CallRow:
        found = next((row for row in self._rows if row.id == id_), None)
        return found or self._add_row(id_)

    def _add_row(self, id_: str) -> CallRow:
        """For a call whose words were never shown."""
        row = CallRow("", self._shorten)
        row.id = id_
        self._parts.append(row)
        return row

    def _begin(self, event: BlockBegan) -> None:
        self._certain = False
        match event.kind:
            case "tool_use":
                self._parts.append(CallRow(event.name, self._shorten))
            case "thinking":
                self._parts.append(Words(Style.FAINT))
            case _:
                self._parts.append(Words())

    def _visible(self) -> list[Line]:
        return [shown for part in self._parts for shown in part.lines(self._screen.width)]

    def _retract(self, event: Retracted) -> None:
        half = next((row.name for row in self._rows if not row.began), "")
        self._screen.keep(*(restyle(shown, Style.RETRACTED) for shown in self._visible()))
        self._parts.clear()
        self._say("↶ ", Style.TROUBLE, explain_retraction(event, half_call=half, cap=self._cap))

    def _say(self, mark: str, style: Style, text: str) -> None:
        self._screen.keep(*(restyle(shown, style) for shown in wrap(text, self._screen.width, first=mark, rest="  ")))

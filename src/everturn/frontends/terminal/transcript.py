"""The conversation above the prompt: the families of `frontends.transcript`, with more of each result than a single prompt shows."""

import time
from collections.abc import Callable

import msgspec

from everturn.core.events import BlockFinished, CallBegan, CallEnded, Event, PermissionAsked, Retracted
from everturn.core.masking import mask_keys
from everturn.core.messages import Block, Kind, Message, Thinking, ToolUse
from everturn.frontends.ansi import BOLD, DIM, RED
from everturn.frontends.commands import CommandOutput
from everturn.frontends.flow import cut_line
from everturn.frontends.harmless import make_harmless, make_line
from everturn.frontends.headless.view import Handlers
from everturn.frontends.markdown import Markdown, PaintCode
from everturn.frontends.terminal.live_screen import LiveScreen
from everturn.frontends.terminal.palette import SIXTEEN
from everturn.frontends.terminal.results import Details, fold, lay_command, lay_result, list_words, paint_patch
from everturn.frontends.transcript.answers import AnswerText
from everturn.frontends.transcript.calls import CallLines
from everturn.frontends.transcript.endings import Endings
from everturn.frontends.transcript.happenings import Happenings
from everturn.frontends.transcript.page import Page
from everturn.frontends.transcript.waiting import Waiting

FRAME_S = 1 / 30
MAX_OUTPUT_ROWS = 30
"""Lines of what a command of the person's own printed."""
MAX_DIFF = 60
"""Lines of a patch that is asked for."""
SHELL = "!"
"""In place of a call's id, for a command that the person runs."""
SUBJECTS = ("command", "pattern", "file_path", "notebook_path", "path", "url", "description")
"""Fields of a call's input; the first that it has says what it was about."""
MAX_PROMPT_ROWS = 12
"""Lines of a prompt that are shown again above the answer."""


class LiveTranscript:
    def __init__(
        self,
        screen: LiveScreen,
        *,
        asked_s: Callable[[], float],
        is_kept: Callable[[], bool],
        only_managed: bool = False,
        spins: bool = True,
        folder: str = "",
        show_details: Callable[[Details], None] = lambda _: None,
    ) -> None:
        """`folder`: the working folder, which is not said again in the lines of calls. `spins`: something moves while the model works; off for people who have the screen read to them."""
        self.spins = spins
        self.palette = SIXTEEN
        """Colours by what they mean; others when the terminal has told its background."""
        self._screen = screen
        self._folder = f"{folder.rstrip('/')}/" if folder else ""
        self._show_details = show_details
        self._details: Details | None = None
        self._page = page = Page(screen, elapsed=time.monotonic, asked_s=asked_s, frame_s=FRAME_S, wraps=False)
        self._answers = answers = AnswerText(page, find_painter=self._find_painter)
        self._asked: set[str] = set()
        """Ids of calls that the person was asked about and that have not ended."""
        self._commands: dict[str, str] = {}
        """Commands by the ids of their calls, as the model wrote them, until they have ended."""
        self._held_back: list[Callable[[], None]] = []
        """What is shown when the text that streams has ended."""
        self._calls = CallLines(page)
        families = (
            answers,
            self._calls,
            Happenings(page, asked_for=lambda: answers.asked_for),
            Endings(page, is_kept=is_kept, only_managed=only_managed, render_interrupted=render_interrupted),
        )
        self._handlers: Handlers = {kind: show for family in families for kind, show in family.handlers.items()}

    @property
    def waiting(self) -> Waiting:
        return self._page.waiting

    def show_running(self, name: str) -> None:
        """A command that takes its time; one that says itself what it does is not interrupted."""
        if not self._page.waiting.is_waiting:
            self._page.waiting.begin(name)
            self._page.plan_frame()

    def begin_output(self, command: str) -> Callable[[str], None]:
        """Of a command that the person runs: what takes each piece of it, until `show_output`."""
        waiting = self._page.waiting
        waiting.begin_call(SHELL, f"! {make_line(command)}")
        self._page.plan_frame()
        return lambda piece: waiting.note_progress(SHELL, piece)

    def show_beside(self, show: Callable[[], None]) -> None:
        """What belongs to something else than the answer, which it does not cut in the middle of a text."""
        if self._answers.is_speaking:
            self._held_back.append(show)
        else:
            show()

    @property
    def holds_back(self) -> bool:
        """Something waits until the text that streams has ended."""
        return bool(self._held_back)

    def _show_held_back(self) -> None:
        held_back, self._held_back = self._held_back, []
        for show in held_back:
            show()

    def paint_links(self, paint_link: Callable[[str, str], str]) -> None:
        """From here on: `paint_link` makes a painted text open an address."""
        self._page.paint_link = paint_link

    def show(self, event: Event | CommandOutput) -> None:
        match event:
            case CallBegan():
                event = msgspec.structs.replace(event, line=self._shorten(event.name, event.line))
            case CallEnded():
                event = msgspec.structs.replace(event, call_line=self._shorten(event.name, event.call_line))
        if (show := self._handlers.get(type(event))) is not None:
            show(event)
        if self._held_back and not self._answers.is_speaking:
            self._show_held_back()
        match event:
            case CallEnded() if event.began:
                self._show_result(event)
            case PermissionAsked(tool_use_id=tool_use_id):
                self._asked.add(tool_use_id)
            case BlockFinished(block=Block(view=ToolUse(name="Bash") as use)):
                self._commands[use.id] = command_of(use)
            case BlockFinished(block=Block(view=Thinking(thinking=thinking))) if thinking.strip():
                self._details = Details("thinking", list_words(thinking))
            case Retracted():
                self._details = None

    def _shorten(self, tool: str, line: str) -> str:
        """Paths inside the working folder as they stand there; a command is left as it runs."""
        return line if tool == "Bash" or not self._folder else line.replace(f" {self._folder}", " ")

    def show_prompt(self, text: str) -> None:
        """What the person said, above what comes of it."""
        page, style = self._page, self._screen.style
        page.end_text()
        page.open_paragraph("text")
        lines = make_harmless(text).rstrip("\n").split("\n")
        for number, line in enumerate(lines[:MAX_PROMPT_ROWS]):
            self._screen.put(f"{style.paint('  ' if number else '> ', DIM)}{style.paint(line, BOLD)}\n")
        if len(lines) > MAX_PROMPT_ROWS:
            page.say(f"  … {len(lines) - MAX_PROMPT_ROWS:,} more lines", DIM)

    def say(self, text: str, codes: str = "") -> None:
        self._page.put_words(text, codes)

    def show_message(self, message: Message) -> None:
        """One of the past."""
        page = self._page
        if message.kind is Kind.PROMPT:
            self.show_prompt(message.text)
        if message.role != "assistant":
            return
        if text := message.text.strip():
            page.open_paragraph("text")
            markdown = Markdown(bare=not self._screen.style.colour, find_painter=self._find_painter)
            flow = page.new_flow()
            pieces = [*markdown.feed(mask_keys(make_harmless(text))), *markdown.finish()]
            self._screen.put(flow.lay(pieces) + flow.finish())
            self._screen.end_line()
        for use in message.uses:
            page.say(cut_line(f"· {self._shorten(use.name, make_line(name_call(use)))}", self._screen.columns - 1), DIM)

    def show_output(self, command: str, said: str, code: int) -> None:
        """Of a command that the person ran."""
        self._page.waiting.end_call(SHELL)
        lines = (
            [(line, DIM) for line in mask_keys(make_harmless(said)).rstrip("\n").split("\n")] if said.strip() else []
        )
        rows, details = fold(lines, self._screen.style, self._screen.columns, most=-MAX_OUTPUT_ROWS, title=command)
        for row in rows:
            self._screen.put(f"{row}\n")
        self._details = details or self._details
        if code != 0 or not lines:
            self._page.say(f"  exit code {code}", RED if code else DIM)

    def show_diff(self, diff: str) -> None:
        """A patch, folded where it is long."""
        self._page.end_text()
        self._page.open_paragraph("text")
        lines = paint_patch(diff)
        rows, details = fold(
            lines, self._screen.style, self._screen.columns, most=MAX_DIFF, title="uncommitted changes"
        )
        for row in rows:
            self._screen.put(f"{row}\n")
        self._details = details or self._details

    def rest(self) -> None:
        """Nothing is at work."""
        self._page.end_text()
        self._show_held_back()
        self._page.waiting.end()
        self._screen.end_line()

    def open_details(self) -> None:
        """The last result that was folded, in full."""
        if self._details is not None:
            self._show_details(self._details)

    def close(self) -> None:
        self._page.close()

    def _find_painter(self, language: str) -> PaintCode | None:
        from everturn.frontends.terminal.highlight import Highlighter

        highlighter = Highlighter(language, self.palette.code)
        return None if highlighter.is_plain else highlighter.line

    def _show_result(self, event: CallEnded) -> None:
        """What was asked about has been seen already: a command, a new file."""
        screen, was_asked = self._screen, event.tool_use_id in self._asked
        self._asked.discard(event.tool_use_id)
        rows, details = lay_result(event, screen.style, screen.columns, self.palette)
        command = self._commands.pop(event.tool_use_id, "")
        if is_told(command, event.call_line) and not was_asked and (self._calls.is_cut or "\n" in command):
            rows = lay_command(command, screen.style, screen.columns, self.palette) + rows
        if was_asked and getattr(event.shown, "type", "") == "create":
            rows = []
        for row in rows:
            self._screen.put(f"{row}\n")
        if details is not None:
            self._details = details


def name_call(use: ToolUse) -> str:
    """A call of the past, by what it was about."""
    try:
        given = msgspec.json.decode(use.input)
    except msgspec.DecodeError:
        return use.name
    named = (given.get(field) for field in SUBJECTS) if isinstance(given, dict) else ()
    about = next((each for each in named if isinstance(each, str)), "")
    return f"{use.name} {mask_keys(about)}".rstrip()


def command_of(use: ToolUse) -> str:
    """Empty where it has none that can be read."""
    try:
        given = msgspec.json.decode(use.input)
    except msgspec.DecodeError:
        return ""
    command = given.get("command") if isinstance(given, dict) else None
    return command if isinstance(command, str) else ""


def is_told(command: str, line: str) -> bool:
    """The line is of this command: a hook may have put another one in its place."""
    told = line.removeprefix("Bash ").removesuffix(" (in the background)").removesuffix("…")
    return bool(command) and " ".join(command.split()).startswith(" ".join(told.split()))


def render_interrupted(*, is_kept: bool) -> str:  # noqa: ARG001 (as its kin)
    return "Interrupted. Say what should be done instead."

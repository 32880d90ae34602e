"""The interactive program: one terminal, one prompt, one conversation after the other. What a key does is decided here."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial

from everturn.core.errors import EverturnError
from everturn.core.messages import Kind
from everturn.core.modes import PermissionMode
from everturn.core.state import Exit
from everturn.frontends.ansi import DIM, RED, YELLOW
from everturn.frontends.terminal import going_back
from everturn.frontends.terminal.activity import lay_activity
from everturn.frontends.terminal.device import TerminalDevice
from everturn.frontends.terminal.editor import PromptEditor
from everturn.frontends.terminal.going_back import list_prompts, open_before
from everturn.frontends.terminal.hints import Hints
from everturn.frontends.terminal.history import PromptHistory
from everturn.frontends.terminal.inputs import Focus, Input, Key, TerminalAnswer
from everturn.frontends.terminal.key_bindings import SEQUENCE_S, KeyAction, KeyBindings, KeyMatcher, Pressed
from everturn.frontends.terminal.live_area import lay_live_area
from everturn.frontends.terminal.live_engine import LiveEngine
from everturn.frontends.terminal.menu import Menu, MenuItem
from everturn.frontends.terminal.overlay import Overlay
from everturn.frontends.terminal.person import TerminalPerson
from everturn.frontends.terminal.program import TerminalProgram
from everturn.frontends.terminal.prompt import Completer, Prompt
from everturn.frontends.terminal.question import Question
from everturn.frontends.terminal.reports import ProgressState
from everturn.frontends.terminal.results import Details
from everturn.frontends.terminal.session_status import SessionStatus
from everturn.frontends.terminal.transcript import LiveTranscript
from everturn.frontends.terminal.work import LiveWork

FRAME_S = 1 / 30
SPIN_S = 0.1
LAST_PROMPTS = 2
"""Of a session that goes on, shown at its beginning with what followed them."""
MAX_LAST = 60
"""Messages."""
CYCLE = (PermissionMode.DEFAULT, PermissionMode.ACCEPT_EDITS, PermissionMode.PLAN)


class TerminalApp:
    def __init__(
        self,
        agent: LiveEngine,
        *,
        transcript: LiveTranscript,
        editor: PromptEditor,
        past: PromptHistory,
        completions: Completer,
        person: TerminalPerson,
        program: TerminalProgram,
        bindings: KeyBindings,
        device: TerminalDevice,
        suspend: Callable[[], None],
        lend: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """`suspend` stops the program as a shell's job; `lend` gives the terminal to another program meanwhile."""
        self.screen = person.screen
        self.transcript = transcript
        self.work = LiveWork(
            agent,
            transcript=transcript,
            floor=person.floor,
            program=program,
            begun=partial(device.show_progress, ProgressState.UNKNOWN),
            rested=self._rest,
        )
        self._status = SessionStatus(
            self.work, program, find_editing=lambda: self.prompt.editor.vi_mode, changed=self.draw
        )
        self.prompt = Prompt(
            editor, past=past, completions=completions, submit=self.submit, take_back=self.work.take_back
        )
        self._keys = KeyMatcher(bindings)
        self.bindings = bindings
        self._device = device
        device.changed = self._take_colours
        self.transcript.palette = device.palette
        self.transcript.paint_links(device.link)
        person.ask = self.ask
        person.palette = lambda: transcript.palette
        self._program = program
        self._suspend = suspend
        self._lend = lend
        self._question: Question | None = None
        self._is_picking = False
        """A command waits for the person, who picks from a menu."""
        self._overlay = Overlay(
            self.screen, notice=lambda: "q leaves: a question waits" if self._question is not None else ""
        )
        person.read = self._overlay.read
        self._hints = Hints(self.draw)
        self._frame: asyncio.TimerHandle | None = None
        self._left: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._has_focus = True
        self._cycled = ("", "")
        """The mode that was in force before Shift-Tab was pressed since the last prompt, and the one that it has led to."""

    @property
    def agent(self) -> LiveEngine:
        """The conversation of now."""
        return self.work.agent

    # The life of the program.

    async def run(self, first: str = "", *, goes_on: bool = False) -> int:
        """Until the person leaves; `first` is submitted at once. `goes_on`: what was cut off goes on without a prompt."""
        self._measure()
        for told in (*self.bindings.problems, *self.bindings.notes):
            self.transcript.say(told, YELLOW)
        self.show_last()
        self.draw()
        if first:
            self.submit(first)
        elif goes_on:
            self.work.resume()
        try:
            return await self._left
        finally:
            await self.work.close()
            self._overlay.close()
            if self._frame is not None:
                self._frame.cancel()
            self.transcript.close()
            self.screen.leave()

    def leave(self, code: int = Exit.OK) -> None:
        if self._question is not None:
            self._question.end()
        if not self._left.done():
            self._left.set_result(code)

    # What comes in.

    def receive(self, given: Input) -> None:
        """Every input of the terminal; what it changed is shown at once."""
        match given:
            case TerminalAnswer():
                self._device.receive(given)
                return
            case Focus(gained=gained):
                self._has_focus = gained
                return
            case Key(name="z", ctrl=True):
                self._overlay.close()
                self._suspend()
            case _ if (pager := self._overlay.pager) is not None:
                pager.receive(given)
            case _ if self._question is not None:
                if not self._overlay.is_just_closed:
                    self._question.receive(given)
            case Key():
                for pressed in self._keys.press(given, time.monotonic()):
                    self._follow(pressed, given)
                if self._keys.is_waiting:
                    asyncio.get_running_loop().call_later(SEQUENCE_S, self._release_keys)
            case _:
                self.prompt.receive(given)
        self.draw()

    def ask(self, question: Question | None) -> None:
        """In place of the prompt; None gives the place back."""
        if question is not None and self._question is None and not self._has_focus:
            self._device.notify("Everturn", "waits for your answer")
        self._question = question
        self.draw()

    def show_details(self, details: Details) -> None:
        self._overlay.open(details)
        self.draw()

    def resize(self) -> None:
        self._overlay.resize()
        self.screen.resize()
        self.draw()

    def submit(self, text: str) -> None:
        self._cycled = ("", "")
        if not self.work.submit(text):
            name = "a line with !" if text.startswith("!") else text.split(maxsplit=1)[0]
            self._hints.tell(f"{name} can be used when the answer is complete, or after Esc")
            self.prompt.set(text)
        elif self.transcript.holds_back:
            self._hints.tell("this follows when the text above has ended")
        self.draw()

    def take_agent(self, agent: LiveEngine) -> None:
        """Another conversation from here on."""
        self.work.take_agent(agent)
        self._measure()

    async def pick(self, items: Sequence[MenuItem], *, title: str, chosen: str = "") -> str | None:
        """What the person picks from a menu; None where they leave it."""
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

        def give(value: str | None) -> None:
            if not answer.done():
                answer.set_result(value)

        values = [item.value for item in items]
        self.prompt.open_menu(
            Menu(
                items,
                pick=lambda item: give(item.value),
                close=lambda: give(None),
                title=title,
                chosen=values.index(chosen) if chosen in values else 0,
            )
        )
        self._is_picking = True
        self.draw()
        try:
            return await answer
        finally:
            self._is_picking = False
            self.transcript.waiting.end()

    def complete_again(self) -> None:
        """Names of files have come since the menu was asked for."""
        if not self._left.done():
            self.prompt.complete_again()
            self.draw()

    def copy(self, text: str) -> bool:
        """To the clipboard of the terminal; False where it takes no such text."""
        return self._device.copy(text)

    def show_last(self) -> None:
        """The end of the conversation, where one of the past goes on."""
        transcript = self.agent.transcript
        prompts = [at for at, message in enumerate(transcript) if message.kind is Kind.PROMPT]
        begin = prompts[-LAST_PROMPTS:][0] if prompts else 0
        for message in transcript[max(begin, len(transcript) - MAX_LAST) :]:
            self.transcript.show_message(message)

    # What a key does outside of the text.

    def _follow(self, pressed: Pressed, by: Key) -> None:
        if pressed.action is not None:
            self._act(pressed.action, by)
        for key in pressed.released:
            self._hints.clear()
            self.prompt.receive(key)

    def _release_keys(self) -> None:
        """No key has come that would make them an action."""
        for pressed in self._keys.release():
            self._follow(pressed, Key(""))
        if not self._left.done():
            self.draw()

    def _act(self, action: KeyAction, by: Key) -> None:
        prompt = self.prompt
        match action:
            case KeyAction.SUBMIT:
                prompt.send()
            case KeyAction.NEWLINE:
                prompt.begin_line()
            case KeyAction.INTERRUPT if by.ctrl:
                self._press_interrupt()
            case KeyAction.INTERRUPT:
                self._escape()
            case KeyAction.CLEAR_INPUT:
                prompt.clear()
            case KeyAction.EXIT:
                self._press_exit()
            case KeyAction.CYCLE_MODE:
                self._cycle_mode()
            case KeyAction.HISTORY_SEARCH:
                prompt.search_past()
            case KeyAction.PREVIOUS_PROMPT:
                self._go_back()
            case KeyAction.OPEN_DETAILS:
                self.transcript.open_details()
            case KeyAction.EXTERNAL_EDITOR:
                self._edit_outside()
            case KeyAction.ACCEPT_SUGGESTION:
                prompt.accept()
            case KeyAction.SUSPEND:
                self._suspend()
            case KeyAction.REDRAW:
                self.screen.forget()

    def _press_interrupt(self) -> None:
        """Ctrl-C as in a shell: it ends what runs, else it empties the line, and twice on an empty line it leaves."""
        if self.prompt.close_menu():
            return
        if self.work.is_working:
            self.work.interrupt()
        elif not self.prompt.is_empty:
            self.prompt.clear()
        else:
            self._hints.press_twice("Ctrl-C", self.leave)

    def _escape(self) -> None:
        """Closes a menu, leaves vi's insertion, or interrupts."""
        prompt = self.prompt
        if prompt.close_menu():
            return
        if prompt.editor.vi_mode in {"insert", "replace"} and not prompt.is_empty:
            prompt.receive(Key("escape"))
        elif self.work.is_working:
            self.work.interrupt()

    def _press_exit(self) -> None:
        if self.prompt.is_empty:
            self._hints.press_twice("Ctrl-D", self.leave)
        else:
            self.prompt.receive(Key("d", ctrl=True))

    def _edit_outside(self) -> None:
        with self._lend():
            try:
                text = self._program.edit_text(self.prompt.text)
            except EverturnError as error:
                self.transcript.say(str(error), RED)
                return
        self.prompt.set(text)

    def _go_back(self) -> None:
        if not self.work.is_working and self.prompt.is_empty and list_prompts(self.agent.transcript):
            self.work.begin(self._choose_prompt())

    async def _choose_prompt(self) -> None:
        agent = self.agent
        chosen = await self.pick(list_prompts(agent.transcript), title=going_back.TITLE)
        if chosen is None:
            return
        self.take_agent(await open_before(agent, int(chosen), self._program))
        self.transcript.say(going_back.TOLD, DIM)
        self.prompt.set(agent.transcript[int(chosen)].text)

    def _cycle_mode(self) -> None:
        modes = [str(mode) for mode in CYCLE]
        now = self.agent.permission_mode
        following = modes[(modes.index(now) + 1) % len(modes)] if now in modes else modes[0]
        if now != self._cycled[1]:
            self._cycled = (now, now)
        if following == PermissionMode.PLAN:
            # A mode that was only passed on the way is not the one to come back to after the plan.
            self.agent.permission_mode = self._cycled[0]
        self.agent.permission_mode = following
        self._cycled = (self._cycled[0], following)

    # What is seen.

    def _rest(self) -> None:
        """Nothing is at work."""
        self._device.show_progress(ProgressState.NONE)
        if not self._has_focus and not self._left.done():
            self._device.notify("Everturn", "has finished")
        self._measure()
        self.draw()

    def draw(self) -> None:
        """The live area as it is now, at once, or what stands over it."""
        if self._left.done():
            # Nothing is drawn below what was printed last.
            return
        if self._overlay.pager is not None:
            self._overlay.draw()
            return
        screen, is_asked = self.screen, self._question is not None or self._is_picking
        self.prompt.suggestion = self.work.suggestion
        waiting = self.transcript.waiting
        if not waiting.is_waiting and self.agent.is_busy:
            # An answer that pauses is not one that has ended.
            waiting.begin("answering")
        rows, cursor = lay_live_area(
            self._question or self.prompt,
            activity=lay_activity(
                waiting, screen.style, screen.columns, room=screen.rows // 2, spins=self.transcript.spins
            )
            if not is_asked
            else (),
            queued=[command.text for command in self.agent.queued],
            status=self._status.tell(hint=self._hints.text),
            style=screen.style,
            columns=screen.columns,
            rows=screen.rows,
        )
        screen.draw(rows, cursor)
        screen.flush()
        if self._frame is not None:
            self._frame.cancel()
            self._frame = None
        if waiting.is_waiting and not is_asked:
            self._frame = asyncio.get_running_loop().call_later(SPIN_S, self._draw_frame)

    def plan_frame(self) -> None:
        """Something is to be drawn, within a frame."""
        loop = asyncio.get_running_loop()
        if self._frame is not None:
            if self._frame.when() - loop.time() <= FRAME_S:
                return
            self._frame.cancel()
        self._frame = loop.call_later(FRAME_S, self._draw_frame)

    def _draw_frame(self) -> None:
        self._frame = None
        self.draw()

    def choose_theme(self, theme: str) -> None:
        self._device.choose_theme(theme)

    def _take_colours(self) -> None:
        self.transcript.palette = self._device.palette
        self.draw()

    def _measure(self) -> None:
        self._status.measure()
        self._device.show_title(f"everturn · {self._program.folder}")

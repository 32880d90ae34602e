"""What is at work: a prompt, a command, or a command line of the person's own; one thing at a time, and what was queued follows it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing, suppress
from functools import partial
from typing import Any

from everturn.core.commands import CommandState
from everturn.core.errors import EverturnError
from everturn.core.events import CommandNoted, Event, PermissionAsked, PromptSuggested
from everturn.core.marks import harmless
from everturn.core.state import AbortCause
from everturn.engine.prompts import Prompt as Content
from everturn.frontends.ansi import DIM, RED
from everturn.frontends.asking.floor import Floor
from everturn.frontends.commands import (
    Cleared,
    CommandOutput,
    Invoked,
    SlashCommand,
    Unknown,
    make_prompt,
    parse_command,
    run_command,
)
from everturn.frontends.terminal.live_engine import LiveEngine
from everturn.frontends.terminal.program import TerminalProgram
from everturn.frontends.terminal.session_tally import SessionTally
from everturn.frontends.terminal.transcript import LiveTranscript

MAX_TOLD = 8_000
"""Characters of a command's output that the model reads, the last ones."""
SHOWN_AFTER_S = 0.3
"""A command that takes longer is shown as running."""
SHELL_NOTE = "I ran this command myself:\n$ {command}\nIt ended with exit code {code} and printed:\n{output}"


class LiveWork:
    def __init__(
        self,
        agent: LiveEngine,
        *,
        transcript: LiveTranscript,
        floor: Floor,
        program: TerminalProgram,
        begun: Callable[[], None],
        rested: Callable[[], None],
    ) -> None:
        """`begun` is called when something begins, `rested` when it has ended, before what follows it begins."""
        self.agent = agent
        self.tally = SessionTally()
        self.commands: tuple[SlashCommand, ...] = ()
        self.suggestion = ""
        """What the person may want to say next."""
        self._transcript = transcript
        self._floor = floor
        self._program = program
        self._begun = begun
        self._rested = rested
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        self._next: list[str] = []
        """Prompts that follow what is at work."""
        self._beside: set[asyncio.Task[None]] = set()
        """Commands that run while a prompt is at work."""
        self._queued: dict[str, str] = {}
        """What was queued, by its id, until the model reads it."""
        self._shell: list[str] = []
        """Commands that the person ran, and the model has not read of."""

    @property
    def is_working(self) -> bool:
        return self._task is not None

    def submit(self, text: str) -> bool:
        """A prompt or a command; while another is at work a prompt waits for its turn, and what only looks is done beside it.

        False for a command, ours or of the shell, that has to wait until what is at work has ended.
        """
        transcript = self._transcript
        match parse_command(text, self.commands):
            case Unknown(text=told):
                transcript.show_prompt(text)
                transcript.say(told, RED)
            case Invoked(command=command) if self.is_working and not command.beside:
                return False
            case Invoked(command=command) as invoked if command.prompt or command.by_server:
                transcript.show_prompt(text)
                self.begin(self._answer_command(invoked))
            case Invoked() as invoked:
                transcript.show_beside(partial(transcript.show_prompt, text))
                if self.is_working:
                    self.run_beside(self._reply(invoked))
                else:
                    self.begin(self._reply_visibly(invoked))
            case _ if text.startswith("!") and text[1:].strip() and self.is_working:
                # No prompt: the model would read it as one.
                return False
            case _ if text.startswith("!") and text[1:].strip():
                transcript.show_prompt(text)
                self.begin(self._run_shell(text[1:].strip()))
            case _ if self.is_working:
                self._queued[self.agent.enqueue(text)] = text
            case _:
                transcript.show_prompt(text)
                self.begin(self._answer(self.agent.submit(self._tell_shell(text))))
        return True

    def submit_next(self, text: str) -> None:
        """When what is at work has ended."""
        self._next.append(text)

    def resume(self) -> None:
        """What was cut off goes on without a prompt."""
        self.begin(self._answer(self.agent.resume_query()))

    def take_back(self) -> str:
        """What was queued last, for the prompt; empty where nothing is."""
        queued = self.agent.queued
        return self.agent.withdraw(queued[-1].id) if queued else ""

    def interrupt(self) -> None:
        self._stop(AbortCause.NEW_PROMPT if self.agent.queued else AbortCause.USER)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.create_task(self._do(work))
        self._task.add_done_callback(partial(self._end, work))
        self._begun()

    def run_beside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    def take_agent(self, agent: LiveEngine) -> None:
        """Another conversation from here on."""
        self.agent = agent
        self.tally = SessionTally()
        self.suggestion = ""

    async def close(self) -> None:
        """What is at work ends, and nothing follows it."""
        self._is_closed = True
        if self._task is not None:
            self._stop(AbortCause.TERMINATED)
            with suppress(asyncio.CancelledError, EverturnError):
                await self._task

    def _stop(self, cause: AbortCause) -> None:
        if self.agent.is_busy:
            self.agent.abort(cause)
        elif self._task is not None:
            self._task.cancel()

    async def _do(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except EverturnError as error:
            self._transcript.say(str(error), RED)

    def _end(self, work: Coroutine[Any, Any, None], task: asyncio.Task[None]) -> None:
        """Also of what was interrupted before its first step."""
        work.close()
        self._task = None
        if task.cancelled() and not self._is_closed:
            self._transcript.say("Interrupted.", DIM)
        self._transcript.rest()
        self._rested()
        self._go_on()

    def _go_on(self) -> None:
        """What was queued and not read by the model is the next prompt."""
        if self._is_closed:
            return
        if self._next:
            self.submit(self._next.pop(0))
            return
        if not self.agent.queued:
            return
        text = "\n\n".join(command.text for command in self.agent.take_queued())
        self._queued.clear()
        self._transcript.show_prompt(text)
        self.begin(self._answer(self.agent.submit(text)))

    async def _answer(self, begun: AsyncGenerator[Event]) -> None:
        self.suggestion = ""
        async with aclosing(begun) as events:
            async for event in events:
                await self._show(event)
        self.suggestion = self.agent.suggestion

    async def _show(self, event: Event) -> None:
        self._transcript.show(event)
        self.tally.note(event)
        match event:
            case PermissionAsked(tool_use_id=tool_use_id):
                await self._floor.give(tool_use_id)
            case PromptSuggested(text=text):
                self.suggestion = text
            case CommandNoted(command_id=command_id, state=CommandState.STARTED) if command_id in self._queued:
                self._transcript.show_prompt(self._queued.pop(command_id))

    async def _answer_command(self, invoked: Invoked) -> None:
        """What stands for a prompt: it is made first, perhaps by a server."""
        try:
            prompt = await make_prompt(invoked.command, invoked.arguments, self.agent)
        except EverturnError as error:
            self._transcript.say(str(error), RED)
            return
        await self._answer(self.agent.submit(self._tell_shell(prompt)))

    async def _reply_visibly(self, invoked: Invoked) -> None:
        show = partial(self._transcript.show_running, f"/{invoked.command.name}")
        timer = asyncio.get_running_loop().call_later(SHOWN_AFTER_S, show)
        try:
            await self._reply(invoked)
        finally:
            timer.cancel()

    async def _reply(self, invoked: Invoked) -> None:
        async with aclosing(run_command(invoked, self.agent, self.commands)) as replies:
            async for reply in replies:
                match reply:
                    case Cleared(conversation=conversation):
                        self.take_agent(conversation)  # type: ignore[arg-type]  # as the one before
                    case CommandOutput():
                        self._transcript.show_beside(partial(self._transcript.show, reply))
                    case _:
                        await self._show(reply)

    async def _run_shell(self, command: str) -> None:
        """A command line of the person's own; the model reads it with the next prompt."""
        transcript = self._transcript
        said, code = await self._program.run_shell(command, transcript.begin_output(command))
        transcript.show_output(command, said, code)
        self._shell.append(SHELL_NOTE.format(command=command, code=code, output=harmless(said[-MAX_TOLD:])))

    def _tell_shell(self, text: str) -> Content:
        """The prompt, behind what the person ran before it."""
        told, self._shell = self._shell, []
        return [{"type": "text", "text": each} for each in (*told, text)] if told else text

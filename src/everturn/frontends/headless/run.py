"""One prompt, headless: runs it, shows it in the format asked for, and says with which code to exit."""

import os
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, BinaryIO, Protocol

from everturn.core.errors import EverturnError, OptionError
from everturn.core.events import Event, PermissionAsked, ResultEvent
from everturn.core.state import Exit
from everturn.engine.prompts import Prompt
from everturn.frontends.commands import (
    COMMANDS,
    Invoked,
    Reply,
    SlashCommand,
    Unknown,
    make_prompt,
    parse_command,
    run_command,
)
from everturn.frontends.engine_controls import EngineControls
from everturn.frontends.headless.endings import command_result, refused_result
from everturn.frontends.headless.sink import Sink
from everturn.frontends.headless.view import EventDisplay, Introduction, OutputFormat
from everturn.ports.model import ModelCard

if TYPE_CHECKING:
    from everturn.frontends.asking.floor import Floor

BROKEN_PIPE = 141
"""The reader went away before the end; the code that a shell gives to a program that SIGPIPE ended."""


class Agent(EngineControls, Protocol):
    """An engine, as far as this frontend needs it."""

    def submit(self, prompt: Prompt) -> AsyncGenerator[Event]: ...

    def resume_query(self) -> AsyncGenerator[Event]: ...


async def run_headless(
    engine: Agent,
    prompt: Prompt | None,
    *,
    out: BinaryIO | None,
    err: BinaryIO | None,
    output_format: OutputFormat = OutputFormat.TEXT,
    is_terminal: bool = False,
    include_partial: bool = False,
    replay_prompts: bool = False,
    introduction: Introduction | None = None,
    card_of: Callable[[str], ModelCard] | None = None,
    commands: tuple[SlashCommand, ...] = COMMANDS,
    env: Mapping[str, str] | None = None,
    floor: "Floor | None" = None,
    watch: Callable[[Event], None] | None = None,
) -> int:
    """Gives the exit code. Never raises for bad input or lost output; the engine stays open and is the caller's.

    Without a prompt the session goes on where it was cut off.

    `out` and `err` are binary files, None where the descriptor is closed. On a terminal text is laid out, and JSON is
    written so that nothing in it is obeyed.
    `floor` is shared with the approver, where it asks at this terminal. `watch` sees every event before it is shown.
    """
    sink, complaints = Sink(out), Sink(err)
    if sink.lost is not None:
        complaints.write_text("everturn: standard output is closed, so there is nowhere to put the answer\n")
        return Exit.USAGE
    scene = Scene(
        engine=engine,
        out=sink,
        err=complaints,
        env=os.environ if env is None else env,
        card_of=card_of or guess_card,
        introduction=introduction or Introduction(),
        commands=commands,
        floor=floor,
    )
    view = scene.make_view(
        OutputFormat(output_format), is_terminal=is_terminal, partial=include_partial, replay_prompts=replay_prompts
    )
    result: ResultEvent | None = None
    view.begin()
    try:
        async with aclosing(scene.answer(prompt)) as replies:
            handlers = view.handlers
            async for reply in replies:
                if watch is not None and isinstance(reply, Event):
                    watch(reply)
                if (show := handlers.get(type(reply))) is not None:
                    show(reply)
                    if sink.lost is not None:
                        break
                if floor is not None and isinstance(reply, PermissionAsked):
                    await floor.give(reply.tool_use_id)
                result = reply if isinstance(reply, ResultEvent) else result
    finally:
        view.close()
    return _judge_exit(result, sink, complaints)


def _judge_exit(result: ResultEvent | None, out: Sink, err: Sink) -> int:
    if out.broken_pipe:
        return BROKEN_PIPE
    if out.lost is not None:
        err.write_text(f"everturn: the output cannot be written: {out.lost.strerror or out.lost}\n")
        return Exit.ERROR
    return result.exit if result else Exit.ERROR


class Scene:
    """What views and commands are made from."""

    def __init__(
        self,
        *,
        engine: Agent,
        out: Sink,
        err: Sink,
        env: Mapping[str, str],
        card_of: Callable[[str], ModelCard],
        introduction: Introduction,
        commands: tuple[SlashCommand, ...],
        floor: "Floor | None" = None,
    ) -> None:
        self._engine = engine
        self._out = out
        self._err = err
        self._env = env
        self._card_of = card_of
        self._introduction = introduction
        self._commands = commands
        self._floor = floor

    async def answer(self, prompt: Prompt | None) -> AsyncGenerator[Reply]:
        """The events of a query, or the replies of a command; the last is a result either way."""
        engine, commands = self._engine, self._commands
        invoked = parse_command(prompt, commands) if isinstance(prompt, str) else None
        try:
            match invoked:
                case None:
                    begun = engine.resume_query() if prompt is None else engine.submit(prompt)
                    async with aclosing(begun) as events:
                        async for event in events:
                            yield event
                case Invoked(command=command, arguments=arguments) if command.prompt or command.by_server:
                    async with aclosing(engine.submit(await make_prompt(command, arguments, engine))) as events:
                        async for event in events:
                            yield event
                case Unknown(text=text):
                    yield refused_result(engine.session_id, text, exit_code=Exit.USAGE)
                case _:
                    async with aclosing(run_command(invoked, engine, commands)) as replies:
                        async for reply in command_result(replies, engine, time.monotonic):
                            yield reply
        except EverturnError as error:
            exit_code = Exit.USAGE if isinstance(error, OptionError) else Exit.ERROR
            yield refused_result(engine.session_id, str(error), exit_code=exit_code)

    def make_view(
        self, output_format: OutputFormat, *, is_terminal: bool, partial: bool, replay_prompts: bool
    ) -> EventDisplay:
        """Each format is imported only when it is asked for."""
        out = self._out.escaped() if is_terminal else self._out
        match output_format:
            case OutputFormat.STREAM_JSON:
                return self._stream_json(out, partial=partial, replay_prompts=replay_prompts)
            case OutputFormat.JSON:
                from everturn.frontends.headless.json_result import JsonResult

                return JsonResult(out, self._err, card_of=self._card_of, new_id=new_id)
            case _ if is_terminal:
                return self._terminal()
            case _:
                from everturn.frontends.headless.text import PipeText

                told = self._introduction
                return PipeText(self._out, self._err, is_kept=told.is_kept, only_managed=told.only_managed_rules)

    def _stream_json(self, out: Sink, *, partial: bool, replay_prompts: bool) -> EventDisplay:
        from everturn.frontends.headless.stream_json import StreamJson
        from everturn.frontends.headless.stream_view import StreamJsonView

        renderer = StreamJson(
            session_id=self._engine.session_id,
            new_id=new_id,
            elapsed=time.monotonic,
            card_of=self._card_of,
            partial=partial,
            replay_prompts=replay_prompts,
        )
        init = renderer.render_init(
            self._introduction,
            model=self._engine.model,
            permission_mode=self._engine.permission_mode,
            commands=tuple(command.name for command in self._commands),
        )
        return StreamJsonView(out, renderer, init)

    def _terminal(self) -> EventDisplay:
        from everturn.frontends.ansi import choose_style
        from everturn.frontends.headless.terminal import TerminalText
        from everturn.frontends.screen import Screen

        screen = Screen(self._out.write_text, choose_style(self._env), self._out.measure)
        told, floor = self._introduction, self._floor
        return TerminalText(
            screen,
            elapsed=time.monotonic,
            asked_s=lambda: floor.waited_s if floor else 0.0,
            is_kept=told.is_kept,
            only_managed=told.only_managed_rules,
        )


def new_id() -> str:
    """A random UUID, without the start-up cost of the uuid module."""
    number = bytearray(os.urandom(16))
    number[6] = number[6] & 0x0F | 0x40
    number[8] = number[8] & 0x3F | 0x80
    text = number.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def guess_card(model: str) -> ModelCard:
    return ModelCard(id=model, known=False)

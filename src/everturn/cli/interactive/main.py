"""`everturn` without -p: the interactive terminal, from the command line to the person's leaving."""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from everturn.cli.console import complain
from everturn.cli.folder import find_folder
from everturn.cli.options import plan_fields
from everturn.cli.run import (
    begin_git_count,
    build_engine,
    load_engine,
    open_asked_log,
    plan_trusted_launch,
    warn_of_running,
)
from everturn.cli.syntax import Arguments
from everturn.compose.cli import Launch, build_model
from everturn.core.state import Exit
from everturn.frontends.ansi import DIM
from everturn.frontends.terminal.keyboard import KeyReader, RawTerminal
from everturn.settings.program_files import program_home

if TYPE_CHECKING:
    from everturn.cli.debug import DebugLog
    from everturn.engine.engine import Engine
    from everturn.frontends.terminal.app import TerminalApp
    from everturn.frontends.terminal.device import TerminalDevice
    from everturn.frontends.terminal.live_engine import LiveEngine
    from everturn.frontends.terminal.live_screen import LiveScreen
    from everturn.frontends.terminal.person import TerminalPerson
    from everturn.ports.model import Model

NO_TERMINAL = """\
the interactive program needs {}; for one prompt, use -p:
  everturn -p "What does this project do?"
  git diff | everturn -p "Review this change"
  everturn --help"""

NO_KEY = """\
there is no key for the model. Three ways on:
  export ANTHROPIC_API_KEY=sk-ant-…             a key of the Anthropic API
  everturn config set apiKeyHelper 'COMMAND'    a command that prints a key
  everturn demo --interactive                   try it without: a script answers"""


def run_interactive(arguments: Arguments) -> int:
    if lacking := find_lacking():
        complain(NO_TERMINAL.format(lacking))
        return Exit.USAGE
    home = program_home(os.environ)
    launch = plan_trusted_launch(plan_fields(arguments, home, find_folder()), arguments)
    if not launch.has_credentials:
        complain(NO_KEY)
        return Exit.USAGE
    os.environ.update(launch.env)
    log = open_asked_log(arguments, home)
    try:
        with held_terminal() as terminal:
            screen = show_first(launch)
            return asyncio.run(converse(launch, arguments, terminal, screen, log))
    finally:
        if log is not None:
            log.close()


async def hold_conversation(launch: Launch, arguments: Arguments, *, introduction: Sequence[str]) -> int:
    """`run_interactive` without its checks, for a session that is not gone on with; `introduction` stands at the top."""
    os.environ.clear()
    os.environ.update(launch.env)
    with held_terminal() as terminal:
        return await converse(launch, arguments, terminal, show_first(launch, introduction), None, ends_here=True)


@contextmanager
def held_terminal() -> Iterator[RawTerminal]:
    terminal = RawTerminal(sys.stdin.fileno())
    terminal.take()
    try:
        yield terminal
    finally:
        terminal.release()


def find_lacking() -> str:
    """What the interactive program needs and does not have; empty where nothing is amiss."""
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        return "a terminal for its input and its output"
    if (name := os.environ.get("TERM", "")) in {"", "dumb"}:
        told = f"TERM={name} says that this one has none" if name else "TERM is not set"
        return (
            f"a terminal whose cursor it can move, and {told}. If it has one, set TERM to its name, for example "
            "export TERM=xterm-256color"
        )
    return ""


def show_first(launch: Launch, introduction: Sequence[str] = ()) -> "LiveScreen":
    """The first rows, before anything else is loaded: keys may be typed from here on."""
    from everturn import __version__
    from everturn.core.spelled_paths import spell_path
    from everturn.frontends.ansi import choose_style
    from everturn.frontends.headless.sink import Sink
    from everturn.frontends.terminal.live_screen import LiveScreen

    sink = Sink(sys.stdout.buffer)
    screen = LiveScreen(sink.write_text, choose_style(launch.env), sink.measure)
    folder = spell_path(str(launch.setup.folder))
    screen.put_line(f"Everturn {__version__} · {folder} · /help lists the commands", DIM)
    for line in introduction:
        screen.put(f"{line}\n")
    screen.draw(("> ", ""), (0, 2))
    screen.flush()
    return screen


async def converse(
    launch: Launch,
    arguments: Arguments,
    terminal: RawTerminal,
    screen: "LiveScreen",
    log: "DebugLog | None",
    *,
    ends_here: bool = False,
) -> int:
    keys = KeyReader(sys.stdin.fileno())
    keys.open(terminal.take_early())
    model = build_model(launch, wrap=log.wrap if log else None)
    warming = asyncio.create_task(model.warm())
    git = begin_git_count(launch)
    try:
        await asyncio.to_thread(load_program)
        from everturn.cli.interactive.choices import read_choices
        from everturn.frontends.terminal.device import TerminalDevice
        from everturn.frontends.terminal.person import TerminalPerson

        person = TerminalPerson(screen, folder=str(launch.setup.folder))
        device = TerminalDevice(screen, launch.env, read_choices(launch.merged))
        device.begin()
        try:
            async with build_engine(launch, model, arguments, person, git=git) as engine:
                around = InteractiveRun(
                    launch, model, arguments, person=person, terminal=terminal, keys=keys, device=device
                )
                app = build_app(engine, around)
                keys.connect(app.receive, partial(app.leave, Exit.TERMINATED))
                listen(app)
                gc.enable()
                gc.freeze()
                await engine.start_servers()
                try:
                    return await app.run(" ".join(arguments.words), goes_on=is_cut_off(engine))
                finally:
                    await let_go(device, keys)
                    if not ends_here:
                        tell_way_back(app.agent, screen)
                    warn_of_running(app.agent)  # type: ignore[arg-type]  # an engine
                    await app.agent.aclose()
        finally:
            await let_go(device, keys)
            screen.leave()
    finally:
        keys.close()
        warming.cancel()
        await model.aclose()


async def let_go(device: "TerminalDevice", keys: KeyReader) -> None:
    """Of the terminal. What it still answers is not left to the shell, which would take it for a command."""
    device.end()
    await keys.wait_for_answer(device.patience_s)
    keys.close()


def tell_way_back(agent: "LiveEngine", screen: "LiveScreen") -> None:
    """Where something was said and is kept."""
    if agent.is_kept and agent.transcript:
        screen.put_line(f"To go on: everturn --resume {agent.session_id}", DIM)
        screen.flush()


def load_program() -> None:
    load_engine()
    import everturn.frontends.terminal.app
    import everturn.frontends.terminal.editor
    import everturn.frontends.terminal.transcript  # noqa: F401 (all of them are imported again where they are used)


class InteractiveRun:
    """What an interactive run is made from."""

    def __init__(
        self,
        launch: Launch,
        model: "Model",
        arguments: Arguments,
        *,
        person: "TerminalPerson",
        terminal: RawTerminal,
        keys: KeyReader,
        device: "TerminalDevice",
    ) -> None:
        self.device = device
        self.launch = launch
        self.arguments = arguments
        self.person = person
        self._model = model
        self._terminal = terminal
        self._keys = keys

    def open_engine(self, session: str, fork: bool, until: str) -> "Engine":
        """On a session of the past, with all else as at the start."""
        options = msgspec.structs.replace(
            self.launch.options, resume=session, fork_session=fork, resume_at=until or None, session_id=None
        )
        setup = msgspec.structs.replace(self.launch.setup, options=options)
        launch = msgspec.structs.replace(self.launch, setup=setup, warnings=())
        return build_engine(launch, self._model, self.arguments, self.person)

    def suspend(self) -> None:
        """As a shell's job: the terminal is as it was until we go on."""
        with self.lent():
            os.kill(0, signal.SIGTSTP)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Somebody else has the terminal meanwhile."""
        screen = self.person.screen
        screen.leave()
        self.device.end()
        self._keys.close()
        self._terminal.release()
        try:
            yield
        finally:
            self._terminal.take()
            self._keys.open(self._terminal.take_early())
            self.device.begin()
            screen.forget()


def build_app(engine: "Engine", around: InteractiveRun) -> "TerminalApp":
    from everturn.cli.interactive.choices import has_screen_read, uses_vi
    from everturn.cli.interactive.program import CliProgram
    from everturn.frontends.commands import COMMANDS, list_prompts
    from everturn.frontends.terminal.app import TerminalApp
    from everturn.frontends.terminal.commands import TerminalCommands
    from everturn.frontends.terminal.completions import Completions
    from everturn.frontends.terminal.editor import PromptEditor
    from everturn.frontends.terminal.files import FileIndex
    from everturn.frontends.terminal.history import PromptHistory
    from everturn.frontends.terminal.key_bindings_file import load_bindings
    from everturn.frontends.terminal.transcript import LiveTranscript
    from everturn.tools.project_files import list_project_files

    launch, person, setup = around.launch, around.person, around.launch.setup
    program = CliProgram(launch, around.open_engine)
    loop = asyncio.get_running_loop()

    def show_files() -> None:
        """Called by the thread that lists them, perhaps when all has ended."""
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(app.complete_again)

    files = FileIndex(
        lambda is_over: list_project_files(str(setup.folder), launch.env, trusted=setup.trusted, is_over=is_over),
        on_ready=show_files,
    )
    transcript = LiveTranscript(
        person.screen,
        asked_s=lambda: person.floor.waited_s,
        is_kept=lambda: app.agent.is_kept,
        only_managed=setup.written.only_managed_rules,
        spins=not has_screen_read(launch.merged),
        folder=str(setup.folder),
        show_details=lambda details: app.show_details(details),  # noqa: PLW0108 (there is no app yet)
    )
    app: TerminalApp = TerminalApp(
        engine,
        transcript=transcript,
        editor=PromptEditor(vi=uses_vi(launch.merged)),
        past=PromptHistory(str(setup.home), str(setup.folder), writes=setup.options.persist),
        completions=Completions(
            lambda: (*app.work.commands, *list_prompts(app.agent)), files=files, list_folders=program.list_folders
        ),
        person=person,
        program=program,
        bindings=load_bindings(str(setup.home)),
        device=around.device,
        suspend=around.suspend,
        lend=around.lent,
    )
    app.work.commands = tuple(
        sorted((*COMMANDS, *TerminalCommands(app, program).table), key=lambda command: command.name)
    )
    person.screen.tell_changed(app.plan_frame)
    return app


def is_cut_off(engine: "Engine") -> bool:
    """The last query goes on by itself, unless the person has interrupted it."""
    from everturn.core.messages import Kind

    return engine.is_unfinished and engine.transcript[-1].kind is not Kind.INTERRUPTION


def listen(app: "TerminalApp") -> None:
    """To the terminal's size, and to those who end us."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGWINCH, app.resize)
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, app.leave, Exit.TERMINATED)
    loop.add_signal_handler(signal.SIGINT, app.leave, Exit.INTERRUPTED)

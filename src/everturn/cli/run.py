"""`everturn -p`: one prompt through a real engine, from the command line to an exit code."""

import asyncio
import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everturn.cli.arguments import Arguments
from everturn.cli.console import complain, complain_at_length
from everturn.cli.options import plan_fields
from everturn.cli.signals import Interruptions
from everturn.cli.standard_input import compose_prompt
from everturn.cli.usage import UsageError
from everturn.compose.cli import Launch, build_model, has_credentials, plan_launch, program_home
from everturn.core.state import Exit

if TYPE_CHECKING:
    from everturn.cli.debug import DebugLog
    from everturn.cli.watched import WatchedEngine
    from everturn.frontends.headless.view import Introduction
    from everturn.ports.model import Model

NO_KEY = (
    "there is no key for the model. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) in the environment, or name a "
    "command that prints one: everturn config set apiKeyHelper 'COMMAND'. To watch Everturn work without a key, try: "
    "everturn demo"
)


def run_prompt(arguments: Arguments) -> int:
    home = program_home(os.environ)
    fields = plan_fields(arguments, home, find_folder())
    launch = plan_launch(fields, os.environ, given=arguments.get("--settings"))
    prompt = compose_prompt(arguments.words, may_go_on="--continue" in arguments or "--resume" in arguments)
    if not has_credentials(launch) and asks_the_model(prompt):
        complain_at_length(NO_KEY)
        return Exit.USAGE
    # Tools inherit the environment of the process, and with it what the settings add.
    os.environ.update(launch.env)
    log = open_asked_log(arguments, home)
    try:
        return asyncio.run(run_query(launch, prompt, arguments, log))
    finally:
        if log is not None:
            log.close()


def find_folder() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError(f"the working folder cannot be used: {error.strerror}") from None


def asks_the_model(prompt: str | None) -> bool:
    """Most slash commands do not, so that they need no key."""
    if prompt is None:
        return True
    from everturn.frontends.commands import COMMANDS, Invoked, parse_command

    invoked = parse_command(prompt, COMMANDS)
    return invoked is None or (isinstance(invoked, Invoked) and invoked.command.name == "compact")


def open_asked_log(arguments: Arguments, home: Path) -> "DebugLog | None":
    if "--debug" not in arguments and "--debug-bodies" not in arguments:
        return None
    from everturn.cli.debug import open_log

    named = arguments.get("--debug") or True
    log = open_log(named, home, os.environ, bodies="--debug-bodies" in arguments)
    complain(f"the debug log is {log.path}")
    return log


async def run_query(launch: Launch, prompt: str | None, arguments: Arguments, log: "DebugLog | None") -> int:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 (a coroutine that runs has a task)
    interruptions = Interruptions(task)
    model = build_model(launch, wrap=log.wrap if log else None)
    warming = asyncio.create_task(model.warm())
    try:
        # Off the loop, which opens the connection meanwhile: imports take as long as a handshake.
        await asyncio.to_thread(load_engine)
        async with build_engine(launch, model, arguments, log) as engine:
            interruptions.guard(engine)
            gc.enable()
            gc.freeze()
            return await show_answer(engine, prompt, launch, arguments)
    except asyncio.CancelledError:
        if interruptions.exit is None:
            raise
        return interruptions.exit
    finally:
        warming.cancel()
        await model.aclose()


def load_engine() -> None:
    import everturn.cli.watched
    import everturn.frontends.headless.run  # noqa: F401 (both are imported again, by name, where they are used)


def build_engine(launch: Launch, model: "Model", arguments: Arguments, log: "DebugLog | None") -> "WatchedEngine":
    from everturn.cli.watched import WatchedEngine

    watch = log.note if log else None
    if log is None and "--verbose" in arguments and shows_plain_text(arguments):
        from everturn.cli.verbose import tell_event

        watch = tell_event
    engine = WatchedEngine(launch.options, env=launch.env, model=model, watch=watch, typed=arguments.given)
    for warning in launch.warnings:
        engine.note(warning)
    return engine


async def show_answer(engine: "WatchedEngine", prompt: str | None, launch: Launch, arguments: Arguments) -> int:
    from everturn.frontends.headless.run import run_headless
    from everturn.frontends.headless.view import OutputFormat

    return await run_headless(
        engine,
        prompt,
        out=_binary(sys.stdout),
        err=_binary(sys.stderr),
        output_format=OutputFormat(arguments.get("--output-format") or "text"),
        is_terminal=_is_terminal(),
        include_partial="--include-partial-messages" in arguments,
        introduction=introduce(engine, launch),
        card_of=engine.card_of,
        env=launch.env,
    )


def introduce(engine: "WatchedEngine", launch: Launch) -> "Introduction":
    from everturn import __version__
    from everturn.frontends.headless.view import Introduction

    return Introduction(
        version=__version__,
        folder=str(launch.setup.folder),
        tools=engine.tool_names,
        api_key_source=launch.key_source,
        betas=launch.setup.betas,
        is_kept=engine.is_kept,
    )


def shows_plain_text(arguments: Arguments) -> bool:
    return arguments.get("--output-format") in {None, "text"} and not _is_terminal()


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _binary(stream: Any) -> Any:
    """None where the descriptor was closed before we started."""
    return None if stream is None else stream.buffer

"""`everturn -p`: one prompt through a real engine, from the command line to an exit code."""

import asyncio
import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everturn.cli.console import complain, complain_at_length, unechoed_controls
from everturn.cli.errors import UnknownSessionError
from everturn.cli.folder import find_folder
from everturn.cli.options import plan_asked, plan_fields
from everturn.cli.preload import HEAD_START_S, load_behind
from everturn.cli.signals import Interruptions
from everturn.cli.standard_input import compose_prompt
from everturn.cli.syntax import Arguments
from everturn.compose.cli import Launch, build_model, build_program_parts, plan_launch
from everturn.core.errors import JournalError
from everturn.core.modes import PermissionMode
from everturn.core.spelled_paths import spell_path
from everturn.core.state import Exit
from everturn.settings.program_files import program_home

if TYPE_CHECKING:
    from collections.abc import Callable

    from everturn.cli.debug import DebugLog
    from everturn.cli.person import Person
    from everturn.core.events import Event
    from everturn.engine.engine import Engine
    from everturn.frontends.headless.view import Introduction
    from everturn.ports.model import Model
    from everturn.ports.policy import Approver
    from everturn.workspace.git_count import GitCount

NO_KEY = (
    "there is no key for the model. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) in the environment, or name a "
    "command that prints one: everturn config set apiKeyHelper 'COMMAND'. To watch Everturn work without a key, try: "
    "everturn demo"
)


def run_prompt(arguments: Arguments) -> int:
    """A program that reads JSON is told in JSON that there is no such session, too."""
    try:
        return answer_prompt(arguments)
    except (UnknownSessionError, JournalError) as error:
        if shows_text(arguments):
            raise
        return tell_refusal(str(error), arguments)


def tell_refusal(text: str, arguments: Arguments) -> int:
    """The result alone: without a session there is nothing to introduce."""
    from everturn.frontends.headless.endings import refused_result
    from everturn.frontends.headless.json_result import JsonResult
    from everturn.frontends.headless.run import guess_card, new_id
    from everturn.frontends.headless.sink import Sink

    name = arguments.get("--resume")
    result = refused_result(name if isinstance(name, str) else "", text, exit_code=Exit.ERROR)
    out = Sink(_binary(sys.stdout))
    view = JsonResult(out.escaped() if _is_terminal() else out, Sink(None), card_of=guess_card, new_id=new_id)
    view.handlers[type(result)](result)
    return result.exit


def answer_prompt(arguments: Arguments) -> int:
    home = program_home(os.environ)
    fields = plan_fields(arguments, home, find_folder())
    launch = plan_trusted_launch(fields, arguments)
    prompt = compose_prompt(arguments.words, may_go_on="--continue" in arguments or "--resume" in arguments)
    if not launch.has_credentials and asks_the_model(prompt):
        complain_at_length(NO_KEY)
        return Exit.USAGE
    # Tools inherit the environment of the process, and with it what the settings add.
    os.environ.update(launch.env)
    log = open_asked_log(arguments, home)
    try:
        with unechoed_controls():
            return asyncio.run(run_query(launch, prompt, arguments, log))
    finally:
        if log is not None:
            log.close()


def plan_trusted_launch(fields: dict[str, Any], arguments: Arguments) -> Launch:
    """A person at a terminal is asked, once, about a folder whose settings would be held back."""
    asked = plan_asked(arguments)
    launch = plan_launch(fields, os.environ, asked)
    if launch.merged.held and shows_text(arguments) and sys.stdin is not None and sys.stdin.isatty():
        from everturn.cli.trust.question import ask_for_trust

        if ask_for_trust(launch.roots, os.environ, asked):
            return plan_launch(fields, os.environ, asked)
    return launch


def asks_the_model(prompt: str | None) -> bool:
    """Most slash commands do not, so that they need no key."""
    if prompt is None:
        return True
    from everturn.frontends.commands import COMMANDS, Invoked, parse_command

    invoked = parse_command(prompt, COMMANDS)
    if not isinstance(invoked, Invoked):
        return invoked is None
    return bool(invoked.command.prompt) or invoked.command.by_server or invoked.command.name in {"compact", "btw"}


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
    git = begin_git_count(launch)
    try:
        # Off the loop, which opens the connection meanwhile: imports take as long as a handshake.
        await asyncio.to_thread(load_engine)
        person = find_asked_person(launch, arguments)
        async with build_engine(launch, model, arguments, person, git=git) as engine:
            interruptions.guard(engine)
            gc.enable()
            gc.freeze()
            loading = asyncio.get_running_loop().call_later(HEAD_START_S, load_behind)
            try:
                return await show_answer(
                    engine, prompt, launch, arguments, person=person, watch=choose_watch(arguments, log)
                )
            finally:
                loading.cancel()
                warn_of_running(engine)
    except asyncio.CancelledError:
        if interruptions.exit is None:
            raise
        return interruptions.exit
    finally:
        warming.cancel()
        await model.aclose()


def begin_git_count(launch: Launch) -> "GitCount | None":
    """Before the engine is loaded, so that git has counted when the first request is made."""
    if not launch.setup.trusted:
        return None
    from everturn.compose.system import begin_count

    return begin_count(launch.setup, launch.env)


def load_engine() -> None:
    import everturn.compose.engine
    import everturn.frontends.headless.run  # noqa: F401 (both are imported again, by name, where they are used)


def find_asked_person(launch: Launch, arguments: Arguments) -> "Person | None":
    """Programs that read JSON are asked by other means."""
    if arguments.get("--output-format") not in {None, "text"} or sys.stdin is None or not sys.stdin.isatty():
        return None
    from everturn.cli.person import find_person

    return find_person(launch.env)


def build_engine(
    launch: Launch,
    model: "Model",
    arguments: Arguments,
    person: "Approver | None" = None,
    *,
    git: "GitCount | None" = None,
) -> "Engine":
    from everturn.cli.names import name_option
    from everturn.engine.engine import Engine
    from everturn.sessions.line_reader import tell_slow_reading

    tell_slow_reading(complain)
    parts = build_program_parts(
        launch,
        model,
        person=person,
        is_watched=shows_text(arguments) and _is_terminal(),
        is_interactive="--print" not in arguments,
        name_option=lambda field: name_option(field, arguments.given),
        git=git,
    )
    engine = Engine(parts=parts)
    launch.memory.tell = engine.tell
    for warning in launch.warnings:
        engine.note(warning)
    if engine.permission_mode == PermissionMode.BYPASS:
        from everturn.cli.options import warn_root

        if warning := warn_root(PermissionMode.BYPASS, launch.options.sandbox):
            engine.note(warning)
    return engine


def choose_watch(arguments: Arguments, log: "DebugLog | None") -> "Callable[[Event], None] | None":
    """What sees every event besides the frontend: the debug log, or sentences on standard error."""
    if log is not None:
        return log.note
    if "--verbose" in arguments and shows_plain_text(arguments):
        from everturn.cli.verbose import tell_event

        return tell_event
    return None


def warn_of_running(engine: "Engine") -> None:
    """What runs in the background ends with the program."""
    for task in engine.tasks.running:
        complain(f"still running in the background, and ended now: {task.report().description}")


async def show_answer(
    engine: "Engine",
    prompt: str | None,
    launch: Launch,
    arguments: Arguments,
    *,
    person: "Person | None" = None,
    watch: "Callable[[Event], None] | None" = None,
) -> int:
    from everturn.frontends.headless.run import run_headless
    from everturn.frontends.headless.view import OutputFormat

    # Before the first line, which says how they stand.
    await engine.start_servers()
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
        floor=person.floor if person else None,
        watch=watch,
    )


def introduce(engine: "Engine", launch: Launch) -> "Introduction":
    from everturn import __version__
    from everturn.frontends.headless.view import Introduction

    return Introduction(
        version=__version__,
        folder=spell_path(str(launch.setup.folder)),
        tools=engine.tool_names,
        api_key_source=launch.key_source,
        betas=launch.setup.betas,
        mcp_servers=tuple({"name": each.name, "status": str(each.state)} for each in engine.servers),
        is_kept=lambda: engine.is_kept,
        only_managed_rules=launch.setup.written.only_managed_rules,
    )


def shows_text(arguments: Arguments) -> bool:
    return arguments.get("--output-format") in {None, "text"}


def shows_plain_text(arguments: Arguments) -> bool:
    return shows_text(arguments) and not _is_terminal()


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _binary(stream: Any) -> Any:
    """None where the descriptor was closed before we started."""
    return None if stream is None else stream.buffer

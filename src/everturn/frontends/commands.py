"""The slash commands of every frontend: one table, and how a command is told from a prompt."""

import os
import re
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import msgspec

from everturn.core.errors import EverturnError
from everturn.core.events import Event, Level, Noticed
from everturn.core.notes import Goal
from everturn.core.state import AbortCause
from everturn.core.window import MCP_PREFIX
from everturn.frontends.command_prompts import INIT_PROMPT, REVIEW_PROMPT, SECURITY_PROMPT
from everturn.frontends.engine_controls import EngineControls
from everturn.frontends.figures import render_count, render_usd
from everturn.ports.context import Collapses

if TYPE_CHECKING:
    from everturn.frontends.ansi import Style
    from everturn.ports.servers import ServerReport

MAX_COLUMNS = 100
"""Of prose."""


class CommandOutput(msgspec.Struct, frozen=True, kw_only=True):
    """A command's own words, plain text."""

    text: str
    is_error: bool = False
    paint: "Callable[[Style, int], str] | None" = None
    """The same for a terminal, by its style and columns; None where there is nothing to paint."""
    detail: Any = None
    """The same for programs."""
    cause: AbortCause | None = None
    """Why the command was broken off, if it was."""


class Cleared(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation begins anew; everything later belongs to another session."""

    before: str
    """Id of the session that is done with."""
    conversation: "EngineControls"
    """The new one."""

    @property
    def after(self) -> str:
        return self.conversation.session_id


Reply = CommandOutput | Cleared | Event


class CommandRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a handler is given."""

    conversation: EngineControls
    arguments: str
    commands: tuple["SlashCommand", ...]
    """The whole table, for `/help`."""


class SlashCommand(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """Without the slash."""
    help: str
    """One line; what it does."""
    run: Callable[[CommandRequest], AsyncGenerator[Reply]] | None = None
    """None for a command that stands for a prompt."""
    prompt: str = ""
    """The prompt that it stands for; `$ARGUMENTS` in it is what follows the name."""
    arguments: str = ""
    """How they are written; a command without them takes none."""
    aliases: tuple[str, ...] = ()
    takes_folder: bool = False
    """Its argument is the path of a folder."""
    by_server: bool = False
    """An MCP server knows the prompt that it stands for."""
    beside: bool = False
    """It can be used while a prompt is at work: it only looks, or asks beside the conversation."""

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.arguments}".rstrip()


class Invoked(msgspec.Struct, frozen=True, kw_only=True):
    command: SlashCommand
    arguments: str


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    """Says so, and names what may have been meant."""


MAX_LINE_LENGTH = 200
_INVOCATION = r"/([A-Za-z][\w:-]*)(?:\s+(.*))?"


def parse_command(
    prompt: str, commands: tuple[SlashCommand, ...], *, exists: Callable[[str], bool] = os.path.lexists
) -> Invoked | Unknown | None:
    """None for a prompt: it starts with no slash, with a longer path, or with a path that exists (`/tmp is full`)."""
    if not prompt.startswith("/") or (match := re.fullmatch(_INVOCATION, prompt.rstrip(), re.DOTALL)) is None:
        return None
    name, arguments = match[1].lower(), (match[2] or "").strip()
    for command in commands:
        if name == command.name or name in command.aliases:
            return Invoked(command=command, arguments=arguments)
    if name.startswith(MCP_PREFIX):
        command = SlashCommand(name=match[1], help="A prompt of an MCP server.", arguments="[words]", by_server=True)
        return Invoked(command=command, arguments=arguments)
    return None if exists(f"/{match[1]}") else Unknown(text=_say_unknown(name, commands))


async def make_prompt(command: SlashCommand, arguments: str, conversation: EngineControls) -> str:
    """The prompt that a command stands for. Raises `EverturnError` where a server does not give it."""
    if command.by_server:
        return await conversation.fill_prompt(command.name, arguments)
    return command.prompt.replace("$ARGUMENTS", arguments).strip()


async def run_command(
    invoked: Invoked, conversation: EngineControls, commands: tuple[SlashCommand, ...]
) -> AsyncGenerator[Reply]:
    command, arguments = invoked.command, invoked.arguments
    if arguments and not command.arguments:
        yield CommandOutput(text=f"/{command.name} takes no arguments.", is_error=True)
        return
    assert command.run is not None  # noqa: S101 (a command that stands for a prompt is submitted)
    asked = CommandRequest(conversation=conversation, arguments=arguments, commands=commands)
    async with aclosing(command.run(asked)) as replies:
        async for reply in replies:
            yield reply


async def run_help(asked: CommandRequest) -> AsyncGenerator[Reply]:
    if not asked.arguments:
        yield CommandOutput(text=render_table(asked.commands))
        return
    match parse_command("/" + asked.arguments.removeprefix("/"), asked.commands, exists=lambda _: False):
        case Invoked(command=command):
            yield CommandOutput(text=render_command(command))
        case Unknown(text=text):
            yield CommandOutput(text=text, is_error=True)
        case None:
            yield CommandOutput(text=f"{asked.arguments!r} is no command. /help lists them.", is_error=True)


async def run_cost(asked: CommandRequest) -> AsyncGenerator[Reply]:
    from everturn.core.bill import Bill, Entry, split_charge
    from everturn.frontends.cost import render_summary

    conversation = asked.conversation
    bill = Bill(
        entries=tuple(
            Entry(
                model=model,
                calls=spent.calls,
                usage=spent.usage,
                paid=split_charge(spent.usage, spent.usd, conversation.price_lists(model)),
            )
            for model, spent in conversation.usage_by_model.items()
        )
    )
    head = f"This session cost {render_usd(conversation.total_usd)} so far (an estimate from list prices)."
    yield CommandOutput(text=f"{head}\n{render_summary(bill)}".rstrip())


async def run_context(asked: CommandRequest) -> AsyncGenerator[Reply]:
    from everturn.frontends.context_grid import encode_window, render_plain, render_window

    use = asked.conversation.window()
    yield CommandOutput(
        text=render_plain(use),
        paint=lambda style, columns: render_window(use, style, columns),
        detail=encode_window(use),
    )


async def run_status(asked: CommandRequest) -> AsyncGenerator[Reply]:
    from everturn.frontends.harmless import make_line

    conversation = asked.conversation
    transcript = conversation.transcript
    calls = sum(len(message.uses) for message in transcript)
    rows = {
        "Session": conversation.session_id,
        "Model": conversation.model,
        "Permissions": conversation.permission_mode,
        "Folders": ", ".join(map(make_line, conversation.folders)),
        "Transcript": f"{render_count(len(transcript), 'message')}, {render_count(calls, 'tool call')}",
        "Not allowed": render_count(len(conversation.denials), "tool call"),
        "Cost": render_usd(conversation.total_usd),
    }
    yield CommandOutput(text="\n".join(f"{label:<13}{value}" for label, value in rows.items()))


async def run_compact(asked: CommandRequest) -> AsyncGenerator[Reply]:
    conversation = asked.conversation
    last = Noticed(text="Nothing was compacted.", level=Level.WARNING)
    async with aclosing(conversation.compact(asked.arguments)) as events:
        async for event in events:
            if isinstance(event, Noticed):
                last = event
            else:
                yield event
    yield CommandOutput(text=last.text, is_error=last.level is Level.WARNING, cause=conversation.interruption)


async def run_pin(asked: CommandRequest) -> AsyncGenerator[Reply]:
    conversation = asked.conversation
    try:
        if asked.arguments:
            conversation.pin(asked.arguments)
    except EverturnError as error:
        yield CommandOutput(text=str(error), is_error=True)
        return
    pins = conversation.notes.pins
    listing = "\n".join(f"{number}. {pin}" for number, pin in enumerate(pins, 1))
    yield CommandOutput(text=listing or "No note is pinned. /pin TEXT pins one, which every summary keeps.")


async def run_unpin(asked: CommandRequest) -> AsyncGenerator[Reply]:
    if not asked.arguments.isdecimal():
        yield CommandOutput(text="Give the number of a note, as /pin lists them: /unpin 1", is_error=True)
        return
    try:
        yield CommandOutput(text=f"No longer pinned: {asked.conversation.unpin(int(asked.arguments))}")
    except EverturnError as error:
        yield CommandOutput(text=str(error), is_error=True)


async def run_btw(asked: CommandRequest) -> AsyncGenerator[Reply]:
    try:
        answer = await asked.conversation.ask_aside(asked.arguments)
    except EverturnError as error:
        yield CommandOutput(text=str(error), is_error=True)
    else:
        if answer.text:
            yield CommandOutput(
                text=answer.text, paint=lambda style, columns: paint_markdown(answer.text, style, columns)
            )
        else:
            yield CommandOutput(
                text="There is no answer: the model wanted to use a tool, which a side question cannot."
            )


def paint_markdown(text: str, style: "Style", columns: int) -> str:
    from everturn.core.masking import mask_keys
    from everturn.frontends.flow import Flow
    from everturn.frontends.harmless import make_harmless
    from everturn.frontends.markdown import Markdown

    markdown, flow = (
        Markdown(bare=not style.colour),
        Flow(style, min(columns - 1, MAX_COLUMNS), table_columns=columns - 1),
    )
    pieces = [*markdown.feed(mask_keys(make_harmless(text.strip()))), *markdown.finish()]
    return f"{flow.lay(pieces)}{flow.finish()}\n"


async def run_goal(asked: CommandRequest) -> AsyncGenerator[Reply]:
    conversation = asked.conversation
    text, given, command = asked.arguments.partition("--verify")
    try:
        match asked.arguments:
            case "":
                goal = conversation.goal
                said = render_goal(goal) if goal else "There is no goal. /goal TEXT --verify COMMAND sets one."
            case "clear":
                taken = conversation.clear_goal()
                said = f"No longer a goal: {taken.text}" if taken else "There was no goal."
            case _ if not given or not command.strip():
                yield CommandOutput(text="Say how it is verified: /goal TEXT --verify COMMAND", is_error=True)
                return
            case _:
                goal = await conversation.set_goal(text.strip() or "The command succeeds.", command)
                said = f"{render_goal(goal)}\nIt holds from the next prompt on, until it is met."
    except EverturnError as error:
        yield CommandOutput(text=str(error), is_error=True)
    else:
        yield CommandOutput(text=said)


def render_goal(goal: Goal) -> str:
    return f"Goal: {goal.text}\nVerified by: {goal.command}"


async def run_collapses(asked: CommandRequest) -> AsyncGenerator[Reply]:
    store = asked.conversation.collapses
    shown = (*store.committed, *store.staged)
    word, _, number = asked.arguments.partition(" ")
    if not asked.arguments:
        yield CommandOutput(text=render_collapses(store) or "Nothing is collapsed: all of the conversation is sent.")
    elif word == "undo" and number.strip().isdecimal() and 1 <= int(number) <= len(shown):
        store.undo(shown[int(number) - 1].id)
        yield CommandOutput(
            text=f"Undone: {render_line(shown[int(number) - 1].summary)} The original messages are sent again."
        )
    else:
        yield CommandOutput(text="Say which one, as /collapses lists them: /collapses undo 1", is_error=True)


def render_collapses(store: Collapses) -> str:
    rows = [(note, "sent instead of the messages that it summarises") for note in store.committed]
    rows += [(note, "waits until room is needed") for note in store.staged]
    return "\n".join(f"{n}. ({state}) {render_line(note.summary)}" for n, (note, state) in enumerate(rows, 1))


def render_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_LINE_LENGTH else f"{line[: MAX_LINE_LENGTH - 1]}…"


def list_prompts(conversation: EngineControls) -> tuple[SlashCommand, ...]:
    """The prompts of MCP servers, as commands."""
    return tuple(
        SlashCommand(name=name, arguments="[words]", help=f"A prompt of the MCP server {server.name}.", by_server=True)
        for server in conversation.servers
        for name in server.prompts
    )


async def run_mcp(asked: CommandRequest) -> AsyncGenerator[Reply]:
    servers = asked.conversation.servers
    if not servers:
        yield CommandOutput(text="No MCP server is configured. `everturn mcp add` adds one.")
        return
    yield CommandOutput(
        text="\n".join(line for server in servers for line in render_server(server)),
        detail=[msgspec.to_builtins(server) for server in servers],
    )


def render_server(server: "ServerReport") -> Iterator[str]:
    from everturn.frontends.harmless import make_line

    version = f", {server.version}" if server.version else ""
    yield f"{make_line(server.name)}: {server.state} ({server.kind}{version}; {make_line(server.origin)})"
    if server.fault:
        yield f"  {make_line(server.fault)}"
    for title, names in (
        ("tools", server.tools),
        ("prompts", tuple(f"/{name}" for name in server.prompts)),
        ("left out, since their definition changed", server.left_out),
    ):
        if names:
            yield f"  {title}: {make_line(', '.join(names))}"


async def run_clear(asked: CommandRequest) -> AsyncGenerator[Reply]:
    before, something_was_said = asked.conversation.session_id, bool(asked.conversation.transcript)
    after = asked.conversation.clear()
    yield Cleared(before=before, conversation=after)
    # A session in which nothing was said leaves nothing behind that its id could name.
    where = f" The one before was {before}." if something_was_said else ""
    yield CommandOutput(text=f"A new conversation begins.{where}")


async def run_rename(asked: CommandRequest) -> AsyncGenerator[Reply]:
    try:
        yield CommandOutput(text=f"This session is called {asked.conversation.rename(asked.arguments)!r} now.")
    except EverturnError as error:
        yield CommandOutput(text=str(error), is_error=True)


async def run_export(asked: CommandRequest) -> AsyncGenerator[Reply]:
    try:
        path = asked.conversation.export(asked.arguments)
    except EverturnError as error:
        yield CommandOutput(text=str(error), is_error=True)
    else:
        yield CommandOutput(text=f"Exported to {path}. Keys that were recognised are masked; look before you share.")


def render_table(commands: tuple[SlashCommand, ...]) -> str:
    width = max(len(command.usage) for command in commands)
    return "\n".join(f"{command.usage:<{width}}  {command.help}" for command in commands)


def render_command(command: SlashCommand) -> str:
    aliases = f"\nAlso: {', '.join(f'/{alias}' for alias in command.aliases)}" if command.aliases else ""
    return f"{command.usage}\n{command.help}{aliases}"


def _say_unknown(name: str, commands: tuple[SlashCommand, ...]) -> str:
    from difflib import get_close_matches

    names = [word for command in commands for word in (command.name, *command.aliases)]
    near = get_close_matches(name, names, n=1)
    meant = f"Did you mean /{near[0]}?" if near else "/help lists the commands."
    return f"There is no command /{name}. {meant} (For a prompt that starts with a slash, put a space before it.)"


COMMANDS = (
    SlashCommand(
        name="help", arguments="[command]", help="List the commands, or explain one.", run=run_help, beside=True
    ),
    SlashCommand(
        name="cost",
        help="Say what this session cost, by model, and for what.",
        run=run_cost,
        beside=True,
        aliases=("usage",),
    ),
    SlashCommand(
        name="context", help="Show where the context window goes, as a picture.", run=run_context, beside=True
    ),
    SlashCommand(name="status", help="Show session, model, permissions and transcript.", run=run_status, beside=True),
    SlashCommand(
        name="compact",
        arguments="[instructions]",
        help="Summarise the conversation now, keeping what you ask.",
        run=run_compact,
    ),
    SlashCommand(
        name="btw",
        arguments="QUESTION",
        help="Ask beside the conversation; nothing of it is kept.",
        run=run_btw,
        beside=True,
    ),
    SlashCommand(name="mcp", help="List the MCP servers and their tools.", run=run_mcp, beside=True),
    SlashCommand(
        name="collapses",
        arguments="[undo NUMBER]",
        help="List what is sent in shortened form, or undo it.",
        run=run_collapses,
    ),
    SlashCommand(
        name="goal",
        arguments="TEXT --verify CMD",
        help="Work until a command succeeds; show it, or `clear`.",
        run=run_goal,
    ),
    SlashCommand(name="pin", arguments="[text]", help="Pin a note, which summaries keep, or list all.", run=run_pin),
    SlashCommand(name="unpin", arguments="NUMBER", help="Remove a pinned note.", run=run_unpin),
    SlashCommand(name="rename", arguments="TITLE", help="Give this session a title.", run=run_rename),
    SlashCommand(
        name="export",
        arguments="[file]",
        help="Write it to a file: Markdown, .html or .json.",
        run=run_export,
    ),
    SlashCommand(
        name="init",
        arguments="[what to mind]",
        help="Let the model write AGENTS.md: how work is done here.",
        prompt=INIT_PROMPT,
    ),
    SlashCommand(
        name="review",
        arguments="[what]",
        help="Let the model review the changes, or what you name.",
        prompt=REVIEW_PROMPT,
        aliases=("code-review",),
    ),
    SlashCommand(
        name="security-review",
        arguments="[what]",
        help="Let the model look for security faults.",
        prompt=SECURITY_PROMPT,
    ),
    SlashCommand(name="clear", help="Start a new, empty conversation.", run=run_clear, aliases=("new", "reset")),
)
"""Every frontend offers these."""

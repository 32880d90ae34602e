"""The slash commands of every frontend: one table, and how a command is told from a prompt."""

import os
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from everturn.core.budget import Prices
from everturn.core.errors import EverturnError
from everturn.core.events import Denial, Event, Level, ModelUsage, Noticed
from everturn.core.messages import Message
from everturn.core.notes import Notes
from everturn.core.records import CollapseNoted
from everturn.core.state import AbortCause
from everturn.core.window import WindowUse
from everturn.frontends.figures import render_count, render_usd

if TYPE_CHECKING:
    from everturn.frontends.ansi import Style


class Collapses(Protocol):
    @property
    def staged(self) -> tuple[CollapseNoted, ...]:
        """Written, but what they stand for is still sent."""
        ...

    @property
    def committed(self) -> tuple[CollapseNoted, ...]: ...

    def undo(self, id_: str) -> bool: ...


class Conversation(Protocol):
    """What a command may ask of the engine, and do to it."""

    @property
    def session_id(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def permission_mode(self) -> str: ...

    @property
    def transcript(self) -> tuple[Message, ...]: ...

    @property
    def denials(self) -> tuple[Denial, ...]: ...

    @property
    def total_usd(self) -> float: ...

    @property
    def usage_by_model(self) -> dict[str, ModelUsage]:
        """Of the session so far."""
        ...

    def price_lists(self, model: str) -> tuple[Prices, ...]:
        """What it may be charged at, the usual prices first."""
        ...

    def window(self) -> WindowUse:
        """What the next request would take of the model's window."""
        ...

    @property
    def notes(self) -> Notes: ...

    def pin(self, text: str) -> None:
        """Keeps a note that no compaction may lose."""
        ...

    def unpin(self, number: int) -> str:
        """The note that is kept no longer. Raises `OptionError`."""
        ...

    @property
    def collapses(self) -> Collapses:
        """Summaries that stand for finished stretches."""
        ...

    @property
    def interruption(self) -> AbortCause | None:
        """Why the last work was broken off, if it was."""
        ...

    def compact(self, instructions: str = "") -> AsyncGenerator[Event]:
        """The last event is a notice that says what came of it."""
        ...

    def clear(self) -> None:
        """An empty transcript under a new session id."""
        ...

    def rename(self, title: str) -> str:
        """The title as it was kept. Raises `JournalError`."""
        ...

    def export(self, file: str = "") -> str:
        """The path of what was written. Raises `JournalError`."""
        ...


class Said(msgspec.Struct, frozen=True, kw_only=True):
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
    """The conversation begins anew; everything later belongs to the session `after`."""

    before: str
    after: str


Reply = Said | Cleared | Event


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a handler is given."""

    conversation: Conversation
    arguments: str
    commands: tuple["Command", ...]
    """The whole table, for `/help`."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """Without the slash."""
    help: str
    """One line; what it does."""
    run: Callable[[Asked], AsyncGenerator[Reply]]
    arguments: str = ""
    """How they are written; a command without them takes none."""
    aliases: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.arguments}".rstrip()


class Invoked(msgspec.Struct, frozen=True, kw_only=True):
    command: Command
    arguments: str


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    """Says so, and names what may have been meant."""


LONGEST_LINE = 200
_INVOCATION = r"/([A-Za-z][\w:-]*)(?:\s+(.*))?"


def parse_command(
    prompt: str, commands: tuple[Command, ...], *, exists: Callable[[str], bool] = os.path.lexists
) -> Invoked | Unknown | None:
    """None for a prompt: it starts with no slash, with a longer path, or with a path that exists (`/tmp is full`)."""
    if not prompt.startswith("/") or (match := re.fullmatch(_INVOCATION, prompt.rstrip(), re.DOTALL)) is None:
        return None
    name, arguments = match[1].lower(), (match[2] or "").strip()
    for command in commands:
        if name == command.name or name in command.aliases:
            return Invoked(command=command, arguments=arguments)
    return None if exists(f"/{match[1]}") else Unknown(text=_say_unknown(name, commands))


async def run_command(
    invoked: Invoked, conversation: Conversation, commands: tuple[Command, ...]
) -> AsyncGenerator[Reply]:
    command, arguments = invoked.command, invoked.arguments
    if arguments and not command.arguments:
        yield Said(text=f"/{command.name} takes no arguments.", is_error=True)
        return
    asked = Asked(conversation=conversation, arguments=arguments, commands=commands)
    async with aclosing(command.run(asked)) as replies:
        async for reply in replies:
            yield reply


async def run_help(asked: Asked) -> AsyncGenerator[Reply]:
    if not asked.arguments:
        yield Said(text=render_table(asked.commands))
        return
    match parse_command("/" + asked.arguments.removeprefix("/"), asked.commands, exists=lambda _: False):
        case Invoked(command=command):
            yield Said(text=render_command(command))
        case Unknown(text=text):
            yield Said(text=text, is_error=True)
        case None:
            yield Said(text=f"{asked.arguments!r} is no command. /help lists them.", is_error=True)


async def run_cost(asked: Asked) -> AsyncGenerator[Reply]:
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
    yield Said(text=f"{head}\n{render_summary(bill)}".rstrip())


async def run_context(asked: Asked) -> AsyncGenerator[Reply]:
    from everturn.frontends.context_grid import encode_window, render_plain, render_window

    use = asked.conversation.window()
    yield Said(
        text=render_plain(use),
        paint=lambda style, columns: render_window(use, style, columns),
        detail=encode_window(use),
    )


async def run_status(asked: Asked) -> AsyncGenerator[Reply]:
    conversation = asked.conversation
    transcript = conversation.transcript
    calls = sum(len(message.uses) for message in transcript)
    rows = {
        "Session": conversation.session_id,
        "Model": conversation.model,
        "Permissions": conversation.permission_mode,
        "Transcript": f"{render_count(len(transcript), 'message')}, {render_count(calls, 'tool call')}",
        "Not allowed": render_count(len(conversation.denials), "tool call"),
        "Cost": render_usd(conversation.total_usd),
    }
    yield Said(text="\n".join(f"{label:<13}{value}" for label, value in rows.items()))


async def run_compact(asked: Asked) -> AsyncGenerator[Reply]:
    conversation = asked.conversation
    last = Noticed(text="Nothing was compacted.", level=Level.WARNING)
    async with aclosing(conversation.compact(asked.arguments)) as events:
        async for event in events:
            if isinstance(event, Noticed):
                last = event
            else:
                yield event
    yield Said(text=last.text, is_error=last.level is Level.WARNING, cause=conversation.interruption)


async def run_pin(asked: Asked) -> AsyncGenerator[Reply]:
    conversation = asked.conversation
    try:
        if asked.arguments:
            conversation.pin(asked.arguments)
    except EverturnError as error:
        yield Said(text=str(error), is_error=True)
        return
    pins = conversation.notes.pins
    listing = "\n".join(f"{number}. {pin}" for number, pin in enumerate(pins, 1))
    yield Said(text=listing or "No note is pinned. /pin TEXT keeps one through every compaction.")


async def run_unpin(asked: Asked) -> AsyncGenerator[Reply]:
    if not asked.arguments.isdecimal():
        yield Said(text="Give the number of a note, as /pin lists them: /unpin 1", is_error=True)
        return
    try:
        yield Said(text=f"No longer pinned: {asked.conversation.unpin(int(asked.arguments))}")
    except EverturnError as error:
        yield Said(text=str(error), is_error=True)


async def run_collapses(asked: Asked) -> AsyncGenerator[Reply]:
    store = asked.conversation.collapses
    shown = (*store.committed, *store.staged)
    word, _, number = asked.arguments.partition(" ")
    if not asked.arguments:
        yield Said(text=render_collapses(store) or "Nothing is collapsed: all of the conversation is sent.")
    elif word == "undo" and number.strip().isdecimal() and 1 <= int(number) <= len(shown):
        store.undo(shown[int(number) - 1].id)
        yield Said(text=f"Undone: {render_line(shown[int(number) - 1].summary)} What it stands for is sent as it was.")
    else:
        yield Said(text="Say which one, as /collapses lists them: /collapses undo 1", is_error=True)


def render_collapses(store: Collapses) -> str:
    rows = [(note, "sent in place of what it stands for") for note in store.committed]
    rows += [(note, "waits until room is needed") for note in store.staged]
    return "\n".join(f"{n}. ({state}) {render_line(note.summary)}" for n, (note, state) in enumerate(rows, 1))


def render_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"


async def run_clear(asked: Asked) -> AsyncGenerator[Reply]:
    before = asked.conversation.session_id
    asked.conversation.clear()
    yield Cleared(before=before, after=asked.conversation.session_id)
    yield Said(text=f"A new conversation begins. The one before was {before}.")


async def run_rename(asked: Asked) -> AsyncGenerator[Reply]:
    try:
        yield Said(text=f"This session is called {asked.conversation.rename(asked.arguments)!r} now.")
    except EverturnError as error:
        yield Said(text=str(error), is_error=True)


async def run_export(asked: Asked) -> AsyncGenerator[Reply]:
    try:
        path = asked.conversation.export(asked.arguments)
    except EverturnError as error:
        yield Said(text=str(error), is_error=True)
    else:
        yield Said(text=f"Exported to {path}. Keys that were recognised are masked; look before you share.")


def render_table(commands: tuple[Command, ...]) -> str:
    width = max(len(command.usage) for command in commands)
    return "\n".join(f"{command.usage:<{width}}  {command.help}" for command in commands)


def render_command(command: Command) -> str:
    aliases = f"\nAlso: {', '.join(f'/{alias}' for alias in command.aliases)}" if command.aliases else ""
    return f"{command.usage}\n{command.help}{aliases}"


def _say_unknown(name: str, commands: tuple[Command, ...]) -> str:
    from difflib import get_close_matches

    names = [word for command in commands for word in (command.name, *command.aliases)]
    near = get_close_matches(name, names, n=1)
    meant = f"Did you mean /{near[0]}?" if near else "/help lists the commands."
    return f"There is no command /{name}. {meant} (For a prompt that starts with a slash, put a space before it.)"


COMMANDS = (
    Command(name="help", arguments="[command]", help="List the commands, or explain one.", run=run_help),
    Command(name="cost", help="Say what this session cost, by model, and for what.", run=run_cost, aliases=("usage",)),
    Command(name="context", help="Show where the context window goes, as a picture.", run=run_context),
    Command(name="status", help="Show session, model, permissions and transcript.", run=run_status),
    Command(
        name="compact",
        arguments="[instructions]",
        help="Summarise the conversation now, keeping what you ask.",
        run=run_compact,
    ),
    Command(
        name="collapses",
        arguments="[undo NUMBER]",
        help="List what is sent in short, or take it back.",
        run=run_collapses,
    ),
    Command(name="pin", arguments="[text]", help="Keep a note through every compaction, or list them.", run=run_pin),
    Command(name="unpin", arguments="NUMBER", help="Keep a note no longer.", run=run_unpin),
    Command(name="rename", arguments="TITLE", help="Give this session a title.", run=run_rename),
    Command(
        name="export",
        arguments="[file]",
        help="Write it to a file: Markdown, .html or .json.",
        run=run_export,
    ),
    Command(name="clear", help="Start a new, empty conversation.", run=run_clear, aliases=("new", "reset")),
)
"""Every frontend offers these."""

"""The engine as the program runs it: it says whether it is at work, and shows every event to the debug log."""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import aclosing

from everturn.cli.names import name_option
from everturn.compose.git_count import GitCount
from everturn.compose.library import Engine
from everturn.core.events import Event
from everturn.engine.prompts import Prompt
from everturn.ports.model import Model, ModelCard
from everturn.ports.rules import LivePermissions
from everturn.sessions.memory import MemoryJournal
from everturn.sessions.waiting import WaitingJournal
from everturn.settings.options import Options

Watch = Callable[[Event], None]


class WatchedEngine(Engine):
    def __init__(
        self,
        options: Options,
        *,
        env: Mapping[str, str],
        model: Model | None,
        watch: Watch | None = None,
        typed: Collection[str] = (),
        live: LivePermissions | None = None,
        git: GitCount | None = None,
    ) -> None:
        """`typed` are the flags of the command line."""
        self._typed = typed
        super().__init__(options, env=env, model=model, live=live, git=git)
        self._watch = watch

    def name_option(self, field: str) -> str:
        return name_option(field, self._typed)

    @property
    def at_work(self) -> bool:
        """A signal that comes now has a query to end."""
        return self._busy

    @property
    def is_kept(self) -> bool:
        """False where the session lives in memory: asked for, or for want of a writable home, which may come back."""
        journal = self._deps.journal
        waits = isinstance(journal, WaitingJournal) and journal.path is None
        return not waits and not isinstance(journal, MemoryJournal)

    @property
    def tool_names(self) -> tuple[str, ...]:
        return tuple(tool.name for tool in self._agent.tools)

    def card_of(self, model: str) -> ModelCard:
        return self._deps.catalog.card(model)

    def submit(self, prompt: Prompt) -> AsyncGenerator[Event]:
        events = super().submit(prompt)
        return watched(events, self._watch) if self._watch else events

    def resume_query(self) -> AsyncGenerator[Event]:
        events = super().resume_query()
        return watched(events, self._watch) if self._watch else events

    def compact(self, instructions: str = "") -> AsyncGenerator[Event]:
        events = super().compact(instructions)
        return watched(events, self._watch) if self._watch else events


async def watched(events: AsyncGenerator[Event], watch: Watch) -> AsyncGenerator[Event]:
    async with aclosing(events) as stream:
        async for event in stream:
            watch(event)
            yield event

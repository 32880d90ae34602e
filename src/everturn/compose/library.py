"""The library profile: options in, an engine out."""

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from everturn.compose.building import Parts
from everturn.compose.git_count import GitCount
from everturn.compose.live_policy import LivePolicy
from everturn.compose.live_rules import LiveRules
from everturn.compose.scratch import SessionScratch
from everturn.core.errors import BusyError, ClosedError
from everturn.core.events import Event, Level, Noticed
from everturn.engine import engine as engine_room
from everturn.engine.prompts import Prompt
from everturn.ports.clock import Clock
from everturn.ports.disk import Disk
from everturn.ports.ledger import Ledger
from everturn.ports.model import Model
from everturn.ports.outputs import Outputs
from everturn.ports.rules import LivePermissions
from everturn.settings.options import Options
from everturn.settings.setup import check_options

if TYPE_CHECKING:
    from everturn.prompt.parts import Part

NEW_SESSION = {
    "session_id": None,
    "resume": None,
    "continue_conversation": False,
    "resume_at": None,
    "fork_session": False,
}
"""Options of one that has nothing to do with the one before."""


class Engine(engine_room.Engine):
    """One conversation, made from options: `async with Engine(Options(…)) as engine`, then `engine.submit(prompt)`."""

    def __init__(
        self,
        options: Options | None = None,
        *,
        env: Mapping[str, str] | None = None,
        model: Model | None = None,
        ledger: Ledger | None = None,
        disk: Disk | None = None,
        clock: Clock | None = None,
        live: LivePermissions | None = None,
        git: GitCount | None = None,
    ) -> None:
        """Raises `OptionError` that names the field, `JournalError` where the session's file cannot be opened.

        `model` stands in for the Anthropic client. `ledger` is a child of another engine's: what is spent here counts
        there, and the limits there hold here; it is closed with the engine. `disk` and `clock` stand in for the machine's own.
        `live` tells of settings that change while we run: what they let run beyond the start counts when the approver agrees.
        `git` counts changed files for the model; it was begun before the engine was made.
        """
        self._options = options or Options()
        self._env = os.environ if env is None else env
        self._given_ledger = ledger
        self._given_disk, self._given_clock = disk, clock
        self._live = LiveRules(live) if live is not None else None
        self._outputs = Outputs()
        self._scratches: list[SessionScratch] = []
        """Of this conversation and of those before `clear`, whose commands may still run."""
        self._build(self._options, model, git)

    def clear(self) -> None:
        """Starts a new, empty conversation: same options, connection and permission mode. Raises `BusyError`, `ClosedError`."""
        if self._closed:
            raise ClosedError("The engine is closed.")
        if self._busy:
            raise BusyError("The engine is at work; abort it before clearing the conversation.")
        old, background, tasks, mode = self._deps, self._background, self.tasks, self.policy.mode
        self._shelf.close()
        self._build(msgspec.structs.replace(self._options, **NEW_SESSION), old.model, after=self.session_id)
        if self._live is not None:
            self._live.forget()
        old.journal.close()
        self._background, self.tasks, self.policy.mode = background, tasks, mode

    async def aclose(self) -> None:
        await super().aclose()
        self._surroundings.close()
        self._shelf.close()
        for scratch in self._scratches:
            scratch.close()

    def rename(self, title: str) -> str:
        """Gives the session a title, and returns it on one line. Raises `JournalError`."""
        from everturn.compose.exporting import append_name, find_kept

        return append_name(find_kept(self._deps.journal, self.session_id), title)

    def export(self, file: str = "") -> str:
        """Writes the conversation to a file (Markdown, `.html` or `.json`) and returns its path. Raises `JournalError`."""
        from everturn.compose.exporting import find_kept, run_export

        kept = find_kept(self._deps.journal, self.session_id)
        target = Path(self._config.folder, Path(file or f"everturn-{self.session_id[:8]}.md").expanduser())
        run_export(self, kept, target, self._deps.secrets())
        return str(target)

    def list_prompt(self) -> "tuple[Part, ...]":
        """What the model is told before the conversation, piece by piece."""
        from everturn.prompt.parts import list_parts

        contexts, tools = self.told_before
        options = self._options
        return list_parts(
            contexts,
            tools,
            self._briefing,
            own_prompt=options.system_prompt,
            appended=options.append_system_prompt,
        )

    @property
    def permission_mode(self) -> str:
        return str(self.policy.mode)

    def name_option(self, field: str) -> str:
        """As whoever chose the options knows it; notices use this name."""
        return field

    def tell(self, text: str) -> None:
        """Shown as a notice, now or with the next query."""
        if self._busy:
            self._emit(Noticed(text=text, level=Level.WARNING))
        else:
            self.note(text)

    def _build(self, options: Options, model: Model | None, git: GitCount | None = None, *, after: str = "") -> None:
        parts = Parts(
            check_options(options, self._env),
            self._env,
            model,
            self.name_option,
            ledger=self._given_ledger,
            disk=self._given_disk,
            clock=self._given_clock,
            outputs=self._outputs,
            live=self._live,
            tell=self.tell,
            after=after,
            git=git,
        )
        self._surroundings, self._briefing = parts.surroundings, parts.briefing
        self.policy = parts.policy
        """Its `mode` may be changed while a query runs; it counts from the next call on."""
        self._shelf = parts.shelf
        self._scratches.append(parts.scratch)
        self.collapses = parts.pipeline.collapses
        """Stage finished stretches of work here; they are committed when room is needed."""
        if self._live is not None:
            watched = LivePolicy(parts.policy, self._live, tell=self.tell, asks=options.approver is not None)
            parts.deps = msgspec.structs.replace(parts.deps, policy=watched, settings=watched)
        super().__init__(
            deps=parts.deps, config=parts.config, prompting=parts.prompting, agent=parts.agent, replay=parts.replay
        )
        for text in parts.notes:
            self.note(text)


async def query(
    prompt: Prompt, options: Options | None = None, *, env: Mapping[str, str] | None = None, model: Model | None = None
) -> AsyncGenerator[Event]:
    """One prompt, one engine: yields its events, the last of them a `ResultEvent`."""
    async with Engine(options, env=env, model=model) as engine, aclosing(engine.submit(prompt)) as events:
        async for event in events:
            yield event

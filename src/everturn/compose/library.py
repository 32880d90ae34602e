"""The library profile: options in, an engine out."""

import os
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing
from typing import Any

import msgspec

from everturn import __version__
from everturn.compose.system import RandomIds, SystemClock
from everturn.context.pipeline import ContextPipeline
from everturn.core.errors import BusyError, JournalError, OptionError
from everturn.core.events import Event
from everturn.core.records import FORMAT, SessionOpened
from everturn.engine import engine as engine_room
from everturn.engine.deps import AgentContext, Config, Deps, Prompting
from everturn.engine.engine import Prompt
from everturn.engine.wording import SYSTEM_PROMPT
from everturn.hooks.inprocess import InProcessHooks
from everturn.models.anthropic.client import AnthropicModel
from everturn.models.anthropic.credentials import Credentials
from everturn.models.anthropic.thinking import check_effort, check_thinking
from everturn.models.catalog import JsonCatalog
from everturn.models.transport.choose import choose_transport
from everturn.permissions.modes import ModePolicy
from everturn.ports.hooks import Checker
from everturn.ports.model import Catalog, Model, ModelCard
from everturn.ports.store import Replay
from everturn.ports.tool import Tool
from everturn.sessions.journal import FileJournal, make_sessions_folder
from everturn.sessions.ledger import SessionLedger
from everturn.sessions.memory import MemoryJournal
from everturn.settings.options import Options
from everturn.settings.setup import Setup, check_options
from everturn.tools.builtin import BUILTIN, builtin_tools
from everturn.workspace.files import LocalFiles


class Engine(engine_room.Engine):
    """One conversation, made from options: `async with Engine(Options(…)) as engine`, then `engine.submit(prompt)`."""

    def __init__(
        self, options: Options | None = None, *, env: Mapping[str, str] | None = None, model: Model | None = None
    ) -> None:
        """Raises `OptionError` that names the field, `JournalError` where the session's file cannot be opened.

        `model` stands in for the Anthropic client.
        """
        self._options = options or Options()
        self._env = os.environ if env is None else env
        self._build(self._options, model)

    def clear(self) -> None:
        """Starts a new, empty conversation: same options, connection and permission mode. Raises `BusyError`."""
        if self._closed:
            raise BusyError("The engine is closed.")
        if self._busy:
            raise BusyError("The engine is at work; abort it before clearing the conversation.")
        old, background, mode = self._deps, self._background, self.policy.mode
        self._build(msgspec.structs.replace(self._options, resume=None, session_id=None), old.model)
        old.journal.close()
        self._background, self.policy.mode = background, mode

    @property
    def permission_mode(self) -> str:
        return str(self.policy.mode)

    def _build(self, options: Options, model: Model | None) -> None:
        parts = Parts(check_options(options, self._env), self._env, model)
        self.policy = parts.policy
        """Its `mode` may be changed while a query runs; it counts from the next call on."""
        self.collapses = parts.pipeline.collapses
        """Stage finished stretches of work here; they are committed when room is needed."""
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


class Parts:
    """Everything an engine is made of, built in the order of dependence."""

    def __init__(self, setup: Setup, env: Mapping[str, str], model: Model | None) -> None:
        options, limits = setup.options, setup.limits
        self.notes: list[str] = []
        self.clock, self.ids = SystemClock(), RandomIds()
        catalog = JsonCatalog(catalog_entries(options.models))

        def resolve(name: str) -> str:
            return catalog.resolve(setup.aliases.get(name, name))

        main = resolve(setup.model)
        self._check_model(setup, catalog, main)
        tools, checker = choose_tools(options), build_checker(options)
        client = model or build_client(setup, env, catalog)
        self.policy = ModePolicy(
            options.permission_mode,
            str(setup.folder),
            allow=tuple(options.allowed_tools),
            deny=tuple(options.disallowed_tools),
        )
        self.pipeline = ContextPipeline(ids=self.ids)
        # Opened when nothing can be refused any more: a session that nobody got would stay locked.
        journal = self._open_journal(setup)
        self.replay = journal.replay() if options.resume else None
        self.notes.extend(journal.warnings)
        self.deps = Deps(
            model=client,
            catalog=catalog,
            pipeline=self.pipeline,
            journal=journal,
            ledger=build_ledger(self.replay),
            policy=self.policy,
            hooks=InProcessHooks(
                stop=setup.hooks["stop"], post_tool=setup.hooks["post_tool"], stop_failure=setup.hooks["stop_failure"]
            ),
            files=LocalFiles(),
            clock=self.clock,
            ids=self.ids,
            approver=options.approver,
            checker=checker,
        )
        self.config = Config(
            session_id=journal.session_id,
            folder=str(setup.folder),
            limits=limits,
            streaming_tools=options.streaming_tools,
            tool_summaries=options.tool_summaries,
            collapse=options.collapse,
            fast=options.fast,
            cache_ttl=options.cache_ttl,
            small_model=resolve(options.small_model),
        )
        self._check_names(options)
        first = SYSTEM_PROMPT if options.system_prompt is None else options.system_prompt
        self.prompting = Prompting(
            system=tuple(text for text in (first, options.append_system_prompt) if text),
            user_context=options.user_context,
            system_context=options.system_context,
            output_schema=options.output_schema,
        )
        self.agent = AgentContext(
            model=main,
            tools=tools,
            fallbacks=tuple(resolve(name) for name in options.fallback_models),
            thinking=setup.thinking,
            effort=options.effort,
            betas=setup.betas,
            max_output=options.max_output_tokens,
            task_budget=setup.task_budget,
        )

    def _open_journal(self, setup: Setup) -> FileJournal | MemoryJournal:
        options = setup.options
        session_id = options.resume or options.session_id or self.ids.new()
        journal: FileJournal | MemoryJournal = MemoryJournal(session_id)
        if options.resume or (options.persist and self._can_keep(setup)):
            journal = FileJournal(setup.home, session_id, must_exist=options.resume is not None)
        opened = SessionOpened(
            format=FORMAT,
            session_id=session_id,
            at=self.clock.now(),
            folder=str(setup.folder),
            version=__version__,
        )
        journal.append(opened)
        return journal

    def _can_keep(self, setup: Setup) -> bool:
        """Without a writable home the session lives in memory, and that is said."""
        try:
            make_sessions_folder(setup.home)
        except JournalError as error:
            self.notes.append(f"This session is not saved. {error}")
            return False
        return True

    def _check_names(self, options: Options) -> None:
        """A rule for a tool that is not there is no error, since another machine may have it; but it is said."""
        known = {*BUILTIN, *(tool.name for tool in options.tools)}
        for field in ("allowed_tools", "disallowed_tools"):
            for name in getattr(options, field):
                if name not in known:
                    self.notes.append(
                        f"{field}: there is no tool named {name} (there are: {', '.join(sorted(known))})."
                    )

    def _check_model(self, setup: Setup, catalog: Catalog, model: str) -> None:
        card = catalog.card(model)
        if not card.known:
            self.notes.append(
                f"The model {model} is not in the catalogue; window, caps and prices are those of its family "
                f"({card.family or 'generic'}). Add it with the option `models`."
            )
        effort = setup.options.effort
        if setup.thinking is not None and (problem := check_thinking(setup.thinking, card, effort)):
            raise OptionError("thinking", problem)
        if effort is not None and (problem := check_effort(effort, card)):
            raise OptionError("effort", problem)


def build_client(setup: Setup, env: Mapping[str, str], catalog: Catalog) -> AnthropicModel:
    limits, options = setup.limits, setup.options
    transport = choose_transport(
        env,
        setup.base_url,
        connect_s=limits.connect_s,
        stall_s=limits.stall_s,
        ca_file=os.fspath(options.ca_file) if options.ca_file else None,
    )
    credentials = Credentials(api_key=setup.api_key, auth_token=setup.auth_token, helper=options.api_key_helper)
    return AnthropicModel(
        transport=transport,
        catalog=catalog,
        credentials=credentials,
        base_url=setup.base_url,
        version=__version__,
        custom_headers=setup.headers,
    )


def build_ledger(replay: Replay | None) -> SessionLedger:
    return SessionLedger(usd=replay.usd, usage=replay.usage, models=replay.models) if replay else SessionLedger()


def build_checker(options: Options) -> Checker | None:
    if options.output_schema is None:
        return None
    from everturn.hooks.output_schema import SchemaChecker

    return SchemaChecker(dict(options.output_schema))


def choose_tools(options: Options) -> tuple[Tool, ...]:
    """Built-in ones first, in their fixed order; an own tool of the same name takes a built-in one's place."""
    offered: Collection[str] = BUILTIN if options.builtin_tools is True else options.builtin_tools or ()
    for name in offered:
        if name not in BUILTIN:
            raise OptionError("builtin_tools", f"there is no {name!r} (there are: {', '.join(BUILTIN)})")
    own = {tool.name: tool for tool in options.tools}
    if len(own) != len(options.tools):
        raise OptionError("tools", "two of them have the same name")
    denied = set(options.disallowed_tools)
    builtin = builtin_tools({*offered} - {*own} - denied)
    return (*builtin, *(tool for name, tool in own.items() if name not in denied))


def catalog_entries(models: Any) -> Any:
    """In the shape of a catalogue file."""
    if isinstance(models, str | os.PathLike):
        return os.fspath(models)
    entries: dict[str, Any] = {}
    for model in models:
        fields = msgspec.to_builtins(model) if isinstance(model, ModelCard) else dict(model)
        id_ = fields.pop("id", None)
        if not isinstance(id_, str) or not id_:
            raise OptionError("models", "each entry needs an id")
        fields.pop("known", None)
        entries[id_] = fields
    return {"models": entries} if entries else None

"""The library profile: options in, an engine out."""

import os
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import aclosing

import msgspec

from everturn import __version__
from everturn.compose.catalog import build_catalog, resolve_model
from everturn.compose.opening import Opening, plan_replay
from everturn.compose.system import RandomIds, SystemClock
from everturn.context.pipeline import ContextPipeline
from everturn.core.errors import BusyError, OptionError
from everturn.core.events import Event
from everturn.engine import engine as engine_room
from everturn.engine.deps import AgentContext, Config, Deps, Prompting
from everturn.engine.engine import Prompt
from everturn.engine.wording import SYSTEM_PROMPT
from everturn.hooks.inprocess import InProcessHooks
from everturn.models.anthropic.client import AnthropicModel
from everturn.models.anthropic.credentials import Credentials
from everturn.models.anthropic.thinking import check_effort, check_thinking
from everturn.models.transport.choose import choose_transport
from everturn.models.transport.proxy import plan_proxy
from everturn.permissions.modes import ModePolicy
from everturn.ports.disk import Disk
from everturn.ports.hooks import Checker
from everturn.ports.ledger import Ledger
from everturn.ports.model import Catalog, Model
from everturn.ports.outputs import Outputs
from everturn.ports.store import Replay
from everturn.ports.tool import Tool
from everturn.sessions.ledger import SessionLedger
from everturn.settings.options import MODES, Options
from everturn.settings.setup import Setup, check_options
from everturn.tools.builtin import NAMES, PERSON_TOOLS, Web, builtin_tools
from everturn.tools.web.system_net import SystemNet
from everturn.workspace.files import LocalFiles

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
    ) -> None:
        """Raises `OptionError` that names the field, `JournalError` where the session's file cannot be opened.

        `model` stands in for the Anthropic client. `ledger` is a child of another engine's: what is spent here counts
        there, and the limits there hold here; it is closed with the engine. `disk` stands in for the machine's own.
        """
        self._options = options or Options()
        self._env = os.environ if env is None else env
        self._given_ledger = ledger
        self._given_disk = disk
        self._outputs = Outputs()
        self._build(self._options, model)

    def clear(self) -> None:
        """Starts a new, empty conversation: same options, connection and permission mode. Raises `BusyError`."""
        if self._closed:
            raise BusyError("The engine is closed.")
        if self._busy:
            raise BusyError("The engine is at work; abort it before clearing the conversation.")
        old, background, tasks, mode = self._deps, self._background, self.tasks, self.policy.mode
        self._build(msgspec.structs.replace(self._options, **NEW_SESSION), old.model)
        old.journal.close()
        self._background, self.tasks, self.policy.mode = background, tasks, mode

    @property
    def permission_mode(self) -> str:
        return str(self.policy.mode)

    def name_option(self, field: str) -> str:
        """As whoever chose the options knows it; notices use this name."""
        return field

    def _build(self, options: Options, model: Model | None) -> None:
        parts = Parts(
            check_options(options, self._env),
            self._env,
            model,
            self.name_option,
            ledger=self._given_ledger,
            disk=self._given_disk,
            outputs=self._outputs,
        )
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

    def __init__(
        self,
        setup: Setup,
        env: Mapping[str, str],
        model: Model | None,
        name_option: Callable[[str], str],
        *,
        ledger: Ledger | None,
        disk: Disk | None,
        outputs: Outputs,
    ) -> None:
        options, limits = setup.options, setup.limits
        self._name_option = name_option
        self.notes: list[str] = []
        self.clock, self.ids = SystemClock(), RandomIds()
        catalog = build_catalog(options)

        def resolve(name: str) -> str:
            return resolve_model(name, setup, catalog)

        main = resolve(setup.model)
        self._check_model(setup, catalog, main)
        tools, deferred = choose_tools(
            options,
            build_web(setup, env, resolve(options.small_model)),
            outputs=outputs,
            read_tokens=limits.read_tokens,
        )
        checker = build_checker(options)
        client = model or build_client(setup, env, catalog)
        self.policy = ModePolicy(
            options.permission_mode or "default",
            str(setup.folder),
            allow=tuple(options.allowed_tools),
            deny=tuple(options.disallowed_tools),
            outputs=outputs,
        )
        self.pipeline = ContextPipeline(ids=self.ids)
        # Opened when nothing can be refused any more: a session that nobody got would stay locked.
        opening = Opening(setup, new_id=self.ids.new, now=self.clock.now, disk=disk)
        journal = opening.journal
        self.replay = plan_replay(opening.replay, setup) if opening.replay else None
        if self.replay is not None and self.replay.mode in set(MODES):
            self.policy.mode = self.replay.mode
        self.notes.extend(opening.notes)
        self.deps = Deps(
            model=client,
            catalog=catalog,
            pipeline=self.pipeline,
            journal=journal,
            ledger=ledger or build_ledger(self.replay),
            policy=self.policy,
            modes=self.policy,
            hooks=InProcessHooks(
                stop=setup.hooks["stop"], post_tool=setup.hooks["post_tool"], stop_failure=setup.hooks["stop_failure"]
            ),
            files=LocalFiles(),
            clock=self.clock,
            ids=self.ids,
            approver=options.approver,
            checker=checker,
            secrets=client.secrets if isinstance(client, AnthropicModel) else tuple,
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
            deferred=deferred,
            fallbacks=tuple(resolve(name) for name in options.fallback_models),
            thinking=setup.thinking,
            effort=options.effort,
            betas=setup.betas,
            max_output=options.max_output_tokens,
            task_budget=setup.task_budget,
        )

    def _check_names(self, options: Options) -> None:
        """A rule for a tool that is not there is no error, since another machine may have it; but it is said."""
        known = {*NAMES, *(tool.name for tool in options.tools)}
        for field in ("allowed_tools", "disallowed_tools"):
            for name in getattr(options, field):
                if name.partition("(")[0] not in known:
                    there = ", ".join(sorted(known))
                    self.notes.append(
                        f"{self._name_option(field)}: there is no tool named {name} (there are: {there})."
                    )

    def _check_model(self, setup: Setup, catalog: Catalog, model: str) -> None:
        card = catalog.card(model)
        if not card.known:
            self.notes.append(
                f"The model {model} is not in the catalogue; window, caps and prices are those of its family "
                f"({card.family or 'generic'}). Describe it with {self._name_option('models')}."
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


def build_web(setup: Setup, env: Mapping[str, str], small_model: str) -> Web:
    options = setup.options
    ca_file = options.ca_file or env.get("SSL_CERT_FILE") or env.get("NODE_EXTRA_CA_CERTS")
    net = SystemNet(ca_file=os.fspath(ca_file) if ca_file else None, proxy_for=lambda url: plan_proxy(env, url))
    searcher = None
    if options.web_search == "brave" and setup.search_key:
        from everturn.tools.web_search.brave import BraveSearcher

        searcher = BraveSearcher(setup.search_key, net)
    return Web(net=net, small_model=small_model, searcher=searcher)


def choose_tools(
    options: Options, web: Web, *, outputs: Outputs, read_tokens: int
) -> tuple[tuple[Tool, ...], tuple[Tool, ...]]:
    """Those that are listed, and those that wait to be found, which is possible only where ToolSearch is offered.

    Built-in ones first, in their fixed order; an own tool of the same name takes a built-in one's place.
    """
    offered = offered_names(options)
    for name in offered:
        if name not in NAMES:
            raise OptionError("builtin_tools", f"there is no {name!r} (there are: {', '.join(NAMES)})")
    own = {tool.name: tool for tool in options.tools}
    if len(own) != len(options.tools):
        raise OptionError("tools", "two of them have the same name")
    denied = set(options.disallowed_tools)
    names = {*offered} - {*own} - denied
    kept = [tool for name, tool in own.items() if name not in denied]
    deferred = tuple(tool for tool in kept if "ToolSearch" in names and getattr(tool, "deferred", False))
    listed = (tool for tool in kept if tool not in deferred)
    made = builtin_tools(names, web, deferred, outputs=outputs, read_tokens=read_tokens)
    return (*made, *listed), deferred


def offered_names(options: Options) -> Collection[str]:
    if options.builtin_tools is not True:
        return options.builtin_tools or ()
    return NAMES if options.approver is not None else [name for name in NAMES if name not in PERSON_TOOLS]

"""The library profile: options in, an engine out."""

import os
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from everturn import __version__
from everturn.compose.catalog import build_catalog, resolve_model
from everturn.compose.granting import PolicyGrants
from everturn.compose.opening import Opening, plan_replay
from everturn.compose.policy import advise, build_policy
from everturn.compose.rules import LivePolicy
from everturn.compose.system import RandomIds, SystemClock
from everturn.context.pipeline import ContextPipeline
from everturn.core.errors import BusyError, OptionError
from everturn.core.events import Event, Level, Noticed
from everturn.core.limits import Limits
from everturn.engine import engine as engine_room
from everturn.engine.deps import AgentContext, Config, Deps, Prompting
from everturn.engine.prompts import Prompt
from everturn.engine.wording import SYSTEM_PROMPT
from everturn.hooks.inprocess import InProcessHooks
from everturn.models.anthropic.client import AnthropicModel
from everturn.models.anthropic.credentials import Credentials
from everturn.models.anthropic.thinking import check_effort, check_thinking
from everturn.models.transport.choose import choose_transport
from everturn.models.transport.proxy import plan_proxy
from everturn.ports.clock import Clock
from everturn.ports.disk import Disk
from everturn.ports.hooks import Checker
from everturn.ports.ledger import Ledger
from everturn.ports.model import Catalog, Model
from everturn.ports.outputs import Outputs
from everturn.ports.rules import LivePermissions
from everturn.ports.shell_folder import ShellFolder
from everturn.ports.store import Replay
from everturn.ports.tool import Tool
from everturn.sessions.journal import FileJournal
from everturn.sessions.ledger import SessionLedger
from everturn.sessions.places import results_folder
from everturn.sessions.shelf import ResultShelf
from everturn.settings.environment import find_user_home
from everturn.settings.options import MODES, Options
from everturn.settings.setup import Setup, check_options
from everturn.tools.builtin import NAMES, PERSON_TOOLS, Web, builtin_tools
from everturn.tools.web.system_net import SystemNet
from everturn.workspace.files import LocalFiles
from everturn.workspace.paths import is_inside

if TYPE_CHECKING:
    from everturn.ports.sandbox import Sandbox
    from everturn.sandbox.confining import CommandSandbox

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
    ) -> None:
        """Raises `OptionError` that names the field, `JournalError` where the session's file cannot be opened.

        `model` stands in for the Anthropic client. `ledger` is a child of another engine's: what is spent here counts
        there, and the limits there hold here; it is closed with the engine. `disk` and `clock` stand in for the machine's own.
        `live` tells of rules that change while we run.
        """
        self._options = options or Options()
        self._env = os.environ if env is None else env
        self._given_ledger = ledger
        self._given_disk, self._given_clock = disk, clock
        self._live = live
        self._outputs = Outputs()
        self._build(self._options, model)

    def clear(self) -> None:
        """Starts a new, empty conversation: same options, connection and permission mode. Raises `BusyError`."""
        if self._closed:
            raise BusyError("The engine is closed.")
        if self._busy:
            raise BusyError("The engine is at work; abort it before clearing the conversation.")
        old, background, tasks, mode = self._deps, self._background, self.tasks, self.policy.mode
        self._shelf.close()
        self._build(msgspec.structs.replace(self._options, **NEW_SESSION), old.model)
        if self._live is not None:
            self._live.forget()
        old.journal.close()
        self._background, self.tasks, self.policy.mode = background, tasks, mode

    async def aclose(self) -> None:
        await super().aclose()
        self._shelf.close()

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

    def _build(self, options: Options, model: Model | None) -> None:
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
        )
        self.policy = parts.policy
        """Its `mode` may be changed while a query runs; it counts from the next call on."""
        self._shelf = parts.shelf
        self.collapses = parts.pipeline.collapses
        """Stage finished stretches of work here; they are committed when room is needed."""
        if self._live is not None:
            watched = LivePolicy(parts.policy, self._live, replace=parts.policy.replace_rules, tell=self.tell)
            parts.deps = msgspec.structs.replace(parts.deps, policy=watched)
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
        clock: Clock | None,
        outputs: Outputs,
        live: LivePermissions | None,
    ) -> None:
        options, limits = setup.options, setup.limits
        self._name_option = name_option
        self.notes: list[str] = []
        self.clock, self.ids = clock or SystemClock(), RandomIds()
        catalog = build_catalog(options)

        def resolve(name: str) -> str:
            return resolve_model(name, setup, catalog)

        main = resolve(setup.model)
        self._check_model(setup, catalog, main)
        shell = ShellFolder()
        self.policy, warnings = build_policy(setup, env, outputs, shell)
        sandbox = self._build_sandbox(setup, env)
        tools, deferred = choose_tools(
            options,
            build_web(setup, env, resolve(options.small_model)),
            removes=self.policy.removes,
            outputs=outputs,
            shell=shell,
            limits=limits,
            sandbox=sandbox,
            only_reads=self.policy.only_reads,
        )
        checker = build_checker(options)
        client = model or build_client(setup, env, catalog)
        # Opened when nothing can be refused any more: a session that nobody got would stay locked.
        opening = Opening(setup, new_id=self.ids.new, now=self.clock.now, disk=disk)
        journal = opening.journal
        self.replay = plan_replay(opening.replay, setup) if opening.replay else None
        if self.replay is not None and is_inside(str(setup.folder), self.replay.notes.shell_folder):
            shell.path = self.replay.notes.shell_folder
        if self.replay is not None and self.replay.mode in set(MODES):
            self.policy.mode = self.replay.mode
        self.notes.extend(opening.notes)
        spilled = self.replay.spilled if self.replay else ()
        for path in spilled:
            outputs.add(path)
        if gone := [path for path in spilled if not Path(path).exists()]:
            self.notes.append(say_gone(gone))
        folder = results_folder(journal.path) if isinstance(journal, FileJournal) else None
        self.shelf = ResultShelf(folder, outputs, disk=disk)
        files = LocalFiles()
        hooks = build_hooks(setup)
        self.pipeline = ContextPipeline(ids=self.ids, shelf=self.shelf, files=files, hooks=hooks)
        self.deps = Deps(
            model=client,
            catalog=catalog,
            pipeline=self.pipeline,
            journal=journal,
            ledger=ledger or build_ledger(self.replay),
            policy=self.policy,
            modes=self.policy,
            grants=PolicyGrants(
                self.policy,
                folder=str(setup.folder),
                user_home=os.path.realpath(find_user_home(env)),
                trusted=options.trusted,
                only_managed=options.only_managed_rules,
                live=live,
                allow_host=sandbox.allow_host if sandbox else None,
            ),
            hooks=hooks,
            files=files,
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
        known = {*NAMES, *(tool.name for tool in options.tools)}
        self.notes += [*warnings, *advise(self.policy, known, name_option)]
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

    def _build_sandbox(self, setup: Setup, env: Mapping[str, str]) -> "CommandSandbox | None":
        if not setup.options.sandbox:
            return None
        from everturn.compose.sandbox import build_sandbox

        sandbox, warning = build_sandbox(setup, env, self.policy)
        self.notes += [warning] if warning else []
        return sandbox

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


def say_gone(paths: list[str]) -> str:
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"Large results of this session were deleted: {paths[0]}{more}. The model knows their beginnings and ends."


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


def build_hooks(setup: Setup) -> InProcessHooks:
    hooks = setup.hooks
    return InProcessHooks(
        stop=hooks["stop"],
        post_tool=hooks["post_tool"],
        stop_failure=hooks["stop_failure"],
        pre_compact=hooks["pre_compact"],
        post_compact=hooks["post_compact"],
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
    options: Options,
    web: Web,
    *,
    removes: Callable[[str], bool],
    outputs: Outputs,
    shell: ShellFolder,
    limits: Limits,
    sandbox: "Sandbox | None" = None,
    only_reads: Callable[[str], bool] | None = None,
) -> tuple[tuple[Tool, ...], tuple[Tool, ...]]:
    """Those that are listed, and those that wait to be found, which is possible only where ToolSearch is offered.

    Built-in ones first, in their fixed order; an own tool of the same name takes a built-in one's place. What a deny rule
    covers as a whole is not listed.
    """
    offered = offered_names(options)
    for name in offered:
        if name not in NAMES:
            raise OptionError("builtin_tools", f"there is no {name!r} (there are: {', '.join(NAMES)})")
    own = {tool.name: tool for tool in options.tools}
    if len(own) != len(options.tools):
        raise OptionError("tools", "two of them have the same name")
    names = {name for name in offered if name not in own and not removes(name)}
    kept = [tool for name, tool in own.items() if not removes(name)]
    deferred = tuple(tool for tool in kept if "ToolSearch" in names and getattr(tool, "deferred", False))
    listed = (tool for tool in kept if tool not in deferred)
    made = builtin_tools(
        names,
        web,
        deferred,
        outputs=outputs,
        shell=shell,
        read_tokens=limits.read_tokens,
        sandbox=sandbox,
        limits=limits,
        only_reads=only_reads,
    )
    return (*made, *listed), deferred


def offered_names(options: Options) -> Collection[str]:
    if options.builtin_tools is not True:
        return options.builtin_tools or ()
    return NAMES if options.approver is not None else [name for name in NAMES if name not in PERSON_TOOLS]

"""An engine from options: each part is made by one function, in the order of dependence."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from everturn.compose.catalog import build_catalog, check_model, resolve_model
from everturn.compose.client import build_client
from everturn.compose.functions import adopt_approver, adopt_tools
from everturn.compose.guard import (
    build_grants,
    build_guard,
    follow_leader,
    judge_reading,
    look_around,
    make_verifier,
    refuse_held,
    resume_guard,
    watch_settings,
)
from everturn.compose.hooks import HookPlace, build_hooks, build_investigation
from everturn.compose.mcp import add_instructions, begin_servers, build_servers, has_servers
from everturn.compose.policy import AddedFolders, advise, advise_goal
from everturn.compose.prompt import EnvironmentFinder, plan_briefing, plan_prompting
from everturn.compose.session import build_session_file, open_session
from everturn.compose.system import RandomIds, SystemClock, begin_count
from everturn.compose.toolbox import build_web, choose_tools
from everturn.compose.world import World, split_named
from everturn.context.pipeline import ContextPipeline
from everturn.core.events import Event, ResultEvent
from everturn.core.hiding import is_unmistakable
from everturn.core.notes import Goal
from everturn.engine.crew import Crew
from everturn.engine.deps import AgentContext, Config, Deps, EngineParts
from everturn.engine.engine import Engine
from everturn.engine.notices import Notices
from everturn.engine.prompts import Prompt
from everturn.models.anthropic.client import AnthropicModel
from everturn.permissions.live_rules import LiveRules
from everturn.ports.hooks import Checker
from everturn.ports.outputs import Outputs
from everturn.ports.policy import Policy
from everturn.ports.resources import Resources
from everturn.ports.store import Replay
from everturn.ports.tasks import Tasks
from everturn.ports.tool import Tool
from everturn.sandbox.session_scratch import SessionScratch
from everturn.sessions.blobs import ResultShelf
from everturn.sessions.ledger import SessionLedger
from everturn.settings.options import Options
from everturn.settings.setup import Setup, check_options
from everturn.tools.builtin import NAMES
from everturn.workspace.files import LocalFiles

if TYPE_CHECKING:
    from typing import Unpack

    from everturn.compose.keywords import Keywords
    from everturn.core.jobs import JobReport
    from everturn.mcp.session_servers import SessionServers

__all__ = ["Engine", "assemble", "build_parts", "query", "run", "run_sync"]

NEW_SESSION: dict[str, Any] = {
    "session_id": None,
    "resume": None,
    "continue_conversation": False,
    "resume_at": None,
    "fork_session": False,
}
"""Options of a session that has nothing to do with the one before."""
WEAK_KEY = (
    "The key for the model is short or looks like words. It is not removed from what the model reads; in logs and exports it "
    "is masked only where it is a whole value."
)


class LastingParts(msgspec.Struct, kw_only=True):
    """What goes on in the conversation that follows after `clear`."""

    live: LiveRules | None = None
    folders: AddedFolders = msgspec.field(default_factory=AddedFolders)
    outputs: Outputs = msgspec.field(default_factory=Outputs)
    scratches: list[SessionScratch] = []
    """Of this conversation and of those before, whose commands may still run."""
    tasks: Tasks = msgspec.field(default_factory=Tasks)
    background: Crew = msgspec.field(default_factory=Crew)
    resources: Resources = msgspec.field(default_factory=Resources)
    servers: "SessionServers | None" = None
    """MCP servers; None where there are none."""


def assemble(options: Options | None = None, **named: "Unpack[Keywords]") -> EngineParts:
    """What `Engine(…)` is made of. Raises `OptionError` that names the field, `JournalError` where the session's file cannot be opened."""
    options, world = split_named(options, named)
    return build_parts(check_options(options, world.env, world.written), world)


async def query(prompt: Prompt, options: Options | None = None, **named: "Unpack[Keywords]") -> AsyncGenerator[Event]:
    """One prompt, one engine: yields its events, the last of them a `ResultEvent`. Takes what `Engine` takes."""
    async with Engine(options, **named) as engine, aclosing(engine.submit(prompt)) as events:
        async for event in events:
            yield event


async def run(prompt: Prompt, options: Options | None = None, **named: "Unpack[Keywords]") -> ResultEvent:
    """One prompt, one engine: returns the result. Takes what `Engine` takes."""
    async with Engine(options, **named) as engine:
        return await engine.run(prompt)


def run_sync(prompt: Prompt, options: Options | None = None, **named: "Unpack[Keywords]") -> ResultEvent:
    """For scripts without a running event loop: returns the result. Takes what `Engine` takes."""
    return asyncio.run(run(prompt, options, **named))


def build_parts(
    setup: Setup,
    world: World,
    *,
    name_option: Callable[[str], str] = str,
    lasting: LastingParts | None = None,
    after: str = "",
) -> EngineParts:
    """`name_option`: how the person who chose an option knows it; notices use this name. `after`: the session that was cleared."""
    options, env, notices = setup.options, world.env, Notices()
    lasting = lasting or LastingParts(live=LiveRules(world.live) if world.live is not None else None)
    clock, ids = world.clock or SystemClock(), world.ids or RandomIds()
    catalog = build_catalog(options)
    main = resolve_model(setup.model, setup, catalog)
    small = resolve_model(options.small_model, setup, catalog)
    add_all(notices, check_model(main, setup, catalog, name_option))
    guard = build_guard(setup, env, lasting.outputs, notices)
    lasting.scratches.append(guard.scratch)
    policy = guard.policy
    lasting.folders.put_in(policy)
    own_tools = adopt_tools(options.tools)
    server_tools: tuple[Tool, ...] = ()
    if has_servers(setup):
        if lasting.servers is None:
            lasting.servers = build_servers(setup, env, clock, notices)
        window = catalog.card(main).window
        server_tools = begin_servers(lasting.servers, setup, notices, policy.removes, window)
    tools, deferred = choose_tools(
        options,
        (*own_tools, *server_tools),
        build_web(setup, env, small),
        removes=policy.removes,
        outputs=lasting.outputs,
        shell=guard.shell,
        limits=setup.limits,
        sandbox=guard.sandbox,
        only_reads=policy.only_reads,
        holder=guard.holder,
        scratch=guard.scratch,
        list_late=lasting.servers.list_late_deferred if lasting.servers is not None else tuple,
    )
    goal = plan_goal(options, policy)
    checker = build_checker(options)
    client = world.model or build_client(setup, env, catalog)
    # Opened when nothing can be refused any more: a session that nobody got would stay locked.
    session = open_session(setup, ids=ids, clock=clock, disk=world.disk, after=after, outputs=lasting.outputs)
    add_all(notices, session.notes)
    resume_guard(guard, session.replay, setup)
    shelf = ResultShelf(session.results, lasting.outputs, disk=world.disk)
    watched = watch_settings(policy, lasting.live, notices, asks=options.approver is not None)
    judging = watched or follow_leader(policy, world)
    secrets = client.secrets if isinstance(client, AnthropicModel) else tuple
    ledger = world.ledger or build_ledger(session.replay)
    hooks, remarks = build_hooks(
        setup,
        lambda: HookPlace(
            session_id=session.id,
            transcript_path=str(session.journal.path or ""),
            env=env,
            shell=guard.shell,
            find_mode=lambda: str(policy.mode),
            tasks=lasting.tasks,
            clock=clock,
            shelf=shelf,
            find_secrets=secrets,
            show=notices.pass_on,
            warn=notices.tell,
            resolve_model=lambda name: resolve_model(name, setup, catalog) if name else small,
            list_settings=world.list_settings,
            refuse_settings=partial(refuse_held, watched, lasting.live),
            call_server=lasting.servers.call if lasting.servers is not None else None,
            investigate=build_investigation(setup, world, client, ledger, partial(look_around, policy, watched)),
        ),
    )
    add_all(notices, remarks)
    files = LocalFiles(partial(judge_reading, judging))
    deps = Deps(
        model=client,
        catalog=catalog,
        pipeline=ContextPipeline(ids=ids, shelf=shelf, files=files, hooks=hooks),
        journal=session.journal,
        ledger=ledger,
        policy=judging,
        modes=policy,
        settings=watched,
        list_added=lambda: policy.folders[1:],
        add_folder=lambda given: lasting.folders.add(given, str(setup.folder), policy),
        grants=build_grants(setup, env, guard, lasting.live),
        hooks=hooks,
        files=files,
        clock=clock,
        ids=ids,
        approver=adopt_approver(options.approver),
        checker=checker,
        secrets=secrets,
        note_job=plan_job(setup, notices),
        servers=lasting.servers,
        make_verifier=partial(make_verifier, setup, guard, lasting.outputs),
    )
    if not all(map(is_unmistakable, deps.secrets())):
        notices.add(WEAK_KEY)
    add_all(notices, guard.warnings)
    add_all(notices, advise(policy, {*NAMES, *(tool.name for tool in own_tools)}, name_option))
    if goal is not None:
        add_all(notices, advise_goal(policy, NAMES, asks=options.approver is not None))
    guard.scratch.plan(session.id)
    briefing = plan_briefing(setup, (*tools, *deferred))
    surroundings = EnvironmentFinder(
        setup,
        briefing,
        policy=policy,
        catalog=catalog,
        clock=clock,
        scratch=guard.scratch,
        git=world.git or begin_count(setup, env),
    )

    def renew() -> EngineParts:
        """The conversation after this one: same client, permission mode and background."""
        shelf.close()
        fresh = msgspec.structs.replace(setup, options=options.with_changes(**NEW_SESSION))
        parts = build_parts(
            fresh,
            msgspec.structs.replace(world, model=client, git=None),
            name_option=name_option,
            lasting=lasting,
            after=session.id,
        )
        if lasting.live is not None:
            lasting.live.forget()
        if parts.deps.modes is not None:
            parts.deps.modes.switch(str(policy.mode))
        return parts

    return EngineParts(
        deps=deps,
        config=plan_config(setup, session.id, small),
        prompting=plan_prompting(
            options if lasting.servers is None else add_instructions(options, lasting.servers),
            briefing,
            surroundings.find,
        ),
        agent=AgentContext(
            model=main,
            tools=tools,
            deferred=deferred,
            fallbacks=tuple(resolve_model(name, setup, catalog) for name in options.fallback_models),
            thinking=setup.thinking,
            effort=options.effort,
            betas=setup.betas,
            max_output=options.max_output_tokens,
            task_budget=setup.task_budget,
            source=world.source,
        ),
        list_instructions=world.list_instructions,
        source="clear" if after else name_source(options),
        replay=session.replay,
        goal=goal,
        notices=notices,
        session_file=build_session_file(session.journal, setup.folder, deps.secrets),
        renew=renew,
        tasks=lasting.tasks,
        background=lasting.background,
        resources=lasting.resources,
        closers=(surroundings.close, shelf.close, lambda: close_scratches(lasting.scratches)),
    )


def name_source(options: Options) -> str:
    """How a session begins, for hooks."""
    if options.fork_session:
        return "fork"
    return "resume" if options.resume is not None or options.continue_conversation else "startup"


def plan_goal(options: Options, policy: Policy) -> Goal | None:
    """Raises `OptionError` for a command that a rule denies: what may not be verified is not begun."""
    if options.verify is None:
        return None
    from everturn.engine.goals import refuse_denied

    command = options.verify.strip()
    refuse_denied(policy, command)
    return Goal(text=(options.goal or "The command succeeds.").strip(), command=command)


def plan_job(setup: Setup, notices: Notices) -> "Callable[[JobReport], None] | None":
    if setup.options.job_file is None:
        return None
    from everturn.sessions.job_file import job_writer

    return job_writer(os.path.join(setup.folder, os.fspath(setup.options.job_file)), notices.tell)  # noqa: PTH118


def add_all(notices: Notices, texts: Any) -> None:
    for text in texts:
        notices.add(text)


def plan_config(setup: Setup, session_id: str, small_model: str) -> Config:
    options = setup.options
    return Config(
        session_id=session_id,
        folder=str(setup.folder),
        limits=setup.limits,
        streaming_tools=options.streaming_tools,
        tool_summaries=options.tool_summaries,
        collapse=options.collapse,
        fast=options.fast,
        cache_ttl=options.cache_ttl,
        cache_write=options.cache_write,
        small_model=small_model,
        suggestions=options.prompt_suggestions,
    )


def build_ledger(replay: Replay | None) -> SessionLedger:
    return SessionLedger(usd=replay.usd, usage=replay.usage, models=replay.models) if replay else SessionLedger()


def build_checker(options: Options) -> Checker | None:
    if options.output_schema is None:
        return None
    from everturn.hooks.output_schema import SchemaChecker

    return SchemaChecker(dict(options.output_schema))


def close_scratches(scratches: list[SessionScratch]) -> None:
    for scratch in scratches:
        scratch.close()

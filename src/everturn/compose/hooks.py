"""The hooks of an engine: functions of the caller, and what settings files name. Most engines have neither and load nothing."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from everturn.core.errors import EverturnError
from everturn.core.hiding import Hiding
from everturn.core.sources import QuerySource, SourceKind
from everturn.hooks.inprocess import TIMEOUT_S, InProcessHooks
from everturn.ports.hooks import Hooks, HookSettings
from everturn.settings.option_checks import HOOKS
from everturn.settings.setup import Setup, check_options
from everturn.workspace.own_code import find_own_code

if TYPE_CHECKING:
    from everturn.compose.world import World
    from everturn.core.events import HookRan
    from everturn.hooks.configuration import HookSpec
    from everturn.hooks.dispatch import Dispatch
    from everturn.hooks.handlers import CallServer, Handler
    from everturn.permissions.policy import RulePolicy
    from everturn.ports.clock import Clock
    from everturn.ports.hooks import Investigate, Programs
    from everturn.ports.ledger import Ledger
    from everturn.ports.model import Model
    from everturn.ports.outputs import Shelf
    from everturn.ports.shell_folder import ShellFolder
    from everturn.ports.tasks import Tasks


class HookPlace(msgspec.Struct, frozen=True, kw_only=True):
    """What hooks are told and given of the session that they belong to."""

    session_id: str
    transcript_path: str
    env: Mapping[str, str]
    shell: "ShellFolder"
    find_mode: Callable[[], str]
    tasks: "Tasks"
    clock: "Clock"
    shelf: "Shelf"
    find_secrets: Callable[[], Any]
    show: Callable[["HookRan"], None]
    warn: Callable[[str], None]
    resolve_model: Callable[[str], str]
    """Of an alias; empty: the small model."""
    list_settings: Callable[[], tuple[tuple[str, str], ...]] = tuple
    refuse_settings: Callable[[], None] = lambda: None
    investigate: "Investigate | None" = None
    """For hooks that are agents."""
    call_server: "CallServer | None" = None
    """For hooks that are tools of MCP servers; None where there are no servers."""


def build_hooks(setup: Setup, find_place: Callable[[], HookPlace]) -> tuple[Hooks, tuple[str, ...]]:
    """And what of the settings was passed over, a sentence each. `find_place` is asked where there are hooks by events."""
    hooks = setup.hooks
    functions = InProcessHooks(
        stop=hooks["stop"],
        post_tool=hooks["post_tool"],
        stop_failure=hooks["stop_failure"],
        pre_compact=hooks["pre_compact"],
        post_compact=hooks["post_compact"],
    )
    named = {event: each for event, each in hooks.items() if event not in HOOKS and each}
    if not named and setup.written.hooks is None:
        return functions, ()
    from everturn.hooks.session_hooks import HookSurroundings, SessionHooks

    place = find_place()
    dispatch, remarks = build_dispatch(setup, place, named)
    around = HookSurroundings(
        folder=str(setup.folder),
        tasks=place.tasks,
        settings=place.list_settings(),
        refuse_settings=place.refuse_settings,
    )
    return SessionHooks(functions, dispatch, around), remarks


def build_dispatch(
    setup: Setup, place: HookPlace, functions: Mapping[str, tuple[Callable[..., Any], ...]] | None = None
) -> "tuple[Dispatch, tuple[str, ...]]":
    from everturn.hooks.configuration import select_hooks
    from everturn.hooks.dispatch import Dispatch, DispatchParts, build_function_hooks
    from everturn.permissions.conditions import CallFilter
    from everturn.tools.bash.hook_variables import HookVariables
    from everturn.tools.bash.programs import LocalPrograms

    folder = str(setup.folder)

    def find_folder() -> str:
        started = place.shell.path
        return started if started is not None and os.path.isdir(started) else folder  # noqa: PTH112 (before every hook)

    def describe() -> dict[str, Any]:
        fields = {
            "session_id": place.session_id,
            "transcript_path": place.transcript_path,
            "cwd": find_folder(),
            "permission_mode": place.find_mode(),
        }
        return fields | ({"effort": {"level": setup.options.effort}} if setup.options.effort else {})

    covers, programs = CallFilter(folder, find_folder), LocalPrograms()
    desk = DispatchParts(
        describe=describe,
        show=place.show,
        warn=place.warn,
        hide=lambda text: Hiding(place.find_secrets()).hide(text),
        put_aside=place.shelf.put,
        covers=covers,
        now=place.clock.elapsed,
        programs=programs,
        variables=HookVariables(place.shell, programs, place.env, folder),
    )
    settings = setup.written.hooks or HookSettings()
    parsed = select_hooks(settings)
    remarks = list(parsed.remarks)
    handlers: list[Handler] = []
    for spec in parsed.specs:
        if spec.condition and (problem := covers.problem(spec.condition)):
            remarks.append(f"{spec.origin}: `if` of a {spec.event.name} hook: {problem}; the hook runs for every call")
        handlers.append(build_handler(spec, setup, place, programs))
    handlers += build_function_hooks(dict(functions or {}), TIMEOUT_S)
    return Dispatch(handlers, desk), tuple(remarks)


def list_own_files(setup: Setup) -> tuple[str, ...]:
    """Whoever writes there runs as we do: our own code, and what commands of the settings may mean of the working folder."""
    hooks, helper = setup.written.hooks, setup.options.api_key_helper
    if hooks is None and helper is None:
        return find_own_code()
    from everturn.hooks.named_files import list_named_files

    commands = ([each.value for each in hooks.written] if hooks is not None else [], helper)
    return (*find_own_code(), *list_named_files(commands, str(setup.folder)))


def build_handler(spec: "HookSpec", setup: Setup, place: HookPlace, programs: "Programs") -> "Handler":
    from everturn.hooks.handlers import AgentHook, CommandHook, HookStart, HttpHook, McpToolHook, PromptHook
    from everturn.ports.hook_events import HookKind

    match spec.kind:
        case HookKind.HTTP:
            allowed = set(spec.variables)
            settings = setup.written.hooks
            if settings is not None and settings.allowed_variables is not None:
                allowed &= set(settings.allowed_variables)

            def open_transport() -> Any:
                from everturn.models.transport.choose import choose_transport

                return choose_transport(place.env, spec.url, stall_s=spec.timeout_s)

            return HttpHook(spec, open_transport, place.env, frozenset(allowed))
        case HookKind.MCP_TOOL:
            return McpToolHook(spec, place.call_server)
        case HookKind.PROMPT:
            return PromptHook(spec, place.resolve_model(spec.model))
        case HookKind.AGENT:
            return AgentHook(spec, place.resolve_model(spec.model), place.investigate)
        case _:
            where = HookStart(
                project=str(setup.folder),
                environment=place.env,
                effort=setup.options.effort or "",
            )
            return CommandHook(spec, programs, where)


class SharedModel:
    """`ports.model.Model` of a session, for an engine that works for it and closes before it."""

    def __init__(self, model: "Model") -> None:
        self.stream, self.count_tokens = model.stream, model.count_tokens

    async def aclose(self) -> None:
        return


def build_investigation(
    setup: Setup, world: "World", model: "Model", ledger: "Ledger", find_policy: "Callable[[], RulePolicy]"
) -> "Investigate":
    """An engine of its own for each question, without the hooks of this one and its settings of a conversation.

    `find_policy`: of this one, whose rules hold there, too, as they are at each call.
    """

    async def investigate(system: str, prompt: str, model_id: str) -> str:
        from everturn.compose.engine import NEW_SESSION, build_parts
        from everturn.engine.engine import Engine

        options = setup.options.with_changes(**NEW_SESSION, **_ALONE, system_prompt=system, model=model_id)
        written = msgspec.structs.replace(setup.written, hooks=None, servers=())
        alone = check_options(options, world.env, written)
        around = msgspec.structs.replace(
            world,
            model=SharedModel(model),
            ledger=ledger.child("hook"),
            live=None,
            find_leader=find_policy,
            git=None,
            source=QuerySource(SourceKind.HOOK),
        )
        async with Engine(parts=build_parts(alone, around)) as engine:
            result = await engine.run(prompt)
        if result.is_error:
            raise EverturnError(result.text or str(result.reason))
        return result.text

    return investigate


READING_TOOLS = ("Read", "Grep", "Glob")
MAX_AGENT_TURNS = 50
_ALONE: dict[str, Any] = {
    "persist": False,
    "builtin_tools": READING_TOOLS,
    "tools": (),
    "mcp_servers": {},
    "hooks": {},
    "approver": None,
    "permission_mode": "dontAsk",
    "max_turns": MAX_AGENT_TURNS,
    "append_system_prompt": None,
    "user_context": {},
    "goal": None,
    "verify": None,
    "output_schema": None,
    "job_file": None,
    "prompt_suggestions": False,
    "work_budget": None,
    "task_budget": None,
    "thinking": None,
    "effort": None,
    "fallback_models": (),
}
"""Options of the engine behind a hook that is an agent."""

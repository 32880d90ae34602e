"""What an engine is made of, from checked options: every part built once, in the order of dependence."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from everturn.compose.catalog import build_catalog, resolve_model
from everturn.compose.client import build_client
from everturn.compose.covered import walk
from everturn.compose.git_count import GitCount, begin_count
from everturn.compose.granting import PolicyGrants
from everturn.compose.holding import SessionHolder
from everturn.compose.live_rules import LiveRules
from everturn.compose.opening import AnyJournal, Opening, plan_replay
from everturn.compose.policy import advise, build_policy
from everturn.compose.prompting import Surroundings, plan_briefing, plan_prompting
from everturn.compose.scratch import SessionScratch
from everturn.compose.system import RandomIds, SystemClock
from everturn.compose.toolbox import build_web, choose_tools
from everturn.context.pipeline import ContextPipeline
from everturn.core.errors import OptionError
from everturn.core.hiding import is_unmistakable
from everturn.engine.deps import AgentContext, Config, Deps
from everturn.hooks.inprocess import InProcessHooks
from everturn.models.anthropic.client import AnthropicModel
from everturn.models.anthropic.thinking import check_effort, check_thinking
from everturn.ports.clock import Clock
from everturn.ports.disk import Disk
from everturn.ports.hooks import Checker
from everturn.ports.judged import Judged
from everturn.ports.ledger import Ledger
from everturn.ports.model import Model
from everturn.ports.outputs import Outputs
from everturn.ports.policy import Call, Ruling
from everturn.ports.shell_folder import ShellFolder
from everturn.ports.store import Replay
from everturn.ports.tool import Access, Traits
from everturn.sessions.journal import FileJournal
from everturn.sessions.ledger import SessionLedger
from everturn.sessions.places import is_result, results_folder
from everturn.sessions.shelf import ResultShelf
from everturn.settings.environment import find_user_home
from everturn.settings.options import MODES, Options
from everturn.settings.setup import Setup
from everturn.tools.builtin import NAMES
from everturn.workspace.files import LocalFiles
from everturn.workspace.paths import is_inside

if TYPE_CHECKING:
    from everturn.sandbox.confining import CommandSandbox


WEAK_KEY = (
    "The key for the model is short or looks like words. What the model reads is not searched for it; in logs and exports it "
    "is masked only where it is a whole value."
)


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
        live: LiveRules | None,
        tell: Callable[[str], None],
        after: str = "",
        git: GitCount | None = None,
    ) -> None:
        """`tell` shows the person a notice; `after` is the session that was cleared for this one; `git`, a count that was begun before."""
        options = setup.options
        self._after = after
        self._setup, self._env, self._name_option = setup, env, name_option
        self.notes: list[str] = []
        self.clock, self.ids = clock or SystemClock(), RandomIds()
        self._catalog = build_catalog(options)
        main = self._resolve(setup.model)
        self._check_model(main)
        shell = ShellFolder()
        self.scratch = SessionScratch(lambda: self.policy.folders)
        self.policy, warnings = build_policy(setup, env, outputs, shell, self.scratch)
        sandbox = self._build_sandbox()
        holder = SessionHolder(setup, env, self.policy, outputs=outputs, shell=shell, tell=tell, scratch=self.scratch)
        self.policy.find_walls, self.policy.prepare_walls = (lambda: holder.walls), holder.prepare
        self.policy.walk = walk
        tools, deferred = choose_tools(
            options,
            build_web(setup, env, self._resolve(options.small_model)),
            removes=self.policy.removes,
            outputs=outputs,
            shell=shell,
            limits=setup.limits,
            sandbox=sandbox,
            only_reads=self.policy.only_reads,
            holder=holder,
            scratch=self.scratch,
        )
        checker = build_checker(options)
        client = model or build_client(setup, env, self._catalog)
        # Opened when nothing can be refused any more: a session that nobody got would stay locked.
        journal = self._open_session(disk)
        results = results_folder(journal.path) if isinstance(journal, FileJournal) else None
        self._go_on(shell, outputs, results)
        outputs.folder = None if results is None else str(results)
        self.shelf = ResultShelf(results, outputs, disk=disk)
        files, hooks = LocalFiles(self._judge_reading), build_hooks(setup)
        self.pipeline = ContextPipeline(ids=self.ids, shelf=self.shelf, files=files, hooks=hooks)
        self.deps = Deps(
            model=client,
            catalog=self._catalog,
            pipeline=self.pipeline,
            journal=journal,
            ledger=ledger or build_ledger(self.replay),
            policy=self.policy,
            modes=self.policy,
            list_added=lambda: self.policy.folders[1:],
            grants=self._build_grants(live, sandbox, shell),
            hooks=hooks,
            files=files,
            clock=self.clock,
            ids=self.ids,
            approver=options.approver,
            checker=checker,
            secrets=client.secrets if isinstance(client, AnthropicModel) else tuple,
        )
        if not all(map(is_unmistakable, self.deps.secrets())):
            self.notes.append(WEAK_KEY)
        known = {*NAMES, *(tool.name for tool in options.tools)}
        self.notes += [*warnings, *advise(self.policy, known, name_option)]
        self.config = self._plan_config(journal.session_id)
        self.scratch.plan(journal.session_id, env)
        self.briefing = plan_briefing(options, (*tools, *deferred))
        self.surroundings = Surroundings(
            setup,
            self.briefing,
            policy=self.policy,
            catalog=self._catalog,
            clock=self.clock,
            scratch=self.scratch,
            git=git or begin_count(setup, env),
        )
        self.prompting = plan_prompting(options, self.briefing, self.surroundings.find)
        self.agent = AgentContext(
            model=main,
            tools=tools,
            deferred=deferred,
            fallbacks=tuple(self._resolve(name) for name in options.fallback_models),
            thinking=setup.thinking,
            effort=options.effort,
            betas=setup.betas,
            max_output=options.max_output_tokens,
            task_budget=setup.task_budget,
        )

    def _judge_reading(self, path: str) -> Judged | None:
        """Whether the model could read it now, unasked: only then it is read again for the model. Rules and links may have changed."""
        call = Call(
            id="",
            name="Read",
            input={"file_path": path},
            traits=Traits(read_only=True, concurrent=True, access=Access.READ),
            line=f"Read {path}",
        )
        verdict = self.deps.policy.judge(call)
        return verdict.judged if verdict.ruling is Ruling.ALLOW else None

    def _resolve(self, name: str) -> str:
        return resolve_model(name, self._setup, self._catalog)

    def _open_session(self, disk: Disk | None) -> AnyJournal:
        opening = Opening(self._setup, new_id=self.ids.new, now=self.clock.now, disk=disk, after=self._after)
        self.replay = plan_replay(opening.replay, self._setup) if opening.replay else None
        self.notes.extend(opening.notes)
        return opening.journal

    def _go_on(self, shell: ShellFolder, outputs: Outputs, results: Path | None) -> None:
        """Where a session that is resumed left off. `results`: where its large ones are."""
        replay = self.replay
        if replay is None:
            return
        if is_inside(str(self._setup.folder), replay.notes.shell_folder):
            shell.path = replay.notes.shell_folder
        if replay.mode in set(MODES):
            self.policy.mode = replay.mode
        # A journal may be anybody's: it opens no file but those that a session of this project has put aside.
        ours = [path for path in replay.spilled if results is not None and is_result(path, results)]
        for path in ours:
            outputs.add(path)
        if gone := [path for path in replay.spilled if path not in ours or not Path(path).exists()]:
            self.notes.append(say_gone(gone))
            self.replay = msgspec.structs.replace(replay, gone=tuple(gone))

    def _build_sandbox(self) -> "CommandSandbox | None":
        if not self._setup.options.sandbox:
            return None
        from everturn.compose.sandbox import build_sandbox

        sandbox, warning = build_sandbox(self._setup, self._env, self.policy, self.scratch)
        self.notes += [warning] if warning else []
        return sandbox

    def _build_grants(
        self, live: LiveRules | None, sandbox: "CommandSandbox | None", shell: ShellFolder
    ) -> PolicyGrants:
        options = self._setup.options
        return PolicyGrants(
            self.policy,
            folder=str(self._setup.folder),
            user_home=os.path.realpath(find_user_home(self._env)),
            trusted=options.trusted,
            only_managed=options.only_managed_rules,
            live=live,
            allow_host=sandbox.allow_host if sandbox else None,
            shell=shell,
        )

    def _plan_config(self, session_id: str) -> Config:
        options = self._setup.options
        return Config(
            session_id=session_id,
            folder=str(self._setup.folder),
            limits=self._setup.limits,
            streaming_tools=options.streaming_tools,
            tool_summaries=options.tool_summaries,
            collapse=options.collapse,
            fast=options.fast,
            cache_ttl=options.cache_ttl,
            small_model=self._resolve(options.small_model),
        )

    def _check_model(self, model: str) -> None:
        card, setup = self._catalog.card(model), self._setup
        if not card.known:
            self.notes.append(
                f"The model {model} is not in the catalogue; window, caps and prices are those of its family "
                f"({card.family or 'generic'}). Describe it with {self._name_option('models')}."
            )
        effort = setup.options.effort
        # What stands in the environment or the settings is meant for all models, and no demand on each of them.
        is_demand = setup.options.thinking is not None and not isinstance(setup.options.thinking, bool)
        if is_demand and (problem := check_thinking(setup.thinking, card, effort)):
            raise OptionError("thinking", problem)
        if effort is not None and (problem := check_effort(effort, card)):
            raise OptionError("effort", problem)


def say_gone(paths: list[str]) -> str:
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"Large results of this session were deleted: {paths[0]}{more}. The model knows their beginnings and ends."


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

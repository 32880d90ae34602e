"""What the model is told before a conversation, from options and world: the prompt's sections, and where the model works."""

import time
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from everturn.engine.deps import Prompting
from everturn.permissions.policy import RulePolicy
from everturn.ports.clock import Clock
from everturn.ports.model import Catalog
from everturn.ports.policy import Ruling
from everturn.ports.tool import Tool
from everturn.prompt.briefing import Briefing
from everturn.prompt.environment import TOLD_ONCE, TOLD_WITH_PROMPT, PromptEnvironment, render_environment
from everturn.prompt.modes import render_mode_line, render_permissions
from everturn.prompt.sections import render_system_prompt
from everturn.sandbox.session_scratch import SessionScratch
from everturn.settings.options import Options
from everturn.settings.setup import Setup
from everturn.workspace.git_branch import load_branch
from everturn.workspace.git_count import GitCount
from everturn.workspace.platform import describe_platform

if TYPE_CHECKING:
    from everturn.engine.engine import Engine
    from everturn.prompt.parts import PromptPart


def plan_briefing(setup: Setup, tools: Collection[Tool]) -> Briefing:
    options, settings = setup.options, setup.written
    allowing = (rule for rule in settings.permissions.rules if rule.ruling is Ruling.ALLOW)
    written = () if settings.only_managed_rules else tuple(rule.text for rule in allowing)
    rules = tuple(dict.fromkeys((*options.allowed_tools, *written)))
    return Briefing(
        person=options.approver is not None, tools=frozenset(tool.name for tool in tools), rules=tuple(sorted(rules))
    )


def plan_prompting(options: Options, briefing: Briefing, find: Callable[[str, str], Mapping[str, str]]) -> Prompting:
    """`find`: the environment, by the model and the permission mode."""

    def render_system(permissions: str) -> tuple[str, ...]:
        own = options.system_prompt
        first = render_system_prompt(briefing, permissions) if own is None else own
        return tuple(text for text in (first, options.append_system_prompt) if text)

    def find_system(model: str, mode: str) -> dict[str, str]:
        return {**(find(model, mode) if options.environment else {}), **options.system_context}

    return Prompting(
        system=render_system,
        permissions=lambda mode: render_permissions(mode, briefing) if options.system_prompt is None else "",
        user_context=options.user_context,
        system_context=find_system,
        told_once=TOLD_ONCE,
        told_with_prompt=TOLD_WITH_PROMPT,
        output_schema=options.output_schema,
    )


def list_prompt_parts(engine: "Engine", setup: Setup) -> "tuple[PromptPart, ...]":
    """What the model is told before the conversation, piece by piece."""
    from everturn.prompt.parts import list_parts

    contexts, tools = engine.told_before
    return list_parts(
        contexts,
        tools,
        plan_briefing(setup, engine.tools),
        own_prompt=setup.options.system_prompt,
        appended=setup.options.append_system_prompt,
    )


class EnvironmentFinder:
    """Looks at the world for the environment."""

    def __init__(
        self,
        setup: Setup,
        briefing: Briefing,
        *,
        policy: RulePolicy,
        catalog: Catalog,
        clock: Clock,
        scratch: SessionScratch,
        git: GitCount | None,
    ) -> None:
        self._setup, self._briefing = setup, briefing
        self._policy, self._catalog, self._clock, self._scratch = policy, catalog, clock, scratch
        self._git = git
        self._changed_files: int | None = None

    def find(self, model: str, mode: str) -> dict[str, str]:
        """Never raises."""
        setup = self._setup
        if self._git is not None:
            self._changed_files, self._git = self._git.take(), None
        today = time.localtime(self._clock.now())
        return render_environment(
            PromptEnvironment(
                folder=str(setup.folder),
                added=self._policy.folders[1:],
                trusted=setup.trusted,
                branch=load_branch(setup.folder),
                changed_files=self._changed_files,
                platform=describe_platform(),
                today=(today.tm_year, today.tm_mon, today.tm_mday, today.tm_wday),
                model=model,
                knowledge=self._catalog.card(model).knowledge,
                scratch=self._scratch.path,
                mode="" if setup.options.system_prompt is None else render_mode_line(mode, self._briefing),
            )
        )

    def close(self) -> None:
        """Ends what still counts."""
        if self._git is not None:
            self._git.close()

"""What the model is told before a conversation, from options and world: the prompt's sections, and where the model works."""

import os
import time
from collections.abc import Callable, Collection, Mapping
from functools import cache

from everturn.compose.git_count import GitCount
from everturn.compose.scratch import SessionScratch
from everturn.engine.deps import Prompting
from everturn.permissions.policy import RulePolicy
from everturn.ports.clock import Clock
from everturn.ports.model import Catalog
from everturn.ports.policy import Ruling
from everturn.ports.tool import Tool
from everturn.prompt.briefing import Briefing
from everturn.prompt.environment import TOLD_ONCE, TOLD_WITH_PROMPT, Environment, render_environment
from everturn.prompt.modes import render_mode_line, render_permissions
from everturn.prompt.sections import render_system_prompt
from everturn.sessions.branch import load_branch
from everturn.settings.options import Options
from everturn.settings.setup import Setup

OS_RELEASE = "/etc/os-release"
_NAME = "PRETTY_NAME="
_MOST_BYTES = 4_096


def plan_briefing(options: Options, tools: Collection[Tool]) -> Briefing:
    written = (rule.text for rule in options.rules if rule.ruling is Ruling.ALLOW and not options.only_managed_rules)
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


class Surroundings:
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
            Environment(
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


@cache
def describe_platform() -> str:
    """The system with its version, then the kernel and the machine. Looked up once in a process."""
    uname = os.uname()
    name = _load_system_name()
    kernel = f"{uname.sysname} {uname.release}, {uname.machine}"
    return f"{name}, {kernel}" if name else kernel


def _load_system_name() -> str:
    try:
        descriptor = os.open(OS_RELEASE, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        text = os.read(descriptor, _MOST_BYTES).decode(errors="replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    named = (line.removeprefix(_NAME) for line in text.splitlines() if line.startswith(_NAME))
    return next(named, "").strip().strip('"')

"""The holder of an engine, which confines commands that nobody approved; made when the first such command comes."""

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from everturn.compose.hooks import list_own_files
from everturn.core.errors import ToolFault
from everturn.permissions.policy import RulePolicy
from everturn.ports.holding import Bounds, Holding, Search, Walls
from everturn.ports.outputs import Outputs
from everturn.ports.policy import Ruling
from everturn.ports.resources import Resources
from everturn.ports.scratch import NO_SCRATCH, Scratch
from everturn.ports.shell_folder import ShellFolder
from everturn.settings.environment import find_shell_home, find_user_home
from everturn.settings.setup import Setup
from everturn.workspace.temporary_folder import find_temporary_folder

if TYPE_CHECKING:
    from everturn.ports.sandbox import Cell, Start
    from everturn.sandbox.aftermath import Aftermath
    from everturn.sandbox.held.holder import CommandHolder

WITHOUT_VARIABLE = "EVERTURN_HOLD_WITHOUT"
"""For those who test: `landlock`, `bubblewrap` or `off` passes over what the machine has."""


UNHELD = (
    "This machine cannot confine commands that nobody approved ({}), so all but a dozen plain ones, such as cat and ls with "
    "fixed arguments, are asked about. everturn doctor says what would help."
)


class SessionHolder:
    """`ports.sandbox.Holder`. A session that runs no command loads nothing of it."""

    def __init__(
        self,
        setup: Setup,
        env: Mapping[str, str],
        policy: RulePolicy,
        *,
        outputs: Outputs,
        shell: ShellFolder,
        tell: Callable[[str], None],
        bounds: Bounds | None = None,
        scratch: Scratch = NO_SCRATCH,
        aftermath: "Aftermath | None" = None,
        resources: Resources | None = None,
    ) -> None:
        """`tell` shows the person a notice. `bounds`: what a command may take of the machine, if others than usual. `aftermath`: of the sandbox."""
        self.bounds = bounds or Bounds()
        self._setup, self._env, self._policy = setup, env, policy
        self._outputs, self._shell, self._tell = outputs, shell, tell
        self._scratch, self._aftermath = scratch, aftermath
        self._resources = resources or Resources()
        self._made = self._told = False

    @property
    def walls(self) -> Walls:
        walls = self._holder.walls
        if not self._told:
            self._told = True
            if not walls.reads:
                self._tell(UNHELD.format(walls.why))
        return walls

    async def prepare(self) -> None:
        """Before a command is judged, where rules keep files from being read."""
        await self._holder.prepare()

    async def hold(self, holding: Holding, start: "Start", folder: str) -> "Cell":
        return await self._holder.hold(holding, start, folder)

    async def hold_search(self, search: Search, start: "Start", folder: str) -> "Cell | None":
        return await self._holder.hold_search(search, start, folder)

    async def aclose(self) -> None:
        if self._made:
            await self._holder.aclose()

    @cached_property
    def _holder(self) -> "CommandHolder":
        from everturn.permissions.git.identity import copy_identity
        from everturn.permissions.git.places import list_around
        from everturn.sandbox.held.holder import CommandHolder
        from everturn.sandbox.held.premises import Premises

        self._made = True
        policy, env, shell = self._policy, self._env, self._shell
        sandbox = self._setup.options.sandbox
        code = list_own_files(self._setup)
        return CommandHolder(
            Premises(
                folders=lambda: policy.folders,
                home=os.path.realpath(find_shell_home()),
                own=(*list_own_folders(self._setup, env), *filter(os.path.lexists, code)),
                code=code,
                scratch=self._scratch,
                temporary=find_temporary_folder(env),
                list_outputs=self._outputs.list_paths,
                find_hides=policy.find_hides,
                list_denied=lambda: list_denied(policy, str(self._setup.folder), find_shell_home()),
                list_exports=lambda: shell.exported,
                copy_identity=lambda given, place: copy_identity(
                    given["HOME"], place, configured=given.get("XDG_CONFIG_HOME", ""), folders=policy.folders
                ),
                resources=self._resources,
                bounds=self.bounds,
                aftermath=self._aftermath,
                find_git=lambda folder: list_around(folder, policy.folders, find_shell_home()),
            ),
            program=sandbox.get("bwrapPath") if isinstance(sandbox, Mapping) else None,
            without=env.get(WITHOUT_VARIABLE, ""),
        )


def list_denied(policy: RulePolicy, folder: str, user_home: str) -> tuple[str, ...]:
    """Places that a rule keeps from being written: those that it names, and those that are there. Raises `ToolFault`."""
    from everturn.compose.sandbox import name_paths

    denied = [rule for rule in policy.rules.rules if rule.ruling is not Ruling.ALLOW and rule.specifier is not None]
    coverage = policy.find_coverage("write", Ruling.DENY, Ruling.ASK)
    there = () if coverage is None else coverage.find(policy.walk)
    if there is None:
        raise ToolFault(
            "The command did not run: rules keep files from being written, and the working folders hold too many files to "
            "find them all. Change the files themselves, with Edit or Write."
        )
    return tuple(dict.fromkeys((*name_paths(denied, "Edit", folder, user_home), *there)))


def list_own_folders(setup: Setup, env: Mapping[str, str]) -> tuple[str, ...]:
    """Where our own settings and sessions may lie: no command writes there."""
    users = (f"{home}/.claude" for home in (find_user_home(env), find_shell_home()))
    homes = (str(setup.home), env.get("EVERTURN_HOME"), env.get("CLAUDE_CONFIG_DIR"), *users)
    return tuple(dict.fromkeys(os.path.abspath(home) for home in homes if home))  # noqa: PTH100 - paths as text

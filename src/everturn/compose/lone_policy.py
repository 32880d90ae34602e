"""The policy without an engine, for `everturn permissions test`: what would happen to a call."""

import atexit
import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from everturn.compose.cli import plan_launch
from everturn.compose.holder import WITHOUT_VARIABLE
from everturn.compose.policy import GIVEN, advise, build_policy
from everturn.permissions.policy import RulePolicy
from everturn.ports.holding import Walls
from everturn.ports.outputs import Outputs
from everturn.ports.policy import Call
from everturn.ports.shell_folder import ShellFolder
from everturn.ports.tool import Tool, Traits
from everturn.sandbox.session_scratch import SessionScratch
from everturn.settings.environment import find_shell_home
from everturn.settings.program_files import naming_way_out
from everturn.workspace.temporary_folder import find_temporary_folder

FILLED: dict[str, dict[str, Any]] = {
    "Edit": {"old_string": "old", "new_string": "new"},
    "Write": {"content": ""},
    "NotebookEdit": {"new_source": ""},
    "Glob": {"pattern": "*"},
    "Grep": {"pattern": "."},
    "WebFetch": {"prompt": "Read it."},
}
"""What a call must have, and no rule looks at."""


@cache
def build_tool(name: str) -> Tool | None:
    """None where it is none of ours."""
    from everturn.tools.builtin import NAMES, builtin_tools

    return next(iter(builtin_tools({name})), None) if name in NAMES else None


def build_call(name: str, input_: Mapping[str, Any], *, call_id: str = "test") -> Call:
    """As the engine makes it. Raises `InputFault` where the tool would refuse the input."""
    given = {**FILLED.get(name, {}), **input_}
    tool = build_tool(name)
    if tool is None:
        return Call(id=call_id, name=name, input=given, traits=Traits(), line=name)
    parsed = tool.parse(given)
    return Call(id=call_id, name=name, input=given, traits=tool.traits(parsed), line=tool.line(parsed))


def load_policy(env: Mapping[str, str], flags: Mapping[str, Any]) -> tuple[RulePolicy, tuple[str, ...]]:
    """The one that a run with these flags (by the names of `Options`) would have, and its warnings. Raises `OptionError`."""
    launch = plan_launch(flags, env)
    with naming_way_out(launch.roots):
        scratch = SessionScratch(lambda: policy.folders, find_temporary_folder(launch.env))
        atexit.register(scratch.close)
        policy, warnings = build_policy(launch.setup, launch.env, Outputs(), ShellFolder(), scratch)
    policy.find_walls = lambda: find_machine_walls(policy.folders, find_shell_home())
    from everturn.tools.builtin import NAMES

    return policy, (*launch.warnings, *warnings, *advise(policy, NAMES, _name_flag))


@cache
def find_machine_walls(folders: tuple[str, ...], home: str, program: str | None = None) -> Walls:
    """What holds commands that nobody approves, on this machine. `program`: where bubblewrap is."""
    from everturn.sandbox.held.walls import MachineWalls

    return MachineWalls(folders, home, program=program, without=os.environ.get(WITHOUT_VARIABLE, ""))


def _name_flag(field: str) -> str:
    """Of `everturn permissions`: `--deny` for the option `disallowed_tools`."""
    return next((f"--{ruling}" for ruling, given in GIVEN.items() if given == field), field)

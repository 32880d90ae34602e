"""What decides about the calls of an engine and confines its commands: policy, sandbox, holder, and what changes them."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from everturn.compose.holder import SessionHolder
from everturn.compose.policy import build_policy
from everturn.core.modes import PermissionMode
from everturn.engine.notices import Notices
from everturn.permissions.live_policy import LivePolicy
from everturn.permissions.live_rules import LiveRules
from everturn.permissions.session_grants import PolicyGrants
from everturn.ports.judged_paths import JudgedPath
from everturn.ports.outputs import Outputs
from everturn.ports.policy import Call, Policy, Ruling
from everturn.ports.shell_folder import ShellFolder
from everturn.ports.store import Replay
from everturn.ports.tool import Access, Traits
from everturn.sandbox.session_scratch import SessionScratch
from everturn.settings.environment import find_user_home
from everturn.settings.grants import LocalRuleFile
from everturn.settings.setup import Setup
from everturn.workspace.paths import is_inside
from everturn.workspace.temporary_folder import find_temporary_folder

if TYPE_CHECKING:
    from everturn.compose.world import World
    from everturn.permissions.policy import RulePolicy
    from everturn.sandbox.command_sandbox import CommandSandbox
    from everturn.tools.goals.verifier import CommandVerifier


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """What decides about calls, and what holds commands."""

    policy: "RulePolicy"
    warnings: tuple[str, ...]
    sandbox: "CommandSandbox | None"
    holder: SessionHolder
    shell: ShellFolder
    scratch: SessionScratch


def build_guard(setup: Setup, env: Mapping[str, str], outputs: Outputs, notices: Notices) -> Guard:
    shell = ShellFolder()
    temporary = outputs.temporary = find_temporary_folder(env)
    scratch = SessionScratch(lambda: policy.folders, temporary)
    policy, warnings = build_policy(setup, env, outputs, shell, scratch)
    sandbox = None
    if setup.options.sandbox:
        from everturn.compose.sandbox import build_sandbox

        sandbox, warning = build_sandbox(setup, env, policy, scratch)
        if warning:
            notices.add(warning)
    holder = SessionHolder(
        setup,
        env,
        policy,
        outputs=outputs,
        shell=shell,
        tell=notices.tell,
        scratch=scratch,
        aftermath=sandbox.aftermath if sandbox is not None else None,
    )
    policy.find_walls, policy.prepare_walls = (lambda: holder.walls), holder.prepare
    return Guard(policy=policy, warnings=tuple(warnings), sandbox=sandbox, holder=holder, shell=shell, scratch=scratch)


def resume_guard(guard: Guard, replay: Replay | None, setup: Setup) -> None:
    """The folder of the shell and the permission mode are as the session left them."""
    if replay is None:
        return
    if is_inside(str(setup.folder), replay.notes.shell_folder):
        guard.shell.path = replay.notes.shell_folder
    if replay.mode in set(PermissionMode):
        guard.policy.mode = replay.mode


def watch_settings(policy: "RulePolicy", live: LiveRules | None, notices: Notices, *, asks: bool) -> LivePolicy | None:
    """Set where settings files may change while we run."""
    return None if live is None else LivePolicy(policy, live, tell=notices.tell, asks=asks)


def look_around(policy: "RulePolicy", watched: LivePolicy | None) -> "RulePolicy":
    """With what settings files say by now."""
    if watched is not None:
        watched.look()
    return policy


def follow_leader(policy: "RulePolicy", world: "World") -> Policy:
    if world.find_leader is None:
        return policy
    from everturn.permissions.following_policy import FollowingPolicy

    return FollowingPolicy(policy, world.find_leader)


def judge_reading(policy: Policy, path: str) -> JudgedPath | None:
    """Whether the model could read it now, unasked: only then it is read again for the model. Rules and links may have changed."""
    call = Call(
        id="",
        name="Read",
        input={"file_path": path},
        traits=Traits(read_only=True, concurrent=True, access=Access.READ),
        line=f"Read {path}",
    )
    verdict = policy.judge(call)
    return verdict.judged if verdict.ruling is Ruling.ALLOW else None


def build_grants(setup: Setup, env: Mapping[str, str], guard: Guard, live: LiveRules | None) -> PolicyGrants:
    sandbox = guard.sandbox
    return PolicyGrants(
        guard.policy,
        folder=str(setup.folder),
        file=LocalRuleFile(str(setup.folder), os.path.realpath(find_user_home(env))),
        trusted=setup.trusted,
        only_managed=setup.written.only_managed_rules,
        live=live,
        allow_host=sandbox.allow_host if sandbox else None,
        shell=guard.shell,
    )


def refuse_held(policy: LivePolicy | None, live: LiveRules | None) -> None:
    """What of changed settings waits for a person's answer has it."""
    if policy is not None and live is not None:
        policy.look()
        if (held := live.held) is not None:
            live.refuse(held)


def make_verifier(setup: Setup, guard: Guard, outputs: Outputs) -> "CommandVerifier":
    from everturn.tools.goals.verifier import CommandVerifier

    return CommandVerifier(
        str(setup.folder),
        limits=setup.limits,
        sandbox=guard.sandbox,
        outputs=outputs,
        scratch=guard.scratch,
        list_added=lambda: guard.policy.folders[1:],
    )

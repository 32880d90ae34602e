"""The sandbox of an engine: chosen by the settings and by what works on the machine."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from everturn.compose.holder import list_own_folders
from everturn.compose.hooks import list_own_files
from everturn.core.errors import OptionError
from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules.domains import DomainRules
from everturn.permissions.rules.rule import Rule, RuleSet
from everturn.ports.policy import Ruling
from everturn.ports.scratch import NO_SCRATCH, Scratch
from everturn.sandbox.command_sandbox import CommandSandbox, SandboxRules, SandboxSurroundings
from everturn.sandbox.probe import find_means
from everturn.sandbox.settings import parse_sandbox_settings
from everturn.settings.environment import find_shell_home
from everturn.settings.setup import Setup

if TYPE_CHECKING:
    from everturn.permissions.paths.coverage import Coverage


NO_NETWORK = "Commands in the sandbox reach no network, although hosts are allowed: that takes bubblewrap ({})."
STILL_ASKED = (
    "Landlock alone is the sandbox here ({}), so commands in it are still asked about. It does not keep a command from changing "
    "modes, owners and times of your files outside the workspace, it puts protected files back only when the command has ended, "
    "and it hides no processes. If that is enough for you, set sandbox.autoAllowBashIfSandboxed to true (it counts with Linux 6.12)."
)


def build_sandbox(
    setup: Setup, env: Mapping[str, str], policy: RulePolicy, scratch: Scratch = NO_SCRATCH
) -> tuple[CommandSandbox | None, str]:
    """None where it is off; and a warning where it is wanted and there is none. Raises `OptionError`.

    What rules deny to Read, Edit and WebFetch is denied to commands, too, from the next one on.
    """
    options, folder = setup.options, str(setup.folder)
    user_home = find_shell_home()
    settings = parse_sandbox_settings(options.sandbox or False, folder, user_home)
    if not settings.enabled:
        return None, ""
    means = find_means(settings.program, folders=policy.folders)
    if means.kind == "none" and settings.required:
        raise OptionError("sandbox", f"is required, and there is none here: {means.why}")
    surroundings = SandboxSurroundings(
        folders=(folder,), home=user_home, own=list_own_folders(setup, env), code=list_own_files(setup)
    )
    warning = f"COMMANDS RUN WITHOUT A SANDBOX, although the settings want one: {means.why}."
    if means.kind != "none":
        by_rules = means.kind == "landlock"
        told = (
            NO_NETWORK.format(means.why) if by_rules and settings.has_network else "",
            STILL_ASKED.format(means.why) if by_rules and settings.auto_allow is None else "",
        )
        warning = " ".join(filter(None, told))
    ruled = CurrentSandboxRules(policy, folder, user_home)
    asks = options.approver is not None
    return CommandSandbox(settings, means, surroundings, ruled, asks=asks, scratch=scratch), warning


class CurrentSandboxRules:
    """What the policy's rules say to the sandbox; looked up again when they have changed."""

    def __init__(self, policy: RulePolicy, folder: str, user_home: str) -> None:
        self._policy, self._folder, self._user_home = policy, folder, user_home
        self._seen: RuleSet | None = None
        self._ruled = SandboxRules()

    def __call__(self) -> SandboxRules:
        rules = self._policy.rules
        if rules is not self._seen:
            denied = [rule for rule in rules.rules if rule.ruling is Ruling.DENY and rule.specifier is not None]
            self._seen = rules
            self._ruled = SandboxRules(
                deny_read=tuple(name_paths(denied, "Read", self._folder, self._user_home)),
                deny_write=tuple(name_paths(denied, "Edit", self._folder, self._user_home)),
                find_unread=Finder(self._policy.find_coverage("read", Ruling.DENY)),
                find_unwritten=Finder(self._policy.find_coverage("write", Ruling.DENY)),
                folders=self._policy.folders[1:],
                object_to=DeniedHosts(denied),
            )
        return self._ruled


class Finder:
    """The files that deny rules cover, as they are when it is called."""

    def __init__(self, coverage: "Coverage | None") -> None:
        self._coverage = coverage

    def __call__(self) -> tuple[str, ...] | None:
        if self._coverage is None:
            return ()
        from everturn.permissions.paths.coverage import walk_folders

        return self._coverage.find(walk_folders)


class DeniedHosts:
    """What may not be fetched may not be reached by commands, either: rules such as `WebFetch(domain:example.com)`."""

    def __init__(self, denied: Iterable[Rule]) -> None:
        self._rules = DomainRules(rule for rule in denied if rule.tool == "WebFetch")

    def __call__(self, host: str) -> str | None:
        rule = self._rules.find(host)
        return rule.sentence if rule else None


def name_paths(rules: Iterable[Rule], tool: str, folder: str, user_home: str) -> Iterator[str]:
    """Of rules that name one place, there or not. A name without a folder means any depth: here it holds at the top."""
    for rule in rules:
        bare = (rule.specifier or "").removeprefix("**/").removesuffix("**").rstrip("/")
        if rule.tool != tool or not bare or any(mark in bare for mark in "*?[!\\"):
            continue
        anchors = {"//": "/", "~/": user_home, "/": rule.folder or folder, "./": folder}
        anchor = next((anchor for anchor in anchors if bare.startswith(anchor)), "")
        yield os.path.normpath(f"{anchors.get(anchor, folder)}/{bare[len(anchor) :]}")

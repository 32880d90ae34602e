"""The policy of an engine: the command line's rules and those of the settings files, in the folders that they hold in."""

import os
from collections.abc import Callable, Collection, Mapping

from everturn.compose.hooks import list_own_files
from everturn.core.errors import OptionError
from everturn.core.modes import PermissionMode
from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules.given_rules import advise_rule, find_strangers, parse_given
from everturn.permissions.rules.names import find_alike
from everturn.permissions.rules.rule import Rule, Source
from everturn.permissions.rules.written import find_missing, join_rules
from everturn.permissions.rules_in_force import Workplace
from everturn.ports.outputs import Outputs
from everturn.ports.policy import Ruling
from everturn.ports.scratch import NO_SCRATCH, Scratch
from everturn.ports.shell_folder import ShellFolder
from everturn.settings.setup import Setup
from everturn.workspace.paths import is_inside

GIVEN = {Ruling.ALLOW: "allowed_tools", Ruling.ASK: "ask_tools", Ruling.DENY: "disallowed_tools"}
"""Options that hold rules."""
UNREACHABLE = (
    "There is a goal, but the model may not change files: nobody can be asked, and neither the permission mode nor a rule allows "
    "it. Give the mode acceptEdits, or a rule such as Edit(src/**)."
)


def build_policy(
    setup: Setup, env: Mapping[str, str], outputs: Outputs, shell: ShellFolder, scratch: Scratch = NO_SCRATCH
) -> tuple[RulePolicy, tuple[str, ...]]:
    """And a warning for each rule that was passed over and each folder that is not there. Raises `OptionError`."""
    options, written, folder = setup.options, setup.written, str(setup.folder)
    given = [
        rule for ruling, field in GIVEN.items() for rule in parse_given(field, getattr(options, field), ruling, folder)
    ]
    homes = (str(setup.home), env.get("EVERTURN_HOME"), env.get("CLAUDE_CONFIG_DIR"))
    workplace = Workplace(
        folder=folder,
        added=tuple(_place(folder, each) for each in options.add_dirs),
        own=tuple(dict.fromkeys((*(_place(folder, home) for home in homes if home), *list_own_files(setup)))),
        trusted=options.trusted,
    )
    policy = RulePolicy(
        options.permission_mode or PermissionMode.DEFAULT,
        workplace,
        rules=given,
        outputs=outputs,
        shell=shell,
        bypass_disabled=written.bypass_disabled,
        try_held=options.try_held,
        scratch=scratch,
        permitted=(options.verify or "").strip(),
    )
    rules, warnings = join_rules(written.permissions.rules)
    folders = written.permissions.paths
    if rules or folders:
        policy.replace_rules(rules, folders)
    return policy, (*warnings, *find_missing((*workplace.added, *folders)))


class AddedFolders:
    """Working folders that a person adds between two prompts: in force at once, and in the conversations that follow after `clear`."""

    def __init__(self) -> None:
        self._added: list[str] = []

    def put_in(self, policy: RulePolicy) -> None:
        for folder in self._added:
            policy.add_folder(folder)

    def add(self, given: str, folder: str, policy: RulePolicy) -> str:
        """`given` may be relative to the `folder` or begin with `~`. Returns the real path. Raises `OptionError`."""
        place = os.path.realpath(_place(folder, given))
        if not os.path.isdir(place):  # noqa: PTH112 (paths are text here)
            raise OptionError("add_dirs", f"{place} is {'no folder' if os.path.lexists(place) else 'not there'}")
        if not os.access(place, os.R_OK | os.X_OK):
            raise OptionError("add_dirs", f"{place} cannot be opened: permission denied")
        if any(is_inside(each, place) for each in policy.folders):
            part = "" if place in policy.folders else "part of "
            raise OptionError("add_dirs", f"{place} is {part}a working folder already")
        policy.add_folder(place)
        self._added.append(place)
        return place


def advise(policy: RulePolicy, known: Collection[str], name_option: Callable[[str], str]) -> list[str]:
    """What to tell of rules that will hardly do what was meant. No errors: another machine may have the tool."""
    rules = policy.rules.rules
    there = ", ".join(sorted(known))
    told = [
        f"{_origin(rule, name_option)}: there is no tool named {rule.tool}{_alike(rule.tool, known)} (there are: {there})."
        for rule in find_strangers(rules, known)
    ]
    return told + [f"{_origin(rule, name_option)}: {advice}" for rule in rules if (advice := advise_rule(rule))]


def advise_goal(policy: RulePolicy, builtin: Collection[str], *, asks: bool) -> list[str]:
    """What to tell of a goal that the model can hardly reach. `asks`: a person or the program can approve what it wants to change."""
    changes = policy.mode in {PermissionMode.ACCEPT_EDITS, PermissionMode.BYPASS}
    allowed = any(rule.ruling is Ruling.ALLOW and _may_change(rule, builtin) for rule in policy.rules.rules)
    return [] if asks or changes or allowed else [UNREACHABLE]


def _may_change(rule: Rule, builtin: Collection[str]) -> bool:
    """Files, as far as can be told: what the caller's own tools and those of servers do is not known."""
    is_open = rule.tool == "Bash" and rule.specifier in {None, "*"}
    return is_open or rule.tool in {"Edit", "Write", "NotebookEdit"} or rule.tool not in builtin


def _alike(tool: str, known: Collection[str]) -> str:
    found = find_alike(tool, known)
    return f"; did you mean {found}?" if found else ""


def _origin(rule: Rule, name_option: Callable[[str], str]) -> str:
    return rule.origin or (name_option(GIVEN[rule.ruling]) if rule.source is Source.COMMAND_LINE else rule.place)


def _place(folder: str, given: str | os.PathLike[str]) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(given)))  # noqa: PTH111, PTH118 (before the first request)

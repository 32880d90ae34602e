"""May this command run? Deny, ask, what is critical, the mode, what only reads, and what the rules allow: in this order."""

from typing import Any

import msgspec

from everturn.core.modes import PermissionMode
from everturn.permissions.judgement import JudgedWorld, Judgement
from everturn.permissions.rules.rule import RuleSet
from everturn.permissions.shell.approval.critical_removals import judge_critical
from everturn.permissions.shell.reading.prescan import MAX_ARGUMENT_LENGTH
from everturn.permissions.shell.running.survey import survey_command
from everturn.ports.policy import Ruling


def judge_command(
    command: str,
    rules: RuleSet,
    world: JudgedWorld,
    *,
    input: dict[str, Any] | None = None,  # noqa: A002 (the call's input, as everywhere)
) -> Judgement:
    """`input`: all fields of the call, for rules such as `Bash(run_in_background:true)`."""
    if len(command) > MAX_ARGUMENT_LENGTH:
        from everturn.permissions.shell.by_rules import judge_monster

        return judge_monster(command, rules)
    exports = {**dict.fromkeys(world.unset, ""), **world.exports}
    survey = survey_command(command, world.cwd, world.home, world.temporary, exports)
    critical = judge_critical(survey, world)
    if world.mode == PermissionMode.BYPASS and rules.only_allows:
        # Only what is critical is asked about: what judges files and rules need not even be loaded.
        judgement = critical or Judgement(ruling=Ruling.ALLOW, why=f"mode {PermissionMode.BYPASS}")
    else:
        from everturn.permissions.shell.by_rules import judge_by_rules

        judgement = judge_by_rules(command, survey, rules, world, given=input or {}, critical=critical)
    return msgspec.structs.replace(judgement, grave=True) if critical is not None and critical.grave else judgement

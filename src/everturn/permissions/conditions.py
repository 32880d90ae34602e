"""Whether a permission rule covers a call, for filters such as the `if` of a hook. If that cannot be known, the answer is yes."""

import os
from collections.abc import Callable
from functools import cache

from everturn.core.modes import PermissionMode
from everturn.core.patterns import compile_late
from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules.names import ALIASES, covers_name
from everturn.permissions.rules.rule import Rule, RuleSet
from everturn.permissions.rules.rule_parser import PATH_TOOLS, RuleProblem, parse_rule
from everturn.permissions.rules_in_force import Workplace
from everturn.ports.policy import Call, Ruling
from everturn.ports.shell_folder import ShellFolder
from everturn.ports.tool import Access

_SUBSTITUTED = compile_late(r"`|\$[({A-Za-z_]")
_SEVERAL = compile_late(r"\)[\s|,]+[A-Za-z_]\w*\(")
"""Between two rules in one text, as in `Bash(git *)|Bash(npm *)`."""
_EDITORS = frozenset({"Write", "Edit", "NotebookEdit"})


class CallFilter:
    """`ports.hooks.Covers`. A rule is held against every part of a command line, as a deny rule would be.

    Other agents take any variable for a match. Here a variable counts where it may become what the rule names: `git $x`, not `echo $x`.
    """

    def __init__(self, folder: str, find_folder: Callable[[], str]) -> None:
        """`find_folder`: where the next command would start."""
        self._folder = folder
        self._find_folder = find_folder
        self._parse = cache(self._parse_rule)

    def problem(self, text: str) -> str:
        """Why this is no rule; empty where it is one."""
        try:
            self._read(text)
        except RuleProblem as problem:
            return str(problem)
        return ""

    def __call__(self, rule: str, call: Call) -> bool:
        parsed = self._parse(rule)
        if parsed is None:
            return True
        if parsed.specifier is None:
            return covers_name(parsed.tool, call.name)
        if parsed.tool == "Bash" and (call.name != "Bash" or self._covers_command(parsed, call)):
            return call.name == "Bash"
        if parsed.tool == "Read" and call.name in _EDITORS:
            return False
        if parsed.tool not in PATH_TOOLS and not covers_name(parsed.tool, call.name):
            return False
        workplace = Workplace(folder=self._folder)
        shell = ShellFolder()
        shell.path = self._find_folder()
        judgement = RulePolicy(PermissionMode.BYPASS, workplace, rules=(parsed,), shell=shell).explain(call)
        if judgement.rule is not None or judgement.ruling is Ruling.ALLOW or call.name != "Bash":
            return judgement.rule == parsed
        # What a line runs, or opens, is only known then: with the rule a person would be asked, and without it nobody.
        return RulePolicy(PermissionMode.BYPASS, workplace, shell=shell).judge(call).ruling is Ruling.ALLOW

    def _covers_command(self, rule: Rule, call: Call) -> bool:
        from everturn.permissions.shell.approval.command_pattern import Patterns
        from everturn.permissions.shell.running.command_doubts import CommandDoubts
        from everturn.permissions.shell.running.survey import survey_command

        command = call.input.get("command")
        if not isinstance(command, str) or call.traits.access is not Access.EXECUTE:
            return True
        survey = survey_command(command, os.path.realpath(self._find_folder()), os.path.expanduser("~"))  # noqa: PTH111 (as text)
        if survey.reading.unsure or survey.reading.broken:
            return True
        patterns = Patterns((rule,))
        if patterns.find_parameter(call.input) is not None or any(map(patterns.find, survey.texts)):
            return True
        return _SUBSTITUTED.search(command) is not None and bool(CommandDoubts(survey, RuleSet((rule,))).find())

    def _parse_rule(self, text: str) -> Rule | None:
        try:
            return self._read(text)
        except RuleProblem:
            return None

    def _read(self, text: str) -> Rule:
        """A path that begins with a folder is one of the working folder: `Edit(src/**)` is `Edit(/src/**)`."""
        if _SEVERAL.search(text):
            raise RuleProblem(text, "holds several rules; each needs a hook of its own")
        rule = parse_rule(text, Ruling.DENY, folder=self._folder)
        specifier = rule.specifier or ""
        tool = ALIASES.get(rule.tool, rule.tool)
        if tool in PATH_TOOLS and "/" in specifier.rstrip("/") and not specifier.startswith(("/", "~", "**/")):
            return parse_rule(f"{rule.tool}(/{specifier.removeprefix('./')})", Ruling.DENY, folder=self._folder)
        return rule

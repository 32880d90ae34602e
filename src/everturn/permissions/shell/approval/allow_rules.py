"""Which allow rule covers a command of a line, and whether the rule is enough to run it."""

import re
from collections.abc import Sequence
from functools import cached_property
from posixpath import basename

from everturn.permissions.rules.rule import Rule, RuleSet
from everturn.permissions.shell.approval.command_pattern import CommandPattern, patterns_of
from everturn.permissions.shell.approval.relative_programs import RelativeProgram
from everturn.permissions.shell.reading.syntax import Assignment, Command, Word, join_words
from everturn.permissions.shell.readonly.find import may_act
from everturn.permissions.shell.running.runners import INTERPRETERS, NEVER_BY_PATTERN, RUNNERS
from everturn.ports.policy import Ruling

_PLAIN_WORD = re.compile(r"[A-Za-z0-9_./:,@%+=-]+")


class AllowRules:
    def __init__(self, rules: RuleSet, folder: str) -> None:
        """`folder`: the working folder, which relative paths in rules start from."""
        self._patterns, self._folder = patterns_of(rules, Ruling.ALLOW), folder

    @cached_property
    def everything(self) -> Rule | None:
        """The one that covers every command, if there is one."""
        return next((rule for pattern, rule in self._patterns.covering("") if pattern.is_everything), None)

    def find(self, command: Command, words: tuple[Word, ...], unsafe: Sequence[Assignment] = ()) -> Rule | None:
        """`words`: the command's, behind wrappers; `unsafe`: variables that it sets for itself and that no rule looks past."""
        placed = RelativeProgram(words, command.here, self._folder)
        text = join_words(words)
        if unsafe:
            set_before = " ".join([each.word.raw for each in command.assignments])
            least = len(set_before) + 1 + len(command.words[0].raw)
            return self._find_literal(f"{set_before} {command.text}", least, placed, len(text))
        for spelled in dict.fromkeys((text, _join_simple(words))):
            for pattern, rule in self._patterns.covering(spelled):
                is_enough = pattern.is_exact or rule.specifier == spelled or _may_approve(pattern, words)
                if is_enough and not placed.is_named_by(pattern):
                    return rule
        if words is command.words:
            return None
        wrapped = command.text
        return self._find_literal(wrapped, len(wrapped) - len(text) + len(words[0].raw), placed, len(text))

    def _find_literal(self, text: str, least: int, placed: RelativeProgram, last: int) -> Rule | None:
        """A rule that spells the first `least` characters out. `last`: how many of the text `placed` is about."""
        for pattern, rule in self._patterns.covering(text):
            if rule is self.everything:
                return rule
            if len(pattern.head) >= least and not placed.is_named_by(pattern, len(text) - last):
                return rule
        return None


def _may_approve(pattern: CommandPattern, words: tuple[Word, ...]) -> bool:
    """Whether a rule with a star is enough for this command."""
    name = basename(words[0].raw)
    if name in NEVER_BY_PATTERN or (name == "find" and may_act(words)):
        return False
    if pattern.is_everything:
        return True
    if not words[0].plain:
        return False
    if "/../" in words[0].raw:
        # `Bash(./scripts/*)` is about what lies there.
        return len(pattern.head) >= len(words[0].raw)
    # `Bash(* --version)` was not written with `bash -c '..' --version` in mind.
    return bool(pattern.head) or (name not in RUNNERS and name not in INTERPRETERS) or _tells_about_itself(words)


def _tells_about_itself(words: tuple[Word, ...]) -> bool:
    return len(words) == len(("name", "option")) and words[1].raw in {"--version", "--help"}


def _join_simple(words: tuple[Word, ...]) -> str:
    """As `join_words`, without quotes that change nothing: `npm run "test"` is `npm run test`."""
    values = [word.fixed if word.fixed and _PLAIN_WORD.fullmatch(word.fixed) else word.raw for word in words[1:]]
    return " ".join([words[0].raw, *values])

"""Commands that rules may cover, although only running the line would show it."""

from collections.abc import Iterator
from posixpath import basename

from everturn.core.patterns import compile_late
from everturn.permissions.rules.rule import RuleSet
from everturn.permissions.shell.approval.command_pattern import patterns_of
from everturn.permissions.shell.files.clearness import (
    find_obedience,
    list_fed,
)
from everturn.permissions.shell.reading.syntax import UNKNOWN
from everturn.permissions.shell.running.hints import (
    MAKERS,
    find_assigned_hints,
    find_fed_hints,
    find_hints,
    find_renamed,
)
from everturn.permissions.shell.running.inner_commands import find_inner_words
from everturn.permissions.shell.running.runners import RUNNERS
from everturn.permissions.shell.running.survey import Survey, list_ways_to_say
from everturn.ports.policy import Ruling

_SHOWN = 80
_RUNS_FOR_GIT = compile_late(
    r"GIT_(?:CONFIG_(?:VALUE_\d+|PARAMETERS)|\w*EDITOR|PAGER|SSH|SSH_COMMAND|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND)"
)


class CommandDoubts:
    """About one line."""

    def __init__(self, survey: Survey, rules: RuleSet) -> None:
        self._survey = survey
        self._against = patterns_of(rules, Ruling.DENY), patterns_of(rules, Ruling.ASK)

    def find(self) -> str:
        """About what runs."""
        if not any(self._against):
            return ""
        if self._survey.murky:
            return self._survey.murky[0]
        if self._survey.reading.broken:
            return f"not understood: {next(iter(self._survey.reading.unsure), 'the line')}"
        for beginning in self._survey.beginnings:
            for patterns in self._against:
                if rule := patterns.find_possible(beginning):
                    return f"{rule.shown} may cover what {beginning[:_SHOWN]!r} goes on with"
        if why := find_obedience(self._survey):
            return why
        for name, value in self._survey.assigned:
            if UNKNOWN in value and _RUNS_FOR_GIT.fullmatch(name):
                return f"what {name} holds is not known before it runs"
        for name in (name for candidate in self._survey.candidates for name in find_renamed(candidate.argv)):
            if rule := next(filter(None, (patterns.find_possible(f"{name} ") for patterns in self._against)), None):
                return f"it may give {name[:_SHOWN]!r} another name, and {rule.shown} is about that program"
        for text in dict.fromkeys(self._list_hints()):
            if rule := next(filter(None, (patterns.find(text) for patterns in self._against)), None):
                return f"it may run {text[:_SHOWN]!r}, which {rule.shown} is about"
        return ""

    def _list_hints(self) -> Iterator[str]:
        fed = list_fed(self._survey)
        for candidate in self._survey.candidates:
            argv = list(candidate.argv)
            for hint in (*find_hints(argv), *find_fed_hints(argv, fed)):
                yield from _list_said_behind(hint)
        place = next(
            (name for candidate in self._survey.candidates if (name := basename(candidate.argv[0])) in MAKERS), ""
        )
        for name, value in self._survey.assigned:
            for hint in find_assigned_hints(name, value, place=place):
                yield from _list_said_behind(hint)


def _list_said_behind(hint: list[str]) -> Iterator[str]:
    """The hint, and what it would run if it is a runner: `nice -n 5 rm x`."""
    yield from list_ways_to_say(hint)
    if len(hint) > 1 and basename(hint[0]) in RUNNERS:
        found = find_inner_words(hint)
        for inner in (*found.commands[1:], *(script.split() for script in found.scripts)):
            if inner:
                yield from list_ways_to_say(inner)

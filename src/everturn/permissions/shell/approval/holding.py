"""Plans the confinement of a line that is not fully approved: the whole line is confined, or each part must be certain."""

from collections.abc import Callable
from itertools import islice

from everturn.core.patterns import compile_late
from everturn.permissions.judgement import JudgedWorld
from everturn.permissions.rules.rule import Rule
from everturn.permissions.shell.files.guard import FileGuard
from everturn.permissions.shell.files.opened_files import OpenedFiles
from everturn.permissions.shell.reading.syntax import Command, Here, Word
from everturn.permissions.shell.reading.wrappers import WRAPPERS, strip_wrappers
from everturn.permissions.shell.readonly.bare import OF_THE_SHELL, is_settled, judge_bare
from everturn.permissions.shell.readonly.judge import Reads
from everturn.permissions.shell.readonly.versions import find_environment, find_told, say_environment
from everturn.permissions.shell.running.survey import Survey
from everturn.ports.exports import reaches_every_program
from everturn.ports.holding import Holding
from everturn.ports.scratch import VARIABLE

_VARIABLE = compile_late(r"\$\{?[#!]?([A-Za-z_][A-Za-z0-9_]*)")
_STATE = frozenset({"export", "declare", "typeset", "readonly", "unset", "source", ".", "env", "printenv", "set"})
"""They are about variables: of a held command these are others, and none is taken over."""
_FILTERS = frozenset({
    "awk", "cat", "column", "cut", "egrep", "fgrep", "grep", "head", "nl", "rev", "sed", "sort", "tac", "tail", "tr", "uniq", "wc",
})  # fmt: skip
_SHOWN = 80
_MAX_TOLD = 3
"""Reasons that an answer tells."""
_MAX_NAMED = 5
"""Refused parts that an answer names."""


class Unapproved:
    """What of one line no rule has allowed, gathered while it is judged."""

    def __init__(
        self, survey: Survey, world: JudgedWorld, guard: FileGuard, find_rule: Callable[[Command], Rule | None]
    ) -> None:
        """`find_rule`: one that allows a part."""
        self._survey, self._world, self._guard = survey, world, guard
        self._find_rule = find_rule
        self._parts: list[tuple[Command, Reads | None]] = []
        self.edits = False
        """The mode lets a part change files."""
        self.written: list[tuple[str, Here]] = []
        """Files that redirections and `tee` write, with the folders that these may start from. None of the scratch folder."""
        self.redirected: list[tuple[str, Here]] = []
        """Files that redirections read or write, in the same way; those of the scratch folder, too."""
        self.teed: list[tuple[str, Command]] = []
        """Files that `tee` writes."""
        self.writes_by_mode = False
        """... one that the mode lets be written, and no rule."""
        self.scratch = False
        """Something writes the session's scratch folder."""
        self.needs_wall = ""
        """Why the line may run only where all of it is held, and only reads."""

    def add(self, command: Command, reads: Reads | None) -> None:
        """A part, and what it reads where it only reads."""
        self._parts.append((command, reads))

    def require_wall(self, why: str) -> None:
        self.needs_wall = self.needs_wall or why

    def plan(self, used: Rule | None) -> tuple[Holding | str | None, Rule | None]:
        """How the line is held; None where rules have allowed it, or where it needs no holding; else the trouble.

        `used`: a rule that has allowed a part. With it comes the rule that the judgement names.
        """
        if self.needs_wall:
            if used is not None or self.edits or self.written:
                cure = "; a call that holds only commands that read may run it" if self._world.walls.reads else ""
                return f"{self.needs_wall}{cure}", used
            return self._hold(writes=False), used
        if used is None and (common := self._find_common_rule()):
            return None, common
        if used is not None or not self._parts:
            return self._let_loose(used)
        walls = self._world.walls
        if not (self.edits or self.written):
            return (self._hold(writes=False), None) if walls.reads else self._let_loose(None)
        if walls.edits and self._writes_inside():
            return self._hold(writes=True), None
        if self.edits or self.writes_by_mode:
            # Where readers are held, that says nothing of edits.
            why = f"{walls.why}; that takes bubblewrap" if walls.reads else walls.why
            return f"it changes files, and it cannot be confined to the working folders here ({why})", None
        return self._let_loose(None)

    def _find_common_rule(self) -> Rule | None:
        """The last of the rules that allow every part, although each may run without."""
        found: Rule | None = None
        for command, _ in self._parts:
            found = self._find_rule(command)
            if found is None:
                return None
        return found

    def _hold(self, *, writes: bool) -> Holding | str:
        uses_git = any(reads is not None and reads.of_git for _, reads in self._parts)
        around = self._world.find_around(self._world.cwd) if uses_git else ""
        if around and not self._is_git_alone():
            return f"git reads {around[:_SHOWN]}, and other parts of the line could open more of that than they name"
        return self._find_lacking() or Holding(
            writes=writes,
            opened=self._guard.list_opened(),
            uses_git=bool(around),
            scratch=self.scratch or bool(self._world.temporary),
        )

    def _is_git_alone(self) -> bool:
        """What git may read around the working folders is not for others, nor for git where it opens files by name.

        Beside it nothing may open a file: a link of the folder could lead there, now or when its turn has come.
        """
        opens = any(target.use == "read" for _, target in self._guard.targets)
        return not (opens or self._survey.reading.own_names) and all(
            reads is not None and (not reads.reaches if reads.of_git else _is_filter(command, reads))
            for command, reads in self._parts
        )

    def _find_lacking(self) -> str:
        """What a held command would not get, so that it would tell something else than an ordinary one."""
        found: dict[str, None] = {}
        if name := find_missing_variable(self._survey.text, self._survey, self._world):
            found[_say_missing(name)] = None
        for command, _ in self._parts:
            words = strip_wrappers(command.words)
            told, path = find_told(words), self._world.exports.get("PATH")
            if told and (place := self._world.walls.find_foreign(told, held=False, path=path)):
                found[_say_other(told, place)] = None
                continue
            for word in (command.words[0], words[0]):
                if place := self._world.walls.find_foreign(word.raw):
                    found[_say_foreign(word.raw, place)] = None
        return "; ".join(islice(found, _MAX_TOLD))

    def _writes_inside(self) -> bool:
        return all(self._guard.is_inside(path, here) for path, here in self.written)

    def _let_loose(self, used: Rule | None) -> tuple[str | None, Rule | None]:
        """Without a holding: each part that no rule allows must be harmless by itself, whatever the other parts do meanwhile."""
        if not self._parts:
            return self._find_relinked() or None, used
        if name := find_missing_variable(self._survey.text, self._survey, self._world):
            return _say_missing(name), used
        lacking: list[Command] = []
        for command, reads in self._parts:
            words = strip_wrappers(command.words)
            if reads is not None and self._is_harmless(command, words, reads):
                if trouble := self._find_changed(command, words):
                    return trouble, used
            elif (rule := self._find_rule(command)) is not None:
                used = rule
            else:
                lacking.append(command)
        if lacking and used is not None:
            return self._say_beside(used, lacking), used
        if relinked := self._find_relinked():
            return relinked, used
        if lacking:
            names = name_parts([command.text[:_SHOWN] for command in lacking])
            return f"{names} cannot be confined here ({self._world.walls.why})", None
        return None, used

    def _find_relinked(self) -> str:
        """Why a file that is opened, although no rule allows it, may be another one by then."""
        files = OpenedFiles(self._survey, self._world, self._guard)
        read = [
            (path, command)
            for command, reads in self._parts
            if reads is not None and self._find_rule(command) is None
            for path in reads.paths
        ]
        opened: list[tuple[str, Here, Command | None]] = []
        opened += [(path, command.here, command) for path, command in (*read, *self.teed)]
        if len(self._survey.reading.commands) > 1:
            # A command's own redirections are opened before it runs.
            opened += [(path, here, None) for path, here in self.redirected]
        for path, here, command in opened:
            if files.may_become_link(path, here, command):
                return f"another part of the line may put a link in the place of {path[:_SHOWN]}, and no rule covers what it leads to"
        return ""

    def _find_changed(self, command: Command, words: tuple[Word, ...]) -> str:
        """What earlier commands of the session have made of a program that is harmless by itself."""
        wrappers = [word.raw for word in command.words if word.raw in WRAPPERS or word.raw == "xargs"]
        names = [name for name in (*wrappers, words[0].raw) if name not in OF_THE_SHELL]
        exports = self._world.exports
        for name in names:
            if place := self._world.walls.find_foreign(name, held=False, path=exports.get("PATH")):
                return _say_foreign(name, place)
        odd = next(filter(reaches_every_program, exports), "") if names else ""
        return (
            f"an earlier command has exported {odd}, which {names[0]} would obey, and nothing holds it" if odd else ""
        )

    def _say_beside(self, used: Rule, lacking: list[Command]) -> str:
        names = name_parts([command.text[:_SHOWN] for command in lacking])
        need = "needs" if len(lacking) == 1 else "need"
        why = f"{used.shown} allows a part of the line, and {names} beside it {need} a rule, too"
        if self._survey.reading.own_names:
            return f"{why}, since the line has a loop or sets a variable"
        pipes = [
            pipe for pipe in self._survey.reading.pipes if any(stage is part for stage in pipe for part in lacking)
        ]
        apart = [*lacking, *(stage for pipe in pipes for stage in pipe)]
        unasked = [(part, reads) for part, reads in self._parts if any(part is each for each in apart)]
        edits = any(reads is None for _, reads in unasked)
        walls = self._world.walls
        if len({id(part) for part in apart}) == len(unasked) and walls.reads and (walls.edits or not edits):
            alone, needs = (
                ("a call of its own", "it needs") if len(lacking) == 1 else ("calls of their own", "they need")
            )
            what = "only reads, or changes files as the mode allows," if edits else "only reads"
            return f"{why}; in {alone} {needs} none, since what {what} runs without one"
        return why

    def _is_harmless(self, command: Command, words: tuple[Word, ...], reads: Reads) -> bool:
        """Nothing of it depends on what the line sets. Git is held, or asked about: it follows whatever its repository holds."""
        if command.assignments or self._survey.reading.own_names:
            return False
        return judge_bare(words, reads, runs_git=self._world.trusted and not self._world.walls.reads)


def name_parts(texts: list[str]) -> str:
    """Parts of a line in quotes, as many as an answer has room for."""
    left = len(texts) - _MAX_NAMED
    return ", ".join(map(repr, texts[:_MAX_NAMED])) + (f" and {left} more" if left > 0 else "")


def _is_filter(command: Command, reads: Reads) -> bool:
    """It opens no file: its input is all that it works on."""
    words = strip_wrappers(command.words)
    if words[0].raw in OF_THE_SHELL:
        return all(map(is_settled, words[1:]))
    return words[0].raw in _FILTERS and not (reads.paths or reads.recursive or reads.varies)


def plan_trial(survey: Survey, world: JudgedWorld) -> Holding | None:
    """How a line that would be asked about could be tried; None where held it would tell something else, or lose its state."""
    programs = {word for candidate in survey.candidates for word in candidate.argv if not word.startswith(("-", "/"))}
    if (
        not world.walls.reads
        or survey.murky
        or "git" in survey.text
        or world.temporary
        or find_missing_variable(survey.text, survey, world)
    ):
        return None
    if not _STATE.isdisjoint(programs) or any(map(world.walls.find_foreign, programs)):
        return None
    # What git may read around the working folders is not for other programs.
    return Holding(tries=True)


def find_missing_variable(text: str, survey: Survey, world: JudgedWorld) -> str:
    """One that the text, a part of the line, reads, and that held commands are not given."""
    given = {*survey.reading.own_names, *([VARIABLE] if world.temporary else ())}
    names = dict.fromkeys(_VARIABLE.findall(text))
    return next((name for name in names if name not in given and world.walls.lacks(name)), "")


def _say_missing(name: str) -> str:
    return f"it reads the variable {name}, which a command without approval does not get"


def _say_foreign(name: str, place: str) -> str:
    return f"{name} is {place[:_SHOWN]}, and without approval only programs of the system run"


def _say_other(name: str, place: str) -> str:
    """A held command would tell of another program of that name."""
    environment = find_environment(f"{place} --version", "/")
    told = f" ({say_environment(environment)})" if environment else ""
    return f"{name} is {place}, which a command without approval does not find{told}"

"""Approves a command line when every part of it is covered: because it only reads, by the mode, or by an allow rule."""

import re
from collections.abc import Iterator
from functools import cached_property
from posixpath import basename

from everturn.permissions.judgement import Judgement, World
from everturn.permissions.rules.rule import Rule, RuleSet
from everturn.permissions.shell.assignments import find_names_read, is_safe_assignment
from everturn.permissions.shell.critical import Danger, judge_removal
from everturn.permissions.shell.doubts import Doubts
from everturn.permissions.shell.editing import LineEdits
from everturn.permissions.shell.evaluating import Reader
from everturn.permissions.shell.fileguard import FileGuard
from everturn.permissions.shell.files import takes_folders
from everturn.permissions.shell.listing import judge_stage
from everturn.permissions.shell.matching import Pattern, patterns_of
from everturn.permissions.shell.nesting import is_same_repository
from everturn.permissions.shell.placing import Placed
from everturn.permissions.shell.possible_writes import PossibleWrites
from everturn.permissions.shell.readonly.find import may_act
from everturn.permissions.shell.readonly.judge import Reads
from everturn.permissions.shell.redirects import Target
from everturn.permissions.shell.resolving import judge_resolved
from everturn.permissions.shell.runners import INTERPRETERS, NEVER_BY_PATTERN, RUNNERS
from everturn.permissions.shell.scratch_code import ScratchCode
from everturn.permissions.shell.survey import Survey
from everturn.permissions.shell.syntax import Assignment, Command, Here, Redirect, Word, join_words
from everturn.permissions.shell.unapproved import Unapproved, name_parts
from everturn.permissions.shell.wrappers import FROM_INPUT, strip_wrappers
from everturn.ports.policy import Ruling
from everturn.ports.scratch import VARIABLE

_PLAIN_WORD = re.compile(r"[A-Za-z0-9_./:,@%+=-]+")
_SHOWN = 80
_MOST_TOLD = 3
"""Reasons that an answer tells."""
_MAKERS = frozenset({"cp", "install", "ln", "mkdir", "mktemp", "tee", "touch"})
"""They make files where they are told to."""


class Approval:
    def __init__(self, survey: Survey, rules: RuleSet, world: World, guard: FileGuard, doubts: Doubts) -> None:
        self._survey = survey
        self._doubts = doubts
        self._reading = survey.reading
        self._world = world
        self._guard = guard
        self._plans = world.mode == "plan"
        self._allow = patterns_of(rules, Ruling.ALLOW)
        self._is_ruled = any(
            rules.covering(tool, each) for tool in ("Read", "Edit") for each in (Ruling.DENY, Ruling.ASK)
        )
        self._used: Rule | None = None
        self.refused: dict[str, None] = {}
        """Parts that no rule allows, as written."""
        self.movable = False
        """It is refused because of a file that it would write, which may lie in the scratch folder as well."""
        self._edits = LineEdits(survey, world, guard, is_ruled=self._is_ruled)
        self._scratch_code = ScratchCode(world, survey)
        self._unapproved = Unapproved(survey, world, guard, self._find_own_rule)
        self._everything = None if self._plans else self._find_everything()

    def find_trouble(self) -> str | Judgement:
        """Why a person must be asked, or the judgement that allows it."""
        trouble = self._doubt() or self._join_troubles()
        if not trouble and self._unapproved.writes_by_mode:
            trouble = self._edits.find_lost_write()
        is_trusted = self._used is not None or self._unapproved.edits
        if not trouble and is_trusted and (path := self._guard.find_guarded("write")):
            trouble = f"it writes {path[:_SHOWN]}, which is protected: no rule approves that ahead of time"
        if not trouble and self._used is not None:
            trouble = PossibleWrites(self._survey, self._world, self._guard).find_protected()
        if not trouble and self._guard.read_rules and (path := self._guard.find_guarded("read")):
            trouble = f"it reads {path[:_SHOWN]}, which may be a file that a rule keeps from being read"
        if not trouble and self._used is not None:
            trouble = self._doubts.find_file()
        if not trouble and self._guard.overflows:
            trouble = "it names too many files"
        if trouble:
            return trouble
        holding, self._used = self._unapproved.plan(self._used)
        if isinstance(holding, str):
            return holding
        return Judgement(ruling=Ruling.ALLOW, why=self._why(), rule=self._used, holding=holding)

    def _join_troubles(self) -> str:
        """What is wrong with each part, as far as there is room: a model that hears of one part only mends that one."""
        troubles = [*self._redirections(), self._removal()]
        lacking: list[str] = []
        for command in self._reading.commands:
            if trouble := self._part(command):
                text = command.text[:_SHOWN]
                self.refused[text] = None
                self.movable |= strip_wrappers(command.words)[0].raw in _MAKERS
                if trouble == _no_rule(text):
                    lacking.append(text)
                else:
                    troubles.append(trouble)
        told = list(dict.fromkeys(filter(None, troubles)))
        lacking = [text for text in dict.fromkeys(lacking) if not any(repr(text) in each for each in told)]
        if lacking:
            told.append(f"no rule allows {name_parts(lacking)}")
        return "; ".join([*told[:_MOST_TOLD], *([f"and {len(told) - _MOST_TOLD} more"] if told[_MOST_TOLD:] else [])])

    def _why(self) -> str:
        if self._used is not None:
            return f"{self._used.shown} allows it"
        if self._unapproved.edits or self._unapproved.writes_by_mode:
            return f"mode {self._world.mode}: it changes files of the working folder"
        if self._unapproved.scratch:
            return "it writes nothing but the session's scratch folder"
        return "it only reads"

    def _find_everything(self) -> Rule | None:
        return next((rule for pattern, rule in self._allow.covering("") if pattern.is_everything), None)

    def _doubt(self) -> str:
        reading = self._reading
        held = self._world.walls.reads
        if reading.unsure and (self._everything is None or reading.broken):
            doubt = f"not understood: {reading.unsure[0]}"
            self._unapproved.require_wall(doubt)
            if not (held and reading.holdable):
                return doubt
        elif reading.unsure or not reading.commands:
            self._used = self._everything
        if trouble := self._doubts.find_command():
            return trouble
        moved = reading.leaves or self._world.cwd not in self._world.folders
        gits = [each for each in reading.commands if strip_wrappers(each.words)[0].template.endswith("git")]
        if moved and gits:
            elsewhere = "git in another folder than the working folder: its settings may run programs"
            self._unapproved.require_wall(elsewhere)
            if not (held and all(is_same_repository(each.here, self._world.folders) for each in gits)):
                return elsewhere
        return ""

    def _redirections(self) -> Iterator[str]:
        for redirect, target in self._guard.targets:
            if trouble := self._redirection(redirect, target):
                self.movable |= target.use == "write" and not self._plans
                yield trouble

    def _redirection(self, redirect: Redirect, target: Target) -> str:
        """Why a person must be asked about it; empty where nobody need be."""
        if target.path is None and self._reads_known(redirect):
            self._unapproved.require_wall(target.why)
            return ""
        if target.path is None:
            return target.why
        if target.use == "write" and not self._plans and self._guard.is_scratch(target.path, redirect.here):
            self._unapproved.scratch = True
            return ""
        if target.use == "write" and self._everything and self._guard.is_inside(target.path, redirect.here):
            # Protected paths, and files that rules keep from being written, are looked at for every command.
            self._used = self._everything
            return ""
        edits_there = self._world.mode == "acceptEdits" and redirect.here is not None
        if target.use == "write" and self._reading.moves and not edits_there:
            return f"it changes the folder and writes to {target.path[:_SHOWN]}"
        if target.use == "write" and self._plans:
            return f"mode plan: it writes to {target.path[:_SHOWN]}"
        if self._guard.judge(target.use, target.path, redirect.here) is not Ruling.ALLOW:
            told = f"it {target.use}s {target.path[:_SHOWN]}"
            why = self._guard.explain(target.use, target.path, redirect.here)
            # Where the mode would let it write in the folder, this is not why: the place is.
            return f"{told}: {why}" if edits_there else f"{told}, and no rule covers that file"
        if target.use == "write":
            self._note_written(target.path, redirect.here)
        return ""

    def _note_written(self, path: str, here: Here) -> None:
        self._unapproved.written.append((path, here))
        self._unapproved.writes_by_mode |= not self._guard.is_by_rule(path, here)

    def _reads_known(self, redirect: Redirect) -> bool:
        """`< "$f"`: all that the variable may hold are files that may be read."""
        if redirect.operator != "<" or redirect.target is None or self._guard.read_rules or not self._world.walls.reads:
            return False
        paths = Reader(redirect.scope, redirect.here, self._world.home).list_files(redirect.target)
        return bool(paths) and all(self._guard.judge("read", path, redirect.here) is Ruling.ALLOW for path in paths)

    def _removal(self) -> str:
        for sight in self._survey.sights:
            if judge_removal(sight, self._world, self._survey) is Danger.UNKNOWN:
                return f"what {sight.text[:_SHOWN]!r} removes is not known before it runs"
        return ""

    def _part(self, command: Command) -> str:
        words = strip_wrappers(command.words)
        unsafe = [each for each in command.assignments if not is_safe_assignment(each)]
        shown = command.text[:_SHOWN]
        if self._world.walls.reads and find_names_read(command):
            self._unapproved.require_wall(f"no rule allows {shown!r}")
            self._unapproved.add(command, Reads())
            return ""
        reads = None if unsafe or not words[0].plain else self._reads(command, words)
        if reads is not None and not (trouble := self._reading_trouble(reads, command)):
            self._unapproved.add(command, reads)
            return ""
        if reads is None:
            trouble = _no_rule(shown)
            if unsafe:
                trouble = f"it sets {unsafe[0].name} for {shown!r}, and no rule looks past that"
        if self._plans:
            return f"mode plan: {shown!r} may change something" if reads is None else trouble
        if not unsafe and words[0].plain and self._may_edit(command, words):
            return ""
        if self._world.mode == "acceptEdits" and not unsafe:
            trouble = self._edits.find_refusal(command) or trouble
        rule = self._find_rule(command, words, unsafe)
        if rule is None:
            return trouble
        if rule is not self._everything and self._may_run_scratch(command, words, rule):
            return f"{shown!r} may run what stands in the scratch folder, which nobody has seen; {rule.shown} is not enough for that"
        self._used = rule
        return ""

    def _reads(self, command: Command, words: tuple[Word, ...]) -> Reads | None:
        reads = judge_stage(words, self._feeding.get(id(command), ()), self._world.home)
        if reads is None and words[-1] is not FROM_INPUT and self._world.walls.reads:
            return judge_resolved(words, Reader(command.scope, command.here, self._world.home))
        return reads

    @cached_property
    def _feeding(self) -> dict[int, tuple[Command, ...]]:
        """For each stage of a pipe, those before it."""
        return {id(stage): pipe[:at] for pipe in self._reading.pipes for at, stage in enumerate(pipe)}

    def _reading_trouble(self, reads: Reads, command: Command) -> str:
        shown = command.text[:_SHOWN]
        if reads.varies and self._guard.read_rules:
            return f"{shown!r} may read a file that a rule keeps from being read"
        if self._goes_through(reads, command) and self._passes_by(reads, command):
            return f"{shown!r} goes through a folder that may hold a file that a rule keeps from being read"
        if reads.content and any(self._guard.may_pass_by(place, command.here) for place in self._repository()):
            return f"{shown!r} shows what files hold or have held, and a rule keeps some from being read"
        if reads.of_git:
            own = self._world.find_own_programs(self._world.cwd)
            if own:
                return f"git would follow {own[:_SHOWN]}, and nobody has trusted this folder"
            if far := self._world.find_far(self._world.cwd):
                return f"git would read {far[:_SHOWN]}, which lies outside the working folder"
        for path in dict.fromkeys(reads.paths):
            if self._guard.judge("read", path, command.here) is not Ruling.ALLOW:
                return f"{shown!r} reads {path[:_SHOWN]}, and no rule covers that file"
        return ""

    def _repository(self) -> tuple[str, ...]:
        """What git may show something of, wherever in it a command stands."""
        if not self._guard.read_rules:
            return ()
        from everturn.permissions.git.places import find_git_places

        found = find_git_places(self._world.cwd, self._world.home)
        return (".", *self._world.folders, *(() if found is None else (found.root,)))

    def _goes_through(self, reads: Reads, command: Command) -> bool:
        """It reads what is in folders: always, or as `diff` does where it is given some."""
        return reads.recursive or takes_folders(tuple(word.raw for word in strip_wrappers(command.words)))

    def _passes_by(self, reads: Reads, command: Command) -> bool:
        """Of programs that go through folders only where they are given one, files are judged by their names."""
        paths = [path for path in reads.paths if reads.recursive or self._guard.is_folder(path, command.here)]
        return any(self._guard.may_pass_by(path, command.here) for path in paths)

    def _may_edit(self, command: Command, words: tuple[Word, ...]) -> bool:
        """By the mode: what it writes lies in the scratch folder, or the mode accepts edits."""
        edits = self._edits.find(command)
        if edits is None or self._edits.find_refusal(command):
            return False
        written = [path for use, path in edits.files if use == "write"]
        in_scratch = [path for path in written if self._guard.is_scratch(path, command.here)]
        if words[0].raw == "tee":
            # It writes as redirections do, and opens nothing else.
            for path in written:
                if path not in in_scratch:
                    self._note_written(path, command.here)
            self._unapproved.scratch |= bool(in_scratch)
            self._unapproved.add(command, Reads())
            return True
        is_alone = edits.sets_nothing_else and len(in_scratch) == len(written)
        if not is_alone and self._world.mode != "acceptEdits":
            return False
        self._unapproved.scratch |= bool(in_scratch)
        self._unapproved.edits |= not is_alone
        self._unapproved.add(command, None)
        return True

    def _may_run_scratch(self, command: Command, words: tuple[Word, ...], rule: Rule) -> bool:
        """What is written there was never asked about: a rule for a program is none for code from there, unless it spells it out.

        Where edits are accepted, the same code could as well stand in the working folder.
        """
        if self._world.mode == "acceptEdits" or not self._world.scratch or VARIABLE in (rule.specifier or ""):
            return False
        return self._scratch_code.may_run(command, words)

    def _find_own_rule(self, command: Command) -> Rule | None:
        """For a part that would run without one, too. In plan mode no rule counts."""
        return None if self._plans else self._find_rule(command, strip_wrappers(command.words), [])

    def _find_rule(self, command: Command, words: tuple[Word, ...], unsafe: list[Assignment]) -> Rule | None:
        placed = Placed(words, command.here, self._world.folders[0])
        text = join_words(words)
        if unsafe:
            set_before = " ".join([each.word.raw for each in command.assignments])
            least = len(set_before) + 1 + len(command.words[0].raw)
            return self._find_literal(f"{set_before} {command.text}", least, placed, len(text))
        for spelled in dict.fromkeys((text, _join_simple(words))):
            for pattern, rule in self._allow.covering(spelled):
                is_enough = pattern.is_exact or rule.specifier == spelled or _may_approve(pattern, words)
                if is_enough and not placed.is_named_by(pattern):
                    return rule
        if words is command.words:
            return None
        wrapped = command.text
        return self._find_literal(wrapped, len(wrapped) - len(text) + len(words[0].raw), placed, len(text))

    def _find_literal(self, text: str, least: int, placed: Placed, last: int) -> Rule | None:
        """A rule that spells the first `least` characters out. `last`: how many of the text `placed` is about."""
        for pattern, rule in self._allow.covering(text):
            if rule is self._everything:
                return rule
            if len(pattern.head) >= least and not placed.is_named_by(pattern, len(text) - last):
                return rule
        return None


def _no_rule(shown: str) -> str:
    return f"no rule allows {shown!r}"


def _may_approve(pattern: Pattern, words: tuple[Word, ...]) -> bool:
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

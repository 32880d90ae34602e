"""Approves a command line when every part of it is covered: because it only reads, by the mode, or by an allow rule."""

from collections.abc import Iterator
from functools import cached_property

from msgspec.structs import replace

from everturn.core.denials import DenialCause
from everturn.core.modes import PermissionMode
from everturn.core.patterns import compile_late
from everturn.permissions.judgement import JudgedWorld, Judgement
from everturn.permissions.rules.rule import Rule, RuleSet
from everturn.permissions.shell.approval.accept_edits import LineEdits
from everturn.permissions.shell.approval.allow_rules import AllowRules
from everturn.permissions.shell.approval.critical_removals import Danger, judge_removal
from everturn.permissions.shell.approval.holding import Unapproved, name_parts
from everturn.permissions.shell.approval.nested_repositories import follow_git, is_same_repository
from everturn.permissions.shell.approval.scratch_code import ScratchCode
from everturn.permissions.shell.approval.xargs import judge_stage
from everturn.permissions.shell.doubts import Doubts
from everturn.permissions.shell.files.guard import FileGuard
from everturn.permissions.shell.files.openers import takes_folders
from everturn.permissions.shell.files.redirect_targets import Target
from everturn.permissions.shell.reading.assignments import find_names_read, is_safe_assignment
from everturn.permissions.shell.reading.evaluation import Reader
from everturn.permissions.shell.reading.syntax import Command, Here, Redirect, Word
from everturn.permissions.shell.reading.wrappers import FROM_INPUT, strip_wrappers
from everturn.permissions.shell.readonly.judge import Reads, only_lists
from everturn.permissions.shell.readonly.resolved import judge_resolved
from everturn.permissions.shell.running.survey import Survey
from everturn.ports.policy import Ruling
from everturn.ports.scratch import VARIABLE

_PLAIN_WORD = compile_late(r"[A-Za-z0-9_./:,@%+=-]+")
_SHOWN = 80
_WRITE = frozenset({">", ">>", ">|", "&>", "&>>"})
_MAX_TOLD = 3
"""Most reasons in one answer."""
_MAKERS = frozenset({"cp", "install", "ln", "mkdir", "mktemp", "tee", "touch"})
"""Programs that create the files that they name."""


class Approval:
    def __init__(self, survey: Survey, rules: RuleSet, world: JudgedWorld, guard: FileGuard, doubts: Doubts) -> None:
        self._survey = survey
        self._doubts = doubts
        self._reading = survey.reading
        self._world = world
        self._guard = guard
        self._plans = world.mode == PermissionMode.PLAN
        self._allowing = AllowRules(rules, world.folders[0])
        self._is_ruled = any(
            rules.covering(tool, each) for tool in ("Read", "Edit") for each in (Ruling.DENY, Ruling.ASK)
        )
        self._used: Rule | None = None
        self.refused: dict[str, None] = {}
        """Parts that no rule allows, as written."""
        self.movable = False
        """The only problem is files that it would write, and these could be in the scratch folder instead."""
        self.objection: DenialCause | None = None
        """Why a file that it opens needs a question."""
        self._edits = LineEdits(survey, world, guard, is_ruled=self._is_ruled)
        self._scratch_code = ScratchCode(world, survey)
        self._unapproved = Unapproved(survey, world, guard, self._find_own_rule)
        self._everything = None if self._plans else self._allowing.everything

    def find_trouble(self) -> str | Judgement:
        """Why a person must be asked, or the judgement that allows it."""
        trouble = "; ".join(filter(None, (self._doubt(), self._join_troubles())))
        if not trouble and self._unapproved.writes_by_mode:
            trouble = self._edits.find_lost_write()
        is_trusted = self._used is not None or self._unapproved.edits
        if not trouble and is_trusted and (path := self._guard.find_guarded("write")):
            self.objection = DenialCause.PROTECTED_PATH
            trouble = f"it writes {path[:_SHOWN]}, which is protected: no rule approves that ahead of time"
        if not trouble and self._used is not None and (trouble := self._doubts.find_protected()):
            self.objection = DenialCause.PROTECTED_PATH
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
        """The problems of all parts, up to a limit: a model that reads of one part corrects only that part."""
        redirected = list(self._redirections())
        troubles = [*(trouble for trouble, _ in redirected), removal := self._removal()]
        lacking: list[str] = []
        movable = not (self._plans or removal) and all(is_write for _, is_write in redirected)
        for command in self._reading.commands:
            if trouble := self._part(command):
                text = command.text[:_SHOWN]
                self.refused[text] = None
                movable &= strip_wrappers(command.words)[0].raw in _MAKERS
                if trouble == _no_rule(text):
                    lacking.append(text)
                else:
                    troubles.append(trouble)
        self.movable = movable and bool(self.refused or redirected)
        told = list(dict.fromkeys(filter(None, troubles)))
        lacking = [text for text in dict.fromkeys(lacking) if not any(repr(text) in each for each in told)]
        if lacking:
            told.append(f"no rule allows {name_parts(lacking)}")
        return "; ".join([*told[:_MAX_TOLD], *([f"and {len(told) - _MAX_TOLD} more"] if told[_MAX_TOLD:] else [])])

    def _why(self) -> str:
        if self._used is not None:
            return f"{self._used.shown} allows it"
        if self._unapproved.edits or self._unapproved.writes_by_mode:
            return f"mode {self._world.mode}: it changes files of the working folder"
        if self._unapproved.written:
            return "it writes only files that an Edit rule allows"
        if self._unapproved.scratch:
            return "it writes nothing but the session's scratch folder"
        return "it only reads"

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
            elsewhere = "git after a `cd`, here or in an earlier command: the settings of that folder may run programs"
            self._unapproved.require_wall(elsewhere)
            if not (held and all(is_same_repository(each.here, self._world.folders) for each in gits)):
                return elsewhere
        return ""

    def _redirections(self) -> Iterator[tuple[str, bool]]:
        """The problem of each redirection, and whether it writes a file."""
        for redirect, target in self._guard.targets:
            if trouble := self._redirection(redirect, target):
                yield trouble, target.use == "write"

    def _redirection(self, redirect: Redirect, target: Target) -> str:
        """Why a person must be asked about the redirection; empty if not."""
        if target.path is None and self._reads_known(redirect):
            self._unapproved.require_wall(target.why)
            return ""
        if target.path is None and not self._plans and self._writes_scratch(redirect):
            self._unapproved.require_wall(target.why)
            self._unapproved.scratch = True
            return ""
        if target.path is None:
            return target.why
        if self._everything is None:
            self._unapproved.redirected.append((target.path, redirect.here))
        if target.use == "write" and not self._plans and self._guard.is_scratch(target.path, redirect.here):
            self._unapproved.scratch = True
            return ""
        if target.use == "write" and self._everything and self._guard.is_inside(target.path, redirect.here):
            # Protected paths, and files that rules keep from being written, are looked at for every command.
            self._used = self._everything
            return ""
        edits_there = self._world.mode == PermissionMode.ACCEPT_EDITS and redirect.here is not None
        if target.use == "write" and self._reading.moves and not edits_there:
            return f"it changes the folder and writes to {target.path[:_SHOWN]}"
        if target.use == "write" and self._plans:
            return f"mode plan: it writes to {target.path[:_SHOWN]}"
        if self._guard.judge(target.use, target.path, redirect.here) is not Ruling.ALLOW:
            self._object(self._guard.find_objection(target.use, target.path, redirect.here))
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

    def _writes_scratch(self, redirect: Redirect) -> bool:
        """`> "$TMPDIR/$f"`: all that the variable may hold are plain names of files there."""
        if redirect.operator not in _WRITE or redirect.target is None or not self._world.walls.reads:
            return False
        paths = Reader(redirect.scope, redirect.here, self._world.home).list_files(redirect.target)
        return bool(paths) and all(
            _PLAIN_WORD.fullmatch(path) and self._guard.is_scratch(path, redirect.here) for path in paths
        )

    def _removal(self) -> str:
        for candidate in self._survey.candidates:
            if judge_removal(candidate, self._world, self._survey) is Danger.UNKNOWN:
                return f"what {candidate.text[:_SHOWN]!r} removes is not known before it runs"
        return ""

    def _part(self, command: Command) -> str:
        words = strip_wrappers(command.words)
        unsafe = [each for each in command.assignments if not is_safe_assignment(each)]
        shown = command.text[:_SHOWN]
        if self._world.walls.reads and find_names_read(command):
            self._unapproved.require_wall(f"no rule allows {shown!r}")
            self._unapproved.add(command, Reads())
            return ""
        entering, place = follow_git(words, command.here, self._world.home)
        if entering is not words and self._world.walls.reads and is_same_repository(place, self._world.folders):
            inside = replace(command, words=entering, here=place)
            read = None if unsafe else self._reads(inside, entering)
            if read is not None and not self._reading_trouble(read, inside):
                self._unapproved.require_wall(_no_rule(shown))
                self._unapproved.add(inside, read)
                return ""
        reads = None if unsafe or not words[0].plain else self._reads(command, words)
        if reads is not None and not (trouble := self._reading_trouble(reads, command)):
            self._unapproved.add(command, reads)
            return ""
        if reads is None:
            trouble = _no_rule(shown)
            if unsafe:
                trouble = (
                    f"it sets {unsafe[0].name} for {shown!r}, and a rule for the command alone does not cover that"
                )
        if self._plans:
            return f"mode plan: {shown!r} may change something" if reads is None else trouble
        if not unsafe and words[0].plain and self._may_edit(command, words):
            return ""
        if self._world.mode == PermissionMode.ACCEPT_EDITS and not unsafe:
            trouble = self._edits.find_refusal(command) or trouble
        rule = self._allowing.find(command, words, unsafe)
        if rule is None:
            for path in reads.paths if reads is not None else ():
                self._object(self._guard.find_objection("read", path, command.here))
            return trouble
        if rule is not self._everything and self._may_run_scratch(command, words, rule):
            return f"{shown!r} may run a file of the scratch folder, which nobody has seen; {rule.shown} is not enough for that"
        self._used = rule
        return ""

    def _object(self, cause: DenialCause | None) -> None:
        """Keeps the cause of the objection. Of several, the one that no rule can lift counts."""
        if self.objection is not DenialCause.PROTECTED_PATH:
            self.objection = cause or self.objection

    def _reads(self, command: Command, words: tuple[Word, ...]) -> Reads | None:
        reads = judge_stage(words, self._feeding.get(id(command), ()), self._world.home)
        if reads is None and words[-1] is not FROM_INPUT and self._world.walls.reads:
            return judge_resolved(words, Reader(command.scope, command.here, self._world.home))
        return reads

    @cached_property
    def _feeding(self) -> dict[int, tuple[Command, ...]]:
        """For each command of a pipe, the commands before it."""
        return {id(stage): pipe[:at] for pipe in self._reading.pipes for at, stage in enumerate(pipe)}

    def _reading_trouble(self, reads: Reads, command: Command) -> str:
        shown, words = command.text[:_SHOWN], strip_wrappers(command.words)
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
                return f"git would read {far[:_SHOWN]}, which is outside the working folder"
        for path in dict.fromkeys(reads.paths):
            if self._guard.judge("read", path, command.here) is Ruling.ALLOW:
                continue
            if self._world.walls.reads and only_lists(words, reads) and self._guard.is_listed(path, command.here):
                self._unapproved.require_wall(f"{shown!r} lists {path[:_SHOWN]}, and no rule covers that place")
            elif self._guard.find_objection("read", path, command.here) is DenialCause.OUTSIDE:
                return f"{shown!r} reads {path[:_SHOWN]}, which is outside the working folder"
            else:
                return f"{shown!r} reads {path[:_SHOWN]}, and no rule covers that file"
        return ""

    def _repository(self) -> tuple[str, ...]:
        """Folders of the repository whose files git may show, from any folder in it."""
        if not self._guard.read_rules:
            return ()
        from everturn.permissions.git.places import find_git_places

        found = find_git_places(self._world.cwd, self._world.home)
        return (".", *self._world.folders, *(() if found is None else (found.root,)))

    def _goes_through(self, reads: Reads, command: Command) -> bool:
        """The command reads the files in folders: always, or, as `diff`, if it gets a folder."""
        return reads.recursive or takes_folders(tuple(word.raw for word in strip_wrappers(command.words)))

    def _passes_by(self, reads: Reads, command: Command) -> bool:
        """A folder that the command reads may hold a file that a rule keeps from being read."""
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
            self._unapproved.teed += [(path, command) for path in written]
            for path in written:
                if path not in in_scratch:
                    self._note_written(path, command.here)
            self._unapproved.scratch |= bool(in_scratch)
            self._unapproved.add(command, Reads())
            return True
        is_alone = edits.sets_nothing_else and len(in_scratch) == len(written)
        if not is_alone and self._world.mode != PermissionMode.ACCEPT_EDITS:
            return False
        self._unapproved.scratch |= bool(in_scratch)
        self._unapproved.edits |= not is_alone
        self._unapproved.add(command, None)
        return True

    def _may_run_scratch(self, command: Command, words: tuple[Word, ...], rule: Rule) -> bool:
        """Files there were written without a question: a rule for a program does not cover code from there, unless it names the folder.

        Where edits are accepted, the same code could as well stand in the working folder.
        """
        if (
            self._world.mode == PermissionMode.ACCEPT_EDITS
            or not self._world.scratch
            or VARIABLE in (rule.specifier or "")
        ):
            return False
        return self._scratch_code.may_run(command, words)

    def _find_own_rule(self, command: Command) -> Rule | None:
        """The allow rule of a part that would also run without it. In plan mode no rule counts."""
        return None if self._plans else self._allowing.find(command, strip_wrappers(command.words))


def _no_rule(shown: str) -> str:
    return f"no rule allows {shown!r}"

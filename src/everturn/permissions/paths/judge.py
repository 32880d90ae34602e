"""May this file be read or written? Rules, protection, mode and folders, in that order, for every name that it goes by."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from everturn.core.denials import DenialCause
from everturn.core.modes import PermissionMode
from everturn.core.protected import ENVIRONMENT, GIT_HEAD, GIT_HOOKS
from everturn.permissions.judgement import FileUse, Judgement
from everturn.permissions.paths.coverage import Coverage
from everturn.permissions.paths.index import Anchors, HiddenPaths, Hits, PathRules
from everturn.permissions.paths.protected import find_protected, fold_path
from everturn.permissions.paths.trace import Trace, trace_path
from everturn.permissions.rules.lookup import covers_whole
from everturn.permissions.rules.rule import Rule, RuleSet
from everturn.permissions.rules.rule_parser import PATH_TOOLS, field_of
from everturn.ports.judged_paths import Hides
from everturn.ports.outputs import Outputs
from everturn.ports.policy import Ruling
from everturn.ports.scratch import NO_SCRATCH, Scratch

if TYPE_CHECKING:
    from everturn.permissions.paths.inside import InsideLook

_FAMILIES: dict[tuple[FileUse, Ruling], tuple[str, ...]] = {
    ("read", Ruling.DENY): ("Read",),
    ("read", Ruling.ASK): ("Read",),
    ("read", Ruling.ALLOW): ("Read", "Edit"),
    ("write", Ruling.DENY): ("Edit", "Read"),
    ("write", Ruling.ASK): ("Edit",),
    ("write", Ruling.ALLOW): ("Edit",),
}
"""Tools whose rules count for a use: a deny rule for Read also denies writing, an allow rule for Edit also allows reading."""
_INSIDE = "/\0/\0"
"""A path below the searched folder that no file has: a rule that covers it covers the whole search."""
_DOES: dict[FileUse, str] = {"read": "reading", "write": "writing"}


class FileJudge:
    """Judges files by one set of rules."""

    def __init__(
        self,
        rules: RuleSet,
        *,
        folders: tuple[str, ...],
        home: str,
        own: Iterable[str] = (),
        outputs: Outputs | None = None,
        scratch: Scratch = NO_SCRATCH,
    ) -> None:
        """`folders`: the working folder first, then those added to it; real paths. `own`: folders that hold our settings."""
        self._scratch = scratch
        self._folders = folders
        self._home = home
        self._own = _fold_forms(own)
        self._homes = _fold_forms((home,) if home.strip("/") else ())
        self._outputs = outputs or Outputs()
        of_paths = [rule for rule in rules.rules if rule.tool in PATH_TOOLS and field_of(rule) is None]
        self._whole: Hits = {}
        for rule in of_paths:
            if covers_whole(rule):
                self._whole.setdefault((rule.tool, rule.ruling), rule)
        scoped = [rule for rule in of_paths if not covers_whole(rule)]
        anchors = self._anchors = Anchors(home=home, cwd=folders[0])
        self._of_paths = scoped
        self._coverages: dict[frozenset[tuple[str, Ruling]], Coverage | None] = {}
        self._scoped = PathRules(scoped, anchors) if scoped else None
        hiding = [rule for rule in scoped if rule.tool == "Read" and rule.ruling is not Ruling.ALLOW]
        self._hides = HiddenPaths(hiding, anchors) if hiding else None

    def trace(self, path: str, cwd: str | None = None) -> Trace:
        """All names of a path, with `~` expanded; a relative path starts in `cwd`."""
        given = path
        if path.startswith("~"):
            given = self._home + path[1:] if path == "~" or path.startswith("~/") else _expand(path)
        return trace_path(f"{cwd or self._folders[0]}/{given}" if not given.startswith("/") else given)

    def judge(self, use: FileUse, path: str, mode: str, *, cwd: str | None = None) -> Judgement:
        """Judges a file that is opened by its name later: a path that does not exist is asked about."""
        trace = self.trace(path, cwd)
        judgement = self.judge_trace(use, trace, mode)
        if trace.target or judgement.ruling is not Ruling.ALLOW or mode == PermissionMode.BYPASS:
            return judgement
        return Judgement(
            ruling=Ruling.ASK,
            why=f"mode {mode}: {path!r:.200} leads to no file that could be judged",
            guarded=trace.magic,
        )

    def judge_trace(
        self, use: FileUse, trace: Trace, mode: str, *, what: str = "", named: Rule | None = None
    ) -> Judgement:
        """`what` names the call; `named` allows it by the tool's own name. A path that leads nowhere is let through to fail."""
        names = [end + _INSIDE for end in trace.ends] if use == "read" and trace.is_folder else trace.ends
        hits = [self._scoped.find(name) for name in names] if self._scoped is not None else []
        for ruling in (Ruling.DENY, Ruling.ASK):
            if rule := self._whole_rule(use, ruling) or _first(hits, use, ruling):
                return Judgement(ruling=ruling, why=rule.sentence, rule=rule)
        say = partial(_by_mode, mode)
        if mode == PermissionMode.BYPASS:
            return say(Ruling.ALLOW, "everything that no rule speaks of")
        if mode == PermissionMode.PLAN and use == "write":
            return say(Ruling.DENY, f"{what} may change something" if what else f"it would write {trace.target!r:.200}")
        if not trace.target:
            return say(Ruling.ALLOW, "it leads nowhere, so nothing can be opened")
        if trace.target in self._outputs and use == "read":
            return say(Ruling.ALLOW, "reading the output of a command")
        if caution := self._caution(use, trace):
            return Judgement(ruling=Ruling.ASK, why=f"mode {mode}: {caution}", guarded=True)
        if judgement := self._judge_by_folder(use, trace, mode, say):
            return judgement
        if rule := named or self._allowing(use, trace, hits):
            return Judgement(ruling=Ruling.ALLOW, why=rule.sentence, rule=rule)
        why, objection = self._lacking(use, trace, what)
        return Judgement(ruling=Ruling.ASK, why=f"mode {mode}: {why}", objection=objection)

    def find_protected(self, path: str) -> str | None:
        """The protected name in an absolute path, by its words alone: links are not followed."""
        return find_protected(path, self._own, self._homes) or self._find_named(path)

    def look_inside(self) -> "InsideLook":
        """A search for protected files inside folders."""
        from everturn.permissions.paths.inside import InsideLook
        from everturn.workspace.git_named import find_named

        named = [find_named(folder, self._home) for folder in self._folders]
        files = [each for kind in named for each in kind.programs if os.path.isfile(each)]  # noqa: PTH113 - as text
        return InsideLook(self._own, (*(each for kind in named for each in (*kind.hooks, *kind.included)), *files))

    def _find_named(self, path: str) -> str | None:
        """The protected name of a path that settings of git name, in the repositories around the path and around the working folders."""
        if not any(is_within(each, path) for each in self._folders):
            return None
        from everturn.workspace.git_named import find_named

        parts, places = fold_path(path), dict.fromkeys((path.rpartition("/")[0], *self._folders))
        is_there = False
        for named in dict.fromkeys(find_named(place, self._home) for place in places):
            is_there = is_there or any(self._covers_hook(path, hooks) for hooks in named.hooks)
            is_there = is_there or any(parts == form for form in _fold_forms(named.included))
            is_there = is_there or (os.path.isfile(path) and parts in _fold_forms(named.programs))  # noqa: PTH113
        return f"{path.rpartition('/')[2]}, which git's settings name," if is_there else None

    def _covers_hook(self, path: str, hooks: str) -> bool:
        """Where all that is worked in would be a folder of hooks, only what has the name of a hook is one."""
        parts = fold_path(path)
        if any(is_within(hooks, each) for each in self._folders):
            return parts[-1] in GIT_HOOKS and fold_path(path.rpartition("/")[0]) in _fold_forms((hooks,))
        return any(parts[: len(form)] == form for form in _fold_forms((hooks,)))

    def hidden_from_search(self) -> Hides | None:
        """Function that says whether a search leaves out a real path, because it may not be read without a question; None if nothing is left out."""
        return self._hides

    def find_coverage(self, use: FileUse, *rulings: Ruling) -> Coverage | None:
        """The files that rules of these kinds cover for a use; None if there are no such rules."""
        kinds = frozenset((family, ruling) for ruling in rulings for family in _FAMILIES[use, ruling])
        if kinds not in self._coverages:
            rules = [rule for rule in self._of_paths if (rule.tool, rule.ruling) in kinds]
            self._coverages[kinds] = Coverage(rules, self._anchors, partial(self._is_covered, kinds)) if rules else None
        return self._coverages[kinds]

    def _is_covered(self, kinds: frozenset[tuple[str, Ruling]], path: str) -> bool:
        hits = self._scoped.find(path) if self._scoped is not None else {}
        return not kinds.isdisjoint(hits)

    def _whole_rule(self, use: FileUse, ruling: Ruling) -> Rule | None:
        return next((rule for family in _FAMILIES[use, ruling] if (rule := self._whole.get((family, ruling)))), None)

    def _caution(self, use: FileUse, trace: Trace) -> str | None:
        if trace.magic:
            return f"{_DOES[use]} by way of /proc, where a name is not what it seems"
        if use == "read":
            return None
        found = next((name for end in trace.ends if (name := self.find_protected(end))), None)
        found = found or next((name for end in trace.ends if (name := self._find_shape(end))), None)
        return f"{found} is protected: what is written there is never approved ahead of time" if found else None

    def _find_shape(self, path: str) -> str | None:
        """The repository or Python environment around a path, recognised by its content: files in it may be run."""
        folder = path
        while any(is_within(each, folder) for each in self._folders):
            if is_repository(folder):
                return f"{folder}, a repository,"
            if folder not in self._folders and os.path.lexists(f"{folder}/{ENVIRONMENT}"):
                return f"{folder}, a virtual environment,"
            folder = folder.rpartition("/")[0] or "/"
            if folder == "/":
                break
        return None

    def _judge_by_folder(
        self, use: FileUse, trace: Trace, mode: str, say: Callable[[Ruling, str], Judgement]
    ) -> Judgement | None:
        if use == "write" and trace.is_shared:
            return None
        if (scratch := self._scratch.find()) and is_within(scratch, trace.target):
            return say(Ruling.ALLOW, f"{_DOES[use]} inside the session's scratch folder")
        if use == "write" and mode != PermissionMode.ACCEPT_EDITS:
            return None
        inside = any(is_within(folder, trace.target) for folder in self._folders)
        return say(Ruling.ALLOW, f"{_DOES[use]} inside the working folder") if inside else None

    def _allowing(self, use: FileUse, trace: Trace, hits: list[Hits]) -> Rule | None:
        """The rule for the real path, where every other name of it is allowed, too."""
        if rule := self._whole_rule(use, Ruling.ALLOW):
            return rule
        rules = [_first([each], use, Ruling.ALLOW) for each in hits]
        return rules[-1] if rules and all(rules) and not (use == "write" and trace.is_shared) else None

    def _lacking(self, use: FileUse, trace: Trace, what: str) -> tuple[str, DenialCause]:
        if use == "write" and trace.is_shared:
            return "the file has a second name (a hard link), perhaps elsewhere", DenialCause.UNAPPROVED
        if any(is_within(folder, trace.target) for folder in self._folders):
            return f"{what or 'writing'} needs approval", DenialCause.UNAPPROVED
        return f"{_DOES[use]} outside the working folder", DenialCause.OUTSIDE


def is_repository(folder: str) -> bool:
    """Whether git takes a folder for a bare repository: it has a HEAD, and the rest beside it or where `commondir` says."""
    return os.path.lexists(f"{folder}/{GIT_HEAD}") and any(
        os.path.lexists(f"{folder}/{name}") for name in ("refs", "commondir")
    )


def is_within(folder: str, path: str) -> bool:
    """Whether a real path is the folder or in it."""
    return path == folder or path.startswith(folder if folder.endswith("/") else f"{folder}/")


def _by_mode(mode: str, ruling: Ruling, why: str) -> Judgement:
    return Judgement(ruling=ruling, why=f"mode {mode}: {why}")


def _first(hits: Iterable[Hits], use: FileUse, ruling: Ruling) -> Rule | None:
    families = _FAMILIES[use, ruling]
    return next((rule for each in hits for family in families if (rule := each.get((family, ruling)))), None)


def _fold_forms(folders: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Each folder by its given path and its real path."""
    return tuple(fold_path(form) for each in folders for form in dict.fromkeys((each, os.path.realpath(each))))


def _expand(path: str) -> str:
    """Expands `~`. `~ghost` of a user that does not exist stays as it is."""
    with suppress(RuntimeError):
        return str(Path(path).expanduser())
    return path

"""What `xargs` may run on a list of files that comes through a pipe: readers, on what lies in folders that may be read."""

import re

from everturn.permissions.shell.readonly.judge import Reads, judge_reading
from everturn.permissions.shell.syntax import Command, Word
from everturn.permissions.shell.wrappers import strip_wrappers

_READERS = frozenset(
    {"cat", "grep", "wc", "head", "tail", "ls", "stat", "du", "md5sum", "sha256sum", "echo", "basename"}
)
"""Whatever a file's name is, and be it that of an option: they only read."""
_FILTERS = frozenset({"grep", "head", "tail", "sort", "uniq"})
_NAMES_ALONE = re.compile(r"-[A-Za-z]*l[A-Za-z]*|--files-with-matches|--files|--name-only")
_PARTS_OF_LINES = re.compile(r"-[A-Za-z]*o[A-Za-z]*|--only-matching")
_OTHER_TEXT = frozenset({"-printf", "-ls"})
_MOST_STAGES = 8
_A_FILE = Word(raw="_", value="_", template="_")


def judge_listed(words: tuple[Word, ...], before: tuple[Command, ...], home: str) -> Reads | None:
    """`words`: behind `xargs`; `before`: the stages of the pipe in front of it. None when more may be read than was listed."""
    reads = judge_reading((*words, _A_FILE), home) if words[0].raw in _READERS else None
    if reads is None or not 0 < len(before) <= _MOST_STAGES:
        return None
    lister, *filters = [strip_wrappers(stage.words) for stage in before]
    listed = judge_reading(lister, home) if _lists(lister) else None
    if listed is None or not all(_lets_pass(stage, home) for stage in filters):
        return None
    folders = (".",) if listed.of_git or not listed.paths else listed.paths
    return Reads((*folders, *[path for path in reads.paths if path != _A_FILE.raw]), varies=True)


def _lists(words: tuple[Word, ...]) -> bool:
    """It prints names of files below the folders that it is given, and nothing else."""
    said = [word.raw for word in words[1:]]
    match words[0].raw, *said[:1]:
        case "ls", *_:
            return True
        case "find", *_:
            return _OTHER_TEXT.isdisjoint(said)
        case "git", "ls-files":
            return not any(".." in word for word in said)
        case ("grep" | "rg", *_) | ("git", "grep" | "diff"):
            return any(_NAMES_ALONE.fullmatch(word) for word in said) and not any(".." in word for word in said)
        case _:
            return False


def _lets_pass(words: tuple[Word, ...], home: str) -> bool:
    """Lines come out of it as they went in, or not at all."""
    if words[0].raw not in _FILTERS or any(_PARTS_OF_LINES.fullmatch(word.raw) for word in words[1:]):
        return False
    reads = judge_reading(words, home)
    return reads is not None and not reads.paths

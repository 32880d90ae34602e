"""Whether a command of git may show lines of a file that may not be read: from the working tree, the index, or history."""

import os
import re
from collections.abc import Iterable
from posixpath import join

from everturn.core.git_config import UnclearError
from everturn.permissions.git.places import find_git_places
from everturn.permissions.git.plain import read_plain
from everturn.permissions.rules.globs import Glob
from everturn.permissions.rules.patterns import parse_pattern
from everturn.permissions.rules.rule import Rule
from everturn.permissions.shell.fileguard import FileGuard
from everturn.permissions.shell.folders import resolve
from everturn.permissions.shell.runner_words import skip_options
from everturn.permissions.shell.survey import Sight
from everturn.permissions.shell.syntax import UNKNOWN

_ALWAYS = frozenset({
    "annotate", "archive", "blame", "bundle", "cat-file", "difftool", "fast-export", "format-patch", "grep", "merge-file", "merge-tree",
    "range-diff", "show", "diff", "diff-files", "unpack-file", "whatchanged", "filter-branch", "send-email", "request-pull",
})  # fmt: skip
"""They show lines of files, or carry them elsewhere, unless told otherwise."""
_WITH_PATCH = frozenset(
    {"log", "reflog", "rev-list", "diff-tree", "diff-index", "shortlog", "status", "stash", "commit", "add"}
)
"""They do so where an option asks for it."""
_PATCH = re.compile(
    r"-[pu]|-U.*|-[LSGcmWv].*|--(?:patch|unified|cc|dd|diff-merges|word-diff|color-words|function-context|binary|check|full-diff"
    r"|find-object|verbose|remerge-diff|submodule|interactive|edit).*"
)
_NAMES = frozenset({
    "--name-only", "--name-status", "--stat", "--shortstat", "--numstat", "--raw", "--summary", "--quiet", "-q", "-s", "--no-patch",
    "--dirstat", "--compact-summary", "--list",
})  # fmt: skip
_ABOUT_OBJECTS = frozenset({"-e", "-t", "-s", "--batch-check"})
_OF_THE_TREE = frozenset({"diff", "diff-files", "grep", "status", "difftool", "commit", "add"})
"""Without a revision they show what the index knows."""
_ELSEWHERE = ("--git-dir", "--work-tree", "--namespace")
"""Options, as `-C`, by which another repository is meant."""
_SHOW_BLOBS = frozenset({"show", "diff", "difftool"})
_HASH = re.compile(r"[0-9a-fA-F]{4,64}")
_MAGIC = re.compile(r"[*?\[\\]")
_ENDING = re.compile(r"[^/]\.[A-Za-z0-9]+$")
_FULL_NAMES = frozenset({2, 3})
"""Versions of the index that write each name in full."""
_SHARED = "sharedindex."
"""Begins the name of a file that holds some of the names."""
_MOST_INDEX = 64 * 2**20


def may_git_show(sight: Sight, guard: FileGuard, home: str) -> bool:
    """Some of what it shows may be of a file that rules keep from being read."""
    subcommand, *words = skip_options(list(sight.argv[1:])) or [""]
    if not _shows_lines(subcommand, words):
        return False
    before = sight.argv[1 : len(sight.argv) - len(words) - 1]
    if any(word == "-C" or word.startswith(_ELSEWHERE) for word in before):
        return True
    folder = next(iter(sight.here)) if sight.here else None
    places = find_git_places(folder, home) if folder is not None else None
    root = places.root if places is not None else folder
    if root is not None and not guard.may_pass_by(root, frozenset({root})):
        return False
    revisions, paths = _sort_operands(subcommand, words, sight)
    if (
        paths
        and all(_is_safe(path, sight, guard, root) for path in paths)
        and not _names_objects(subcommand, revisions)
    ):
        return False
    if revisions or subcommand not in _OF_THE_TREE or places is None or "--no-index" in words or "--untracked" in words:
        return True
    return _may_track(places.git, guard.read_rules)


def _shows_lines(subcommand: str, words: list[str]) -> bool:
    options = [word for word in words if word.startswith("-")]
    if subcommand == "cat-file":
        return _ABOUT_OBJECTS.isdisjoint(options)
    if subcommand == "stash":
        return words[:1] == ["show"] and (_NAMES.isdisjoint(options) or any(map(_PATCH.fullmatch, options)))
    if subcommand in {"commit", "add"}:
        return any(option in {"-v", "-p", "--verbose", "--patch", "-i", "-e"} for option in options)
    if subcommand in _WITH_PATCH:
        return any(map(_PATCH.fullmatch, options))
    if subcommand not in _ALWAYS:
        return False
    if _NAMES.isdisjoint(options) or any(map(_PATCH.fullmatch, options)):
        return True
    # A blob is shown as it is, whatever the options say.
    return subcommand == "show" and any(_HASH.fullmatch(word) for word in words)


def _sort_operands(subcommand: str, words: list[str], sight: Sight) -> tuple[list[str], list[str]]:
    """Revisions, and names of files."""
    if subcommand == "stash":
        words = words[1:]
    behind = words[words.index("--") + 1 :] if "--" in words else []
    before = [word for word in words[: words.index("--") if "--" in words else None] if not word.startswith("-")]
    if subcommand == "grep" and not any(re.match(r"-[a-z]*[ef]", word) for word in words):
        before = before[1:]
    paths = [word for word in before if _is_path(word, sight)] + behind
    return [word for word in before if not _is_path(word, sight)], paths


def _is_path(word: str, sight: Sight) -> bool:
    revision, colon, path = word.rpartition(":")
    if colon and revision and not word.startswith(":/") and path and not path.startswith("/"):
        return True
    return UNKNOWN not in word and any(os.path.lexists(place) for place in resolve(sight.here, word) or ())


def _names_objects(subcommand: str, revisions: Iterable[str]) -> bool:
    """`git show BLOB -- f` shows the blob, whatever file is named."""
    return subcommand in _SHOW_BLOBS and any(_HASH.fullmatch(word) or UNKNOWN in word for word in revisions)


def _is_safe(word: str, sight: Sight, guard: FileGuard, root: str | None) -> bool:
    """No file of this name, and none below it, may be covered."""
    path = word.rpartition(":")[2]
    if UNKNOWN in word or _MAGIC.search(word) or word.startswith(":"):
        return False
    places = [*(resolve(sight.here, path) or ()), *([join(root, path)] if root is not None else [])]
    if not places or any(guard.find_rule("read", place, sight.here) for place in places):
        return False
    # What has gone by now was most likely a file, if it is called like one.
    is_there = [place for place in places if os.path.lexists(place)]
    is_file = not any(map(os.path.isdir, is_there)) and (bool(is_there) or _ENDING.search(path) is not None)
    return is_file or not any(guard.may_pass_by(place, sight.here) for place in places)


def _may_track(git: str, rules: Iterable[Rule]) -> bool:
    """Whether the index knows a file that one of the rules may cover, by the fixed names in the rules' patterns."""
    try:
        data = read_plain(join(git, "index"), _MOST_INDEX)
        is_shared = any(name.startswith(_SHARED) for name in os.listdir(git))  # noqa: PTH208 - names are all we need
    except (OSError, UnclearError):
        return True
    if data is None:
        return False
    if int.from_bytes(data[4:8]) not in _FULL_NAMES or is_shared:
        return True
    folded = data.lower()
    return any(_may_be_among(folded, rule) for rule in rules)


def _may_be_among(names: bytes, rule: Rule) -> bool:
    wanted = [end.encode() for end in list_endings(rule) if end.isascii()]
    return all(end + b"\0" in names or end + b"/" in names for end in wanted)


def list_endings(rule: Rule) -> list[str]:
    """With what the names end that its pattern goes through, as far as that is fixed; in small letters."""
    steps = parse_pattern(rule.specifier, rule.ruling).steps if rule.specifier else ()
    ends = [step.literal if step.literal is not None else step.edges[1] for step in steps if isinstance(step, Glob)]
    return [end.lower() for end in ends if end]

"""Whether a command of git may show lines of a file that may not be read: from the working tree, the index, or history."""

import os
from collections.abc import Iterable
from itertools import takewhile
from posixpath import basename, dirname, join

import msgspec

from everturn.core.git_config import UnclearError
from everturn.core.patterns import compile_late
from everturn.permissions.git.places import GitPlaces, find_git_places
from everturn.permissions.git.plain_files import read_plain
from everturn.permissions.git.revisions import is_range, may_be_revision
from everturn.permissions.rules.globs import Glob
from everturn.permissions.rules.patterns import parse_pattern
from everturn.permissions.rules.rule import Rule
from everturn.permissions.shell.files.git_silence import (
    SEVERAL,
    GitCall,
    find_awaited,
    find_opened,
    is_silent,
    keeps_to_paths,
    take_apart,
)
from everturn.permissions.shell.files.guard import FileGuard
from everturn.permissions.shell.files.openings import find_words, open_word
from everturn.permissions.shell.reading.folders import resolve
from everturn.permissions.shell.reading.syntax import UNKNOWN, Word
from everturn.permissions.shell.running.option_values import OptionNames, has_option
from everturn.permissions.shell.running.survey import Candidate

_OF_THE_TREE = frozenset({"diff", "diff-files", "grep", "add", "checkout", "restore"})
"""Without a revision they show what the index knows. Others compare with `HEAD`, which may know more."""
_SHOW_BLOBS = frozenset({"show", "diff"})
_NO_REVISIONS = frozenset({"add", "stash"})
_NO_PATHS = frozenset({"cat-file"})
_ONE_FILE = frozenset({"blame", "annotate"})
_BEYOND: dict[str, OptionNames] = {
    "diff": OptionNames(names=("--no-index", "--cached", "--staged", "--merge-base")),
    "grep": OptionNames(names=("--no-index", "--untracked")),
    "restore": OptionNames(letters="sS", names=("--source", "--staged")),
}
"""With one of them they show more than the index knows."""
_KEEP_CHANGES = frozenset({"push", "save"})
_PATTERNS = OptionNames(letters="ef")
_TYPES = frozenset({"blob", "tree", "commit", "tag"})
_A_COMMIT = compile_late(rf"(?:HEAD|@|(?:[^:{UNKNOWN}]|@\{{[^{UNKNOWN}]*\}})+[~^]\d*)(?:[~^]\d*)*(?:\.\..*)?")
"""Whatever it is called, it is no blob: `HEAD~2`, `main^`."""
_HASH = compile_late(r"[0-9a-fA-F]{4,64}")
_MAGIC = compile_late(r"[*?\[\\]")
_ENDING = compile_late(r"[^/]\.[A-Za-z0-9]+$")
_FULL_NAMES = frozenset({2, 3})
"""Versions of the index that write each name in full."""
_GIT = ".git"
_SHARED = "sharedindex."
"""Begins the name of a file that holds some of the names."""
_MAX_INDEX = 64 * 2**20


def may_git_show(candidate: Candidate, guard: FileGuard, home: str) -> bool:
    """Some of what it shows may be of a file that rules keep from being read."""
    call = take_apart(_spell_out(candidate, home))
    if is_silent(call):
        return call.subcommand == "show" and _names_objects("show", _find_operands(call.words))
    if call.is_elsewhere or (call.subcommand == "stash" and not {*_find_operands(call.words)[:1]} <= _KEEP_CHANGES):
        return True
    return any(
        _may_show(
            call, msgspec.structs.replace(candidate, here=None if folder is None else frozenset({folder})), guard, home
        )
        for folder in (candidate.here or (None,))
    )


def _may_show(call: GitCall, candidate: Candidate, guard: FileGuard, home: str) -> bool:
    """In the one folder that it runs in, if that is known."""
    folder = next(iter(candidate.here)) if candidate.here else None
    places = find_git_places(folder, home) if folder is not None else None
    roots = _find_roots(folder, places)
    if roots and not any(guard.may_pass_by(root, frozenset({root})) for root in roots):
        return False
    revisions, named, paths = _sort_operands(call, candidate, places)
    is_kept = keeps_to_paths(call) and bool(named or paths) and (bool(paths) or not revisions)
    if (
        is_kept
        and all(_is_safe(path, candidate, guard, roots) for path in (*named, *paths))
        and not _names_objects(call.subcommand, revisions)
        and not (call.subcommand in _ONE_FILE and _may_be_file(revisions, candidate, guard, roots))
    ):
        return False
    is_read = call.is_known and (call.subcommand in _NO_REVISIONS or keeps_to_paths(call))
    if revisions or call.subcommand not in _OF_THE_TREE or not is_read or places is None or _goes_beyond(call):
        return True
    return _may_track(places.git, guard.read_rules)


def _find_roots(folder: str | None, places: GitPlaces | None) -> tuple[str, ...]:
    """Where the names of what it shows may begin. In the repository's own folder, these are those of the tree around it."""
    found = [folder] if folder is not None else []
    if places is not None:
        found += [places.root, *([dirname(places.common)] if basename(places.common) == _GIT else [])]
    return tuple(dict.fromkeys(found))


def find_opened_by_git(candidate: Candidate, home: str) -> tuple[str, ...]:
    """Words that may be files which git opens by name: `commit -F f`, `diff --no-index a b`."""
    return find_opened(take_apart(_spell_out(candidate, home)))


def _goes_beyond(call: GitCall) -> bool:
    """It looks at more than the index knows."""
    return has_option(call.words, _BEYOND.get(call.subcommand, OptionNames()))


def _spell_out(candidate: Candidate, home: str) -> tuple[str, ...]:
    """Its words, with braces and known variables put in; what is not known begins with a mark."""
    words: list[str] = []
    for template in candidate.argv[1:]:
        opening = open_word(template, Candidate(candidate.argv, None, candidate.source), home)
        if opening.ends is None and not opening.folders:
            words.extend(opening.texts)
        elif UNKNOWN in template or "{" in template:
            found = find_words(template, candidate)
            is_one = bool(found) and all(_stays_one(word) for word in found)
            words.append(template if is_one else f"{SEVERAL}{template}")
        else:
            words.append(template)
    return tuple(words)


def _stays_one(word: Word) -> bool:
    return not word.brace and all(isinstance(part, str) or part.quoted for part in word.parts)


def _find_operands(words: Iterable[str]) -> list[str]:
    return [word for word in takewhile("--".__ne__, words) if not word.startswith("-")]


def _sort_operands(
    call: GitCall, candidate: Candidate, places: GitPlaces | None
) -> tuple[list[str], list[str], list[str]]:
    """Revisions, files of revisions (`HEAD:f`), and names of files: only the last keep it from showing others."""
    words, awaited = call.words, find_awaited(call)
    end = words.index("--") if "--" in words else len(words)
    before = [(word, at in awaited) for at, word in enumerate(words[:end]) if at in awaited or not word.startswith("-")]
    operands = [word for word, is_value in before if not is_value]
    if (
        (call.subcommand == "grep" and not has_option(words, _PATTERNS))
        or (call.subcommand == "cat-file" and bool(operands) and operands[0] in _TYPES)
        or (call.subcommand == "stash" and bool(operands) and operands[0] in _KEEP_CHANGES)
    ):
        operands = operands[1:]
    # In front of `--` git looks at no file.
    is_open = end == len(words) or call.subcommand in _NO_REVISIONS
    named = [word for word in operands if _is_of_revision(word)]
    paths = [word for word in operands if word not in named and is_open and _is_path(word, call, candidate, places)]
    revisions = [word for word in operands if word not in named and word not in paths]
    values = [word for word, is_value in before if is_value]
    return (
        [] if call.subcommand in _NO_REVISIONS else [*revisions, *values],
        named,
        [*paths, *words[end + 1 :]],
    )


def _is_of_revision(word: str) -> bool:
    """`HEAD:f`, and no range of them."""
    revision, colon, path = word.rpartition(":")
    if not colon or not revision or word.startswith(":/") or not path or path.startswith("/"):
        return False
    is_one = ".." not in revision and ":" not in revision.removeprefix(":") and not is_range(path)
    return is_one and revision.count("{") == revision.count("}")


def _is_path(word: str, call: GitCall, candidate: Candidate, places: GitPlaces | None) -> bool:
    """There is such a file, and git cannot take it for a revision: where both are possible, it depends on where it runs."""
    if UNKNOWN in word or not any(os.path.lexists(place) for place in resolve(candidate.here, word) or ()):
        return False
    if call.subcommand in _NO_REVISIONS:
        return True
    if places is None or places.root in {places.git, places.common} or call.subcommand in _NO_PATHS:
        return False
    return not may_be_revision(word, places)


def _may_be_file(words: Iterable[str], candidate: Candidate, guard: FileGuard, roots: tuple[str, ...]) -> bool:
    """`git blame REVISION FILE` and `git blame FILE REVISION` are the same to git."""
    return any(guard.find_rule("read", join(root, word), candidate.here) for word in words for root in roots)


def _names_objects(subcommand: str, revisions: Iterable[str]) -> bool:
    """`git show BLOB -- f` shows the blob, whatever file is named and whatever the options say; a tag may be one of a blob."""
    if subcommand == "show":
        return not all(map(_A_COMMIT.fullmatch, revisions))
    return subcommand in _SHOW_BLOBS and any(_HASH.fullmatch(word) or UNKNOWN in word for word in revisions)


def _is_safe(word: str, candidate: Candidate, guard: FileGuard, roots: tuple[str, ...]) -> bool:
    """No file of this name, and none below it, may be covered."""
    path = word.rpartition(":")[2]
    if UNKNOWN in word or _MAGIC.search(word) or word.startswith(":"):
        return False
    places = [*(resolve(candidate.here, path) or ()), *(join(root, path) for root in roots)]
    if not places or any(guard.find_rule("read", place, candidate.here) for place in places):
        return False
    # What has gone by now was most likely a file, if it is called like one.
    is_there = [place for place in places if os.path.lexists(place)]
    is_file = not any(map(os.path.isdir, is_there)) and (bool(is_there) or _ENDING.search(path) is not None)
    return is_file or not any(guard.may_pass_by(place, candidate.here) for place in places)


def _may_track(git: str, rules: Iterable[Rule]) -> bool:
    """Whether the index knows a file that one of the rules may cover, by the fixed names in the rules' patterns."""
    try:
        data = read_plain(join(git, "index"), _MAX_INDEX)
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

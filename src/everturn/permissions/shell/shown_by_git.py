"""Whether a command of git may show lines of a file that may not be read: from the working tree, the index, or history."""

import os
from collections.abc import Iterable
from itertools import takewhile
from posixpath import join

from everturn.core.git_config import UnclearError
from everturn.core.patterns import compile_late
from everturn.permissions.git.places import find_git_places
from everturn.permissions.git.plain import read_plain
from everturn.permissions.rules.globs import Glob
from everturn.permissions.rules.patterns import parse_pattern
from everturn.permissions.rules.rule import Rule
from everturn.permissions.shell.fileguard import FileGuard
from everturn.permissions.shell.folders import resolve
from everturn.permissions.shell.git_silence import SEVERAL, Call, find_opened, is_silent, keeps_to_paths, take_apart
from everturn.permissions.shell.openings import find_words, open_word
from everturn.permissions.shell.option_values import Options, has_option
from everturn.permissions.shell.survey import Sight
from everturn.permissions.shell.syntax import UNKNOWN, Word

_OF_THE_TREE = frozenset({"diff", "diff-files", "grep", "status", "commit", "add", "checkout", "restore", "stash"})
"""Without a revision they show what the index knows."""
_SHOW_BLOBS = frozenset({"show", "diff"})
_NO_REVISIONS = frozenset({"add", "stash"})
_BEYOND = Options(names=("--no-index", "--untracked", "--include-untracked"))
_PATTERNS = Options(letters="ef")
_TYPES = frozenset({"blob", "tree", "commit", "tag"})
_A_COMMIT = compile_late(rf"(?:HEAD|@|(?:[^:{UNKNOWN}]|@\{{[^{UNKNOWN}]*\}})+[~^]\d*)(?:[~^]\d*)*(?:\.\..*)?")
"""Whatever it is called, it is no blob: `HEAD~2`, `main^`."""
_HASH = compile_late(r"[0-9a-fA-F]{4,64}")
_MAGIC = compile_late(r"[*?\[\\]")
_ENDING = compile_late(r"[^/]\.[A-Za-z0-9]+$")
_FULL_NAMES = frozenset({2, 3})
"""Versions of the index that write each name in full."""
_SHARED = "sharedindex."
"""Begins the name of a file that holds some of the names."""
_MOST_INDEX = 64 * 2**20


def may_git_show(sight: Sight, guard: FileGuard, home: str) -> bool:
    """Some of what it shows may be of a file that rules keep from being read."""
    call = take_apart(_spell_out(sight, home))
    if is_silent(call):
        return call.subcommand == "show" and _names_objects("show", _find_operands(call.words))
    if call.is_elsewhere:
        return True
    folder = next(iter(sight.here)) if sight.here else None
    places = find_git_places(folder, home) if folder is not None else None
    root = places.root if places is not None else folder
    if root is not None and not guard.may_pass_by(root, frozenset({root})):
        return False
    revisions, named, paths = _sort_operands(call, sight)
    is_kept = keeps_to_paths(call) and bool(named or paths) and (bool(paths) or not revisions)
    if (
        is_kept
        and all(_is_safe(path, sight, guard, root) for path in (*named, *paths))
        and not _names_objects(call.subcommand, revisions)
    ):
        return False
    if revisions or call.subcommand not in _OF_THE_TREE or not call.is_known or places is None or _goes_beyond(call):
        return True
    return _may_track(places.git, guard.read_rules)


def find_opened_by_git(sight: Sight, home: str) -> tuple[str, ...]:
    """Words that may be files which git opens by name: `commit -F f`, `diff --no-index a b`."""
    return find_opened(take_apart(_spell_out(sight, home)))


def _goes_beyond(call: Call) -> bool:
    """It looks at more than the index knows."""
    return has_option(call.words, _BEYOND)


def _spell_out(sight: Sight, home: str) -> tuple[str, ...]:
    """Its words, with braces and known variables put in; what is not known begins with a mark."""
    words: list[str] = []
    for template in sight.argv[1:]:
        opening = open_word(template, Sight(sight.argv, None, sight.source), home)
        if opening.ends is None and not opening.folders:
            words.extend(opening.texts)
        elif UNKNOWN in template or "{" in template:
            found = find_words(template, sight)
            is_one = bool(found) and all(_stays_one(word) for word in found)
            words.append(template if is_one else f"{SEVERAL}{template}")
        else:
            words.append(template)
    return tuple(words)


def _stays_one(word: Word) -> bool:
    return not word.brace and all(isinstance(part, str) or part.quoted for part in word.parts)


def _find_operands(words: Iterable[str]) -> list[str]:
    return [word for word in takewhile("--".__ne__, words) if not word.startswith("-")]


def _sort_operands(call: Call, sight: Sight) -> tuple[list[str], list[str], list[str]]:
    """Revisions, files of revisions (`HEAD:f`), and names of files: only the last keep it from showing others."""
    words = call.words
    behind = words[words.index("--") + 1 :] if "--" in words else ()
    before = _find_operands(words)
    if call.subcommand == "grep" and not has_option(words, _PATTERNS):
        before = before[1:]
    if call.subcommand == "cat-file" and before[:1] and before[0] in _TYPES:
        before = before[1:]
    if call.subcommand == "stash" and before[:1] in (["push"], ["save"]):
        before = before[1:]
    revisions = [word for word in before if not _is_path(word, sight) and call.subcommand not in _NO_REVISIONS]
    named = [word for word in before if _is_path(word, sight)]
    return (
        revisions,
        [word for word in named if ":" in word],
        [*(word for word in named if ":" not in word), *behind],
    )


def _is_path(word: str, sight: Sight) -> bool:
    revision, colon, path = word.rpartition(":")
    if colon and revision and not word.startswith(":/") and path and not path.startswith("/"):
        return True
    return UNKNOWN not in word and any(os.path.lexists(place) for place in resolve(sight.here, word) or ())


def _names_objects(subcommand: str, revisions: Iterable[str]) -> bool:
    """`git show BLOB -- f` shows the blob, whatever file is named and whatever the options say; a tag may be one of a blob."""
    if subcommand == "show":
        return not all(map(_A_COMMIT.fullmatch, revisions))
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

"""Which commands of git show no line of any file, and which files git opens by name. Whatever is not listed here may show all of them.

A subcommand is silent with the options that are listed for it, spelled in full, and with no others: git takes abbreviations and
bundles, and each of its versions has more options than the one before.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

import msgspec

from everturn.permissions.shell.files.git_silent_tables import (
    DIFFS,
    FIRST_WORDS,
    LOGS,
    SILENT_SUBCOMMANDS,
    SILENT_TABLES,
)
from everturn.permissions.shell.reading.syntax import UNKNOWN
from everturn.permissions.shell.readonly.options import Arity, Table
from everturn.permissions.shell.running.option_values import OptionNames, find_values, has_option

SEVERAL = UNKNOWN * 2
"""Begins a word that may become any number of words; one that begins with `UNKNOWN` alone may be any single word."""
_PATCH = frozenset({
    "-p", "-u", "-U", "-L", "-S", "-G", "-c", "-m", "-W", "--patch", "--unified", "--patch-with-raw", "--patch-with-stat", "--cc", "--dd",
    "--diff-merges", "--word-diff", "--word-diff-regex", "--color-words", "--function-context", "--binary", "--check", "--full-diff",
    "--find-object",
})  # fmt: skip
_VERBOSE = frozenset({"-v", "--verbose"})
_NAMES = frozenset({
    "--name-only", "--name-status", "--stat", "--shortstat", "--numstat", "--raw", "--summary", "--quiet", "-q", "-s", "--no-patch",
    "--dirstat", "--compact-summary",
})  # fmt: skip
_LEAVES_PATHS = frozenset(
    {"--full-diff", "--follow", "-L", "--no-index", "--untracked", "--find-object", "--contents", "--stdin"}
)
"""With one of them, naming a path does not keep git to it."""
_ABOUT_OBJECTS = frozenset({"-e", "-t", "-s", "--batch-check"})
_KEEP_TO_PATHS = frozenset({
    "log", "reflog", "whatchanged", "diff-tree", "diff-index", "diff-files", "diff", "show", "blame", "annotate", "grep", "status", "cat-file",
})  # fmt: skip
_ADD_PATCH = frozenset({"add", "checkout", "commit", "reset", "restore", "stash"})
"""With `-p` they show what the path that they are given has, and no more."""
_GLOBAL = frozenset({
    "--no-pager", "-P", "-p", "--paginate", "--no-optional-locks", "--literal-pathspecs", "--glob-pathspecs", "--noglob-pathspecs",
    "--icase-pathspecs", "--no-replace-objects", "--no-lazy-fetch", "--bare",
})  # fmt: skip
_ALONE = frozenset({"--version", "-v", "--help", "-h", "--exec-path", "--html-path", "--man-path", "--info-path"})
_ELSEWHERE = ("-C", "--git-dir", "--work-tree", "--namespace")
"""Global options by which another repository is meant."""
_HARMLESS_SETTINGS = (
    "user.", "author.", "committer.", "color.", "advice.", "safe.", "init.", "http.", "https.", "protocol.", "push.", "fetch.", "pull.", "column.",
    "core.quotepath", "core.autocrlf", "core.safecrlf", "core.eol", "core.longpaths", "core.filemode", "core.compression", "commit.gpgsign", "tag.gpgsign",
    "gc.", "pack.", "credential.", "core.sshcommand", "core.askpass", "core.hookspath", "core.editor", "core.pager", "sequence.editor", "pager.",
    "merge.conflictstyle", "rebase.", "status.", "gpg.", "filter.lfs.", "lfs.", "core.fsmonitor", "core.preloadindex", "core.untrackedcache",
)  # fmt: skip
"""They do not decide what is shown. That some run programs is looked at elsewhere."""
_OPENERS = frozenset({
    "am", "apply", "bundle", "column", "credential-store", "fast-import", "get-tar-commit-id", "hash-object", "http-push", "imap-send",
    "index-pack", "interpret-trailers", "mailinfo", "mailsplit", "merge-file", "mktag", "mktree", "patch-id", "quiltimport", "send-email", "stripspace",
    "unpack-objects",
})  # fmt: skip
"""Their words are files."""
_OPENING_LETTERS = {
    "commit": "Ft", "tag": "F", "notes": "F", "merge": "F", "config": "f", "grep": "f", "blame": "S", "annotate": "S", "ls-files": "X",
    "commit-tree": "F", "credential-store": "f", "diff": "O", "log": "O", "show": "O", "format-patch": "O",
}  # fmt: skip
_OPENING_NAMES = (
    "--file", "--template", "--pathspec-from-file", "--contents", "--ignore-revs-file", "--exclude-from", "--exclude-per-directory",
    "--mailmap-file", "--no-index", "--signature-file", "--description-file", "--cover-from-description",
)  # fmt: skip
_IN_NEXT = {Arity.NEEDED: 1, Arity.UNLESS_LAST: 1, Arity.WRITTEN: 1, Arity.PAIR: 2}
"""How many words may be the value of an option that none is joined to."""
_COMMON_OPTIONS = ("-p", "-u", "-v", "-i", "-e", "-U3", "--patch")
"""A glob that fits one of these may become it, where a file has that name."""


class GitCall(msgspec.Struct, frozen=True, kw_only=True):
    """A command of git, taken apart."""

    subcommand: str = ""
    words: tuple[str, ...] = ()
    """What follows the subcommand."""
    is_elsewhere: bool = False
    """Another repository is meant."""
    is_known: bool = True
    """All that stands before the subcommand is understood, and does not decide what is shown."""


def take_apart(words: tuple[str, ...]) -> GitCall:
    """`words`: without git's own name."""
    at, is_elsewhere, is_known = 0, False, True
    while at < len(words) and (word := words[at]).startswith("-"):
        at += 1
        name, equals, _ = word.partition("=")
        if word in _ALONE:
            return GitCall(subcommand="help")
        if name in _ELSEWHERE:
            is_elsewhere, at = True, at + (not equals)
        elif word == "-c":
            is_known = is_known and words[at : at + 1] != () and words[at].lower().startswith(_HARMLESS_SETTINGS)
            at += 1
        elif word not in _GLOBAL:
            is_known = False
            at += name == "--config-env" and not equals
    return GitCall(
        subcommand=words[at] if at < len(words) else "help",
        words=words[at + 1 :],
        is_elsewhere=is_elsewhere,
        is_known=is_known,
    )


def is_silent(call: GitCall) -> bool:
    """It shows no line of a file, whatever the repository holds. A word that may be anything begins with `UNKNOWN`."""
    name, words = call.subcommand, call.words
    if not call.is_known:
        return False
    if name in SILENT_SUBCOMMANDS:
        return True
    if name == "clone":
        return _comes_from_afar(words)
    first = words[0] if words and not words[0].startswith("-") else ""
    if name == "stash" and first in {"list", "show"}:
        name, words = f"stash {first}", words[1:]
    elif name in FIRST_WORDS and first not in FIRST_WORDS[name]:
        return False
    table = SILENT_TABLES.get(name)
    if table is None or name == "blame":
        return False
    forbidden = _PATCH if name in LOGS | DIFFS else _VERBOSE if name == "status" else frozenset[str]()
    options = _read_options(table, words, forbidden)
    if options is None:
        return False
    match name:
        case "cat-file":
            return not _ABOUT_OBJECTS.isdisjoint(options)
        case "grep":
            return not options.isdisjoint({"--quiet", "-q", "--name-only"})
        case "tag" | "for-each-ref":
            return not any("raw" in word for word in words)
        case _:
            return name not in DIFFS or not _NAMES.isdisjoint(options)


def keeps_to_paths(call: GitCall) -> bool:
    """It shows nothing but the files that it is given, if it is given some."""
    name = call.subcommand
    table = _find_table(name) if call.is_known else None
    if table is None:
        return False
    # Of blame, `-L` says which lines of the file.
    forbidden = _LEAVES_PATHS - {"-L"} if name in {"blame", "annotate"} else _LEAVES_PATHS
    return _read_options(table, call.words, forbidden) is not None


def _find_table(name: str) -> Table | None:
    """The options with which it may keep to paths."""
    if name not in _KEEP_TO_PATHS | _ADD_PATCH:
        return None
    table = SILENT_TABLES["blame" if name == "annotate" else name]
    if name in _ADD_PATCH:
        table = msgspec.structs.replace(table, short=f"{table.short}p", long=f"{table.long} patch")
    if name == "commit":
        table = msgspec.structs.replace(table, short=f"{table.short}v", long=f"{table.long} verbose")
    return table


def find_awaited(call: GitCall) -> frozenset[int]:
    """Which of its words may be values of the options before them: `--grep README.md` names no file."""
    table = _find_table(call.subcommand)
    options = {} if table is None else table.options
    found: set[int] = set()
    left = 0
    for at, word in enumerate(call.words):
        if left:
            found.add(at)
            left -= 1
        elif word.startswith("-") and word != "-" and "=" not in word:
            name = word if word.startswith("--") else f"-{word[-1]}"
            left = _IN_NEXT.get(options.get(name, Arity.NONE), 0)
    return frozenset(found)


def find_opened(call: GitCall) -> tuple[str, ...]:
    """Words, and values of options, that may be files which git opens by name, and shows or keeps."""
    options = OptionNames(letters=_OPENING_LETTERS.get(call.subcommand, ""), names=_OPENING_NAMES)
    if call.subcommand not in _OPENERS and not has_option(call.words, options):
        return ()
    return (*call.words, *find_values(call.words, options))


def is_known_command(subcommand: str) -> bool:
    """Not an alias, nor a program that somebody has added."""
    return (
        subcommand in SILENT_SUBCOMMANDS
        or subcommand in SILENT_TABLES
        or subcommand in _OPENERS
        or subcommand in _OTHERS
    )


_OTHERS = frozenset({
    "annotate", "archive", "archimport", "bugreport", "checkout-index", "cherry", "citool", "clone", "commit-graph", "commit-tree",
    "credential", "credential-cache", "cvsexportcommit", "cvsimport", "cvsserver", "daemon", "diagnose", "difftool", "fast-export", "fetch-pack",
    "filter-branch", "fmt-merge-msg", "for-each-repo", "format-patch", "gitk", "gui", "http-backend", "http-fetch", "instaweb", "merge-index",
    "merge-one-file", "merge-tree", "mergetool", "multi-pack-index", "p4", "pack-objects", "pack-redundant", "prune-packed", "range-diff",
    "read-tree", "receive-pack", "replace", "request-pull", "rerere", "scalar", "send-pack", "shell", "show-index", "subtree", "svn",
    "unpack-file", "update-server-info", "upload-archive", "upload-pack", "verify-commit", "verify-tag", "backfill", "hook", "refs", "replay",
})  # fmt: skip


def _read_options(table: Table, words: tuple[str, ...], forbidden: frozenset[str]) -> frozenset[str] | None:
    """The options by their names; None where a word may be one that is not in the table, or is forbidden."""
    found: set[str] = set()
    options = table.options
    takes_value = False
    for word in words:
        if word == "--" and takes_value:
            # To `grep -e` it is a pattern, and to `log -S` the end of the options.
            return None
        if word == "--":
            break
        was_awaited, takes_value = takes_value, False
        if was_awaited and not word.startswith(("-", SEVERAL)):
            continue
        if _may_be_option(word):
            return None
        if not word.startswith("-") or word == "-":
            continue
        read = _read_word(options, word)
        if read is None or not forbidden.isdisjoint(read):
            return None
        found.update(read)
        takes_value = "=" not in word and _awaits(options, word, read)
    return frozenset(found)


def _may_be_option(word: str) -> bool:
    if word.startswith(UNKNOWN):
        return True
    return word.startswith(("*", "?", "[")) and any(fnmatchcase(option, word) for option in _COMMON_OPTIONS)


def _read_word(options: Mapping[str, Arity], word: str) -> list[str] | None:
    if word.startswith("--"):
        name, equals, _ = word.partition("=")
        # Some versions take the next word for the value of such an option.
        is_bare = not equals and options.get(name) is Arity.WRITTEN
        return [name] if name in options and not is_bare else None
    if word[1:].isdecimal():
        return ["-#"]
    read: list[str] = []
    for letter in word[1:]:
        name = f"-{letter}"
        if name not in options:
            return None
        read.append(name)
        if options[name] is not Arity.NONE:
            break
    return read


def _awaits(options: Mapping[str, Arity], word: str, read: list[str]) -> bool:
    """The next word is its value, beyond doubt."""
    last = read[-1]
    is_joined = not word.startswith("--") and not word.endswith(last[1])
    return options.get(last) is Arity.NEEDED and not is_joined


def _comes_from_afar(words: tuple[str, ...]) -> bool:
    """What is cloned lies on another machine: `https://a/b`, `git@a:b`."""
    operands = [word for word in words if not word.startswith("-")]
    sources = [word for word in operands if "://" in word or ":" in word.partition("/")[0]]
    return sources[:1] == operands[:1] != [] and not any(word.startswith((UNKNOWN, "file:")) for word in operands)

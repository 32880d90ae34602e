"""`find`: its tests read, its actions may write or run anything."""

import msgspec

from everturn.permissions.shell.reading.syntax import Word

TESTS = frozenset({
    "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-regextype", "-type",
    "-xtype", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-newermt",
    "-newerct", "-newerat", "-user", "-group", "-uid", "-gid", "-perm", "-links", "-inum", "-lname", "-ilname", "-fstype",
    "-used", "-printf",
})  # fmt: skip
"""Each takes one word."""
FILE_TESTS = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})
"""Each takes the name of a file."""
SIMPLE = frozenset({
    "-print", "-print0", "-ls", "-o", "-a", "-not", "-and", "-or", "-prune", "-empty", "-true", "-false", "-readable",
    "-writable", "-executable", "-depth", "-d", "-xdev", "-mount", "-follow", "-daystart", "-noleaf", "-nouser",
    "-nogroup", "-quit", "-L", "-H", "-P", "!", "(", ")", ",",
})  # fmt: skip
_ACTIONS = frozenset({
    "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls",
})  # fmt: skip
FOUND = "{}"
"""What stands for a file that was found."""


class FindWords(msgspec.Struct, frozen=True):
    starts: tuple[Word, ...]
    """Folders that it begins in, and files that its tests look at."""
    runs: tuple[tuple[Word, ...], ...] = ()
    """Commands behind `-exec`, with `{}` as a word of its own."""


def parse_find(words: tuple[Word, ...]) -> FindWords | None:
    """None when it does more than look and run commands on what it finds."""
    starts: list[Word] = []
    runs: list[tuple[Word, ...]] = []
    at = 1
    while at < len(words):
        text = words[at].fixed
        at += 1
        if text is None:
            return None
        if text in TESTS or text in FILE_TESTS:
            if at >= len(words) or words[at].fixed is None:
                return None
            if text in FILE_TESTS:
                starts.append(words[at])
            at += 1
        elif text == "-exec":
            run = _command_at(words, at)
            if run is None:
                return None
            runs.append(run)
            at += len(run) + 1
        elif text not in SIMPLE:
            # What is found begins like its start: with `@`, for some programs, it stands for words in a file.
            if text.startswith(("-", "@")):
                return None
            starts.append(words[at - 1])
    return FindWords(tuple(starts), tuple(runs))


def _command_at(words: tuple[Word, ...], at: int) -> tuple[Word, ...] | None:
    """Up to `;`, or to a `+` behind `{}`. Within another word, `{}` would make a word that nobody has seen."""
    run: list[Word] = []
    for word in words[at:]:
        text = word.fixed
        if text is None or (FOUND in text and text != FOUND):
            return None
        if text == ";" or (text == "+" and run and run[-1].fixed == FOUND):
            return tuple(run) if run else None
        run.append(word)
    return None


def may_act(words: tuple[Word, ...]) -> bool:
    """It runs, deletes or writes something, or words that are not known could make it."""
    return any(_is_open(word) or word.template in _ACTIONS for word in words[1:])


def _is_open(word: Word) -> bool:
    """It may become an option: of a glob, any file may be called so."""
    return word.value is None or word.brace or (word.glob and word.raw[0] in "*?[-")

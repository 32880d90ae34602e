"""`find`: its tests read, its actions may write or run anything."""

from everturn.permissions.shell.syntax import Word

_TESTS = frozenset({
    "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-regextype", "-type",
    "-xtype", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-newer",
    "-newermt", "-newerct", "-newerat", "-anewer", "-cnewer", "-user", "-group", "-uid", "-gid", "-perm", "-links",
    "-inum", "-samefile", "-lname", "-ilname", "-fstype", "-used", "-printf",
})  # fmt: skip
"""Each takes one word."""
_WITHOUT = frozenset({
    "-print", "-print0", "-ls", "-o", "-a", "-not", "-and", "-or", "-prune", "-empty", "-true", "-false", "-readable",
    "-writable", "-executable", "-depth", "-d", "-xdev", "-mount", "-follow", "-daystart", "-noleaf", "-nouser",
    "-nogroup", "-quit", "-L", "-H", "-P", "!", "(", ")", ",",
})  # fmt: skip
_ACTIONS = frozenset({
    "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls",
})  # fmt: skip


def find_starts(words: tuple[Word, ...]) -> tuple[Word, ...] | None:
    """The folders it begins in, when it only reads; else None."""
    starts: list[Word] = []
    at = 1
    while at < len(words):
        text = words[at].fixed
        if text is None:
            return None
        at += 1
        if text in _TESTS:
            if at >= len(words) or words[at].fixed is None:
                return None
            at += 1
        elif text not in _WITHOUT:
            if text.startswith("-"):
                return None
            starts.append(words[at - 1])
    return tuple(starts)


def may_act(words: tuple[Word, ...]) -> bool:
    """It runs, deletes or writes something, or words that are not known could make it."""
    return any(_is_open(word) or word.template in _ACTIONS for word in words[1:])


def _is_open(word: Word) -> bool:
    """It may become an option: of a glob, any file may be called so."""
    return word.value is None or word.brace or (word.glob and word.raw[0] in "*?[-")

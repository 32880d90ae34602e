"""Tells whether a command only reads, and if so, which files."""

import re

import msgspec

from everturn.permissions.shell.folders import find_cd_target
from everturn.permissions.shell.readonly.find import find_starts
from everturn.permissions.shell.readonly.git import find_git_paths
from everturn.permissions.shell.readonly.options import Operands, Parsed, Table, parse_options
from everturn.permissions.shell.readonly.sed import split_sed
from everturn.permissions.shell.readonly.tables import TABLES
from everturn.permissions.shell.syntax import LOOKS, Word

_BINARY = frozenset({
    "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef",
})  # fmt: skip
_ASSIGNS = re.compile(r"%[^A-Za-z%]*[hjlLtz]*n")
"""`%n` of printf assigns to a name, and a name can hold code."""
_ANY_GLOB = re.compile(r"[*?\[]")


class Reads(msgspec.Struct, frozen=True):
    """A command that changes nothing."""

    paths: tuple[str, ...] = ()
    """All of these it opens, or lists."""
    recursive: bool = False
    varies: bool = False
    """Globs are among them: they may become any file of their folder."""
    of_git: bool = False
    """The paths are relative to what git says; the files themselves may not even exist."""


def judge_reading(words: tuple[Word, ...], home: str) -> Reads | None:
    """None when it may do more than read."""
    name = words[0].raw
    match name:
        case "echo":
            return Reads()
        case "printf":
            return Reads() if _prints(words) else None
        case "test" | "[":
            return Reads() if _tests(words) else None
        case "[[":
            # The walk lets no other form pass than those that evaluate nothing.
            return Reads()
        case "xargs":
            # Without a command it says what it reads.
            return Reads() if len(words) == 1 else None
        case "cd":
            target = find_cd_target(words, home)
            return None if target is None else Reads((target,))
        case "command":
            return Reads() if len(words) > 1 and words[1].raw in {"-v", "-V"} else None
        case "find":
            starts = find_starts(words)
            return None if starts is None else _files(starts, recursive=False)
        case "git":
            shown = find_git_paths(words)
            return None if shown is None else Reads(shown, of_git=True)
        case "sed":
            split = split_sed(words)
            return None if split is None or split[0] else _files(split[1], recursive=False)
        case "date":
            return Reads() if _tells_time(words) else None
        case _:
            return _by_table(words)


def _by_table(words: tuple[Word, ...]) -> Reads | None:
    table = TABLES.get(words[0].raw)
    parsed = None if table is None else parse_options(table, words)
    if table is None or parsed is None or (table.most is not None and len(parsed.operands) > table.most):
        return None
    match table.operands:
        case Operands.NONE:
            return None if parsed.operands else Reads()
        case Operands.TEXT:
            return Reads()
        case Operands.FILES:
            return _files(parsed.operands, recursive=_is_recursive(table, parsed))
        case Operands.PATTERN:
            return _behind_pattern(table, parsed)


def _behind_pattern(table: Table, parsed: Parsed) -> Reads | None:
    given = {"e", "regexp", "files", "type-list"} & set(parsed.options)
    operands = parsed.operands if given else parsed.operands[1:]
    if not given and (not parsed.operands or parsed.operands[0].fixed is None):
        return None
    recursive = _is_recursive(table, parsed)
    if recursive and not operands:
        return Reads((".",), recursive=True)
    return _files(operands, recursive=recursive)


def _is_recursive(table: Table, parsed: Parsed) -> bool:
    return table.recursive == "*" or any(each in table.recursive or "recursive" in each for each in parsed.options)


def _files(words: tuple[Word, ...], *, recursive: bool) -> Reads:
    """Of a glob, the folder that it looks through."""
    paths: list[str] = []
    for word in words:
        if word.value == "-":
            continue
        paths.append(_folder_of(word.value or "") if word.glob else word.value or "")
    return Reads(tuple(paths), recursive=recursive, varies=any(word.glob for word in words))


def _folder_of(glob: str) -> str:
    fixed = glob[: match.start()] if (match := _ANY_GLOB.search(glob)) else glob
    folder = fixed.rpartition("/")[0]
    return folder or ("/" if fixed.startswith("/") else ".")


def _prints(words: tuple[Word, ...]) -> bool:
    if len(words) < len(("printf", "format")):
        return False
    form = words[1].fixed
    return form is not None and not form.startswith("-") and not _ASSIGNS.search(form)


def _tests(words: tuple[Word, ...]) -> bool:
    """Only forms whose operator is certain: `-v` evaluates subscripts, and an unknown word could be it."""
    inner = words[1:]
    if words[0].raw == "[":
        if not inner or inner[-1].raw != "]":
            return False
        inner = inner[:-1]
    if inner and inner[0].raw == "!":
        inner = inner[1:]
    if not all(word.fixed is not None or (word.raw[:1] == word.raw[-1:] == '"' and not word.glob) for word in inner):
        return False
    match inner:
        case [operator, _]:
            return operator.raw in LOOKS
        case [_, operator, _]:
            return operator.raw in _BINARY
        case _:
            return False


def _tells_time(words: tuple[Word, ...]) -> bool:
    parsed = parse_options(_DATE, words)
    return parsed is not None and all((word.value or "").startswith("+") for word in parsed.operands)


_DATE = Table(
    flags="uRI", valued="d", globs=False, long=frozenset({"iso-8601", "rfc-3339", "rfc-email", "utc", "date"}),
    operands=Operands.FILES,
)  # fmt: skip

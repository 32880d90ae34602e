"""Tells whether a command only reads, and if so, which files."""

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.folders import find_cd_target
from everturn.permissions.shell.reading.syntax import LOOKS, Word
from everturn.permissions.shell.readonly.options import Globs, Operands, Parsed, Table, parse_options
from everturn.permissions.shell.readonly.tables import TABLES
from everturn.permissions.shell.readonly.versions import tells_version

_BINARY = frozenset({
    "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef",
})  # fmt: skip
_ASSIGNS = compile_late(r"%[^A-Za-z%]*[hjlLtz]*n")
"""`%n` of printf assigns to a name, and a name can hold code."""
_CAUTIOUS = compile_late(r"(?:[-+](?:[eu]+|[eu]*o (?:pipefail|errexit|nounset))(?: |$))+")
_ANY_GLOB = compile_late(r"[*?\[]")


class Reads(msgspec.Struct, frozen=True):
    """A command that changes nothing."""

    paths: tuple[str, ...] = ()
    """Every file and folder that its words name, to be judged; of git, also revisions, which look like files that do not exist."""
    recursive: bool = False
    """It reads whole folders of these."""
    varies: bool = False
    """Globs are among them, or names that come from elsewhere: they may become any file of their folder."""
    of_git: bool = False
    """What the repository's configuration names may run, and files of the whole repository may be shown, whatever `paths` says."""
    content: bool = False
    """Of git: it shows lines of files, old ones too, and not only names, hashes and messages."""
    reaches: bool = False
    """Of git: it opens files by name, or its words may stand for any file of the repository."""


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
        case "set":
            return Reads() if _sets_caution(words) else None
        case "command":
            return Reads() if len(words) > 1 and words[1].raw in {"-v", "-V"} else None
        case "find":
            return _finds(words, home)
        case "git":
            from everturn.permissions.shell.readonly.git import judge_git

            shown = judge_git(words)
            if shown is None:
                return None
            return Reads(
                shown.paths, recursive=shown.recursive, of_git=True, content=shown.content, reaches=shown.reaches
            )
        case "sed":
            from everturn.permissions.shell.readonly.sed import split_sed

            split = split_sed(words)
            return None if split is None or split[0] else _files(split[1], recursive=False)
        case "awk":
            from everturn.permissions.shell.readonly.awk import find_awk_files

            files = find_awk_files(words)
            return _version(words) if files is None else _files(files, recursive=False)
        case "date":
            return _tells_time(words)
        case _:
            return _by_table(words) or _version(words)


def _version(words: tuple[Word, ...]) -> Reads | None:
    return Reads() if tells_version(words) else None


def _finds(words: tuple[Word, ...], home: str) -> Reads | None:
    """What `-exec` runs must read, too. Names of found files begin with that of a start: they are no options."""
    from everturn.permissions.shell.readonly.find import FOUND, parse_find

    found = parse_find(words)
    if found is None:
        return None
    reads = _files(found.starts, recursive=bool(found.runs))
    named: list[str] = list(reads.paths) if found.starts or not found.runs else ["."]
    for run in found.runs:
        on_found = None
        if run[0].plain and run[0].raw in READERS_OF_PATHS:
            on_found = judge_reading(tuple(_A_PATH if word.fixed == FOUND else word for word in run), home)
        if on_found is None:
            return None
        named.extend(path for path in on_found.paths if path != _A_PATH.raw)
    return Reads(tuple(named), recursive=reads.recursive, varies=bool(found.runs))


READERS_OF_PATHS = frozenset({
    "cat", "head", "tail", "wc", "nl", "grep", "egrep", "fgrep", "ls", "stat", "du", "file", "md5sum", "sha1sum", "sha256sum", "sha512sum",
    "cksum", "echo", "basename", "dirname", "realpath", "readlink", "sed", "sort", "cut", "od", "hexdump", "strings",
})  # fmt: skip
"""Readers that take any number of files, of which they write none."""
_A_PATH = Word(raw="./_", value="./_", template="./_")
"""In the place of `{}`: where a script should stand, it is none."""


def only_lists(words: tuple[Word, ...], reads: Reads) -> bool:
    """It tells names, sizes and times of what it is given, and shows nothing of any file."""
    return words[0].raw in _LISTERS and not (reads.recursive or reads.of_git)


_LISTERS = frozenset({"ls", "stat", "du", "tree", "find", "realpath", "readlink"})


def _by_table(words: tuple[Word, ...]) -> Reads | None:
    table = TABLES.get(words[0].raw)
    parsed = None if table is None else parse_options(table, words)
    if table is None or parsed is None or (table.most is not None and len(parsed.operands) > table.most):
        return None
    if words[0].raw == "jq":
        from everturn.permissions.shell.readonly.jq import is_plain_program

        if not is_plain_program(parsed.operands[0].fixed or "" if parsed.operands else ""):
            return None
    match table.operands:
        case Operands.NONE:
            return None if parsed.operands else Reads()
        case Operands.TEXT:
            return Reads()
        case Operands.FILES:
            return _files(parsed.named + parsed.operands, recursive=_is_recursive(table, parsed))
        case Operands.PATTERN:
            return _behind_pattern(table, parsed)


def _behind_pattern(table: Table, parsed: Parsed) -> Reads | None:
    files = parsed.operands
    if not parsed.has(table.patterns):
        if not files or files[0].fixed is None:
            return None
        files = files[1:]
    recursive = _is_recursive(table, parsed)
    reads = _files(parsed.named + files, recursive=recursive)
    return msgspec.structs.replace(reads, paths=(*reads.paths, ".")) if recursive and not files else reads


def _is_recursive(table: Table, parsed: Parsed) -> bool:
    return "*" in table.recursive or parsed.has(table.recursive)


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


def _sets_caution(words: tuple[Word, ...]) -> bool:
    """`set -euo pipefail`: a failure, or a variable that is not set, ends the line. Less of it runs, and nothing else."""
    texts = [word.fixed for word in words[1:] if word.fixed]
    return len(texts) == len(words) - 1 and _CAUTIOUS.fullmatch(" ".join(texts)) is not None


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


def _tells_time(words: tuple[Word, ...]) -> Reads | None:
    """Another operand than a format would set the clock."""
    parsed = parse_options(DATE, words)
    if parsed is None or not all((word.value or "").startswith("+") for word in parsed.operands):
        return None
    return _files(parsed.named, recursive=False)


DATE = Table(
    short="uRI::d:r:",
    long="date: help iso-8601:: reference: rfc-3339= rfc-email utc universal version",
    paths=frozenset({"-r", "--reference"}),
    globs=Globs.NEVER,
)
"""Without `-s`, and without `-f`: dates from a file."""

"""What a word of a command that is not a fixed text may become: some texts, files of folders, or anything."""

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from posixpath import join

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.evaluation import Reader, expand_braces
from everturn.permissions.shell.reading.syntax import UNKNOWN, Command, Expansion, Here, Word
from everturn.permissions.shell.reading.words import read_word
from everturn.permissions.shell.running.survey import Candidate

_FOUND = "{}"
"""What `find -exec` puts a name in the place of."""
_WIDENING = frozenset({"-o", "-or", "!", "-not", ",", "-L", "-H", "-follow", "-printf", "-fprintf", "-files0-from"})
"""With one of them `find` names more than it is easy to tell."""
_FILTERS = frozenset({"grep", "egrep", "fgrep", "head", "tail", "sort", "uniq"})
_GLOB = compile_late(r"[*?\[]")
_BRACES = compile_late(r"[{}]")
_MAX_ENTRIES = 5_000
"""Names that are looked at to see what a glob becomes."""
_MAX_FOUND = 100


class Globbing(msgspec.Struct, frozen=True, kw_only=True):
    """How a glob becomes names."""

    most: int = _MAX_FOUND
    """With more matches it may become anything."""
    dots: bool = True
    """A star stands for a dot in front, too: an option of the shell decides about that."""


_WIDE = Globbing()


class WordFiles(msgspec.Struct, frozen=True, kw_only=True):
    """All that one word may become."""

    texts: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """The name of any file below these."""
    like: str = "*"
    """Of these files, the names are like this."""
    ends: str | None = None
    """Anything that ends with this; None where it becomes nothing but what the other fields say."""


def open_word(
    template: str, candidate: Candidate, home: str, listed: WordFiles | None = None, globbing: Globbing = _WIDE
) -> WordFiles:
    """`listed`: the files that what it reads, or finds itself, may name. With `candidate.here` None a glob may become anything."""
    if _FOUND in template and candidate.argv[0] != "find":
        return listed or WordFiles(ends=template.rpartition(_FOUND)[2])
    if template == UNKNOWN and listed is not None:
        return listed
    words = find_words(template, candidate)
    if not words:
        return _open_template(template, candidate.here, globbing)
    reader = Reader(candidate.source.scope, candidate.here, home) if candidate.source is not None else None
    pieces = [piece for word in words for piece in expand_braces(word)]
    return _unite([_open_word(piece, reader, candidate.here, globbing) for piece in pieces])


def find_listed(candidate: Candidate, pipes: tuple[tuple[Command, ...], ...]) -> WordFiles | None:
    """What `find` names to the command: behind its `-exec`, or through a pipe to `xargs`. None where that is not plain."""
    source = candidate.source
    if source is None:
        return None
    stages = next((pipe[: pipe.index(source)] for pipe in pipes if source in pipe), ())
    if source.words[0].raw == "find":
        lister = source
    elif source.words[0].raw == "xargs" and stages and all(each.words[0].raw in _FILTERS for each in stages[1:]):
        lister = stages[0]
    else:
        return None
    words = [word.fixed for word in lister.words]
    if words[0] != "find" or None in words or not _WIDENING.isdisjoint(words):
        return None
    known = [word or "" for word in words[1:]]
    starts = known[: next((at for at, word in enumerate(known) if word.startswith(("-", "("))), len(known))]
    names = [known[at + 1] for at, word in enumerate(known[:-1]) if word in {"-name", "-iname"}]
    return WordFiles(folders=tuple(starts) or (".",), like=names[0] if len(names) == 1 else "*")


def find_words(template: str, candidate: Candidate) -> tuple[Word, ...]:
    """All that look the same once a mark stands for each expansion: `"$f" "$Y"`."""
    words = candidate.source.words if candidate.source is not None else ()
    return tuple(word for word in words if word.template == template)


def _open_template(template: str, here: Here, globbing: Globbing) -> WordFiles:
    if UNKNOWN in template:
        return WordFiles(ends=template.rpartition(UNKNOWN)[2])
    if _BRACES.search(template) and "," in template:
        pieces = expand_braces(read_word(template)) if template.isascii() else ()
        if len(pieces) > 1:
            return _unite([_open_template(piece.value or "", here, globbing) for piece in pieces])
        return WordFiles(ends=re.split(r"[{},]", template)[-1])
    return WordFiles(texts=(template,)) if not _GLOB.search(template) else _open_glob(template, here, globbing)


def _open_word(word: Word, reader: Reader | None, here: Here, globbing: Globbing) -> WordFiles:
    if not word.parts:
        if word.brace:
            return WordFiles(ends=re.split(r"[{},]", word.template)[-1])
        return _open_glob(word.value or "", here, globbing) if word.glob else WordFiles(texts=(word.template,))
    if all(isinstance(part, Expansion) and part.is_pipe for part in word.parts):
        # What feeds the pipe is a command by itself.
        return WordFiles()
    tail = WordFiles(ends=_GLOB.split(word.template.rpartition(UNKNOWN)[2])[-1])
    if reader is None or word.glob or word.brace or word.tilde:
        return WordFiles(texts=(word.template,)) if word.tilde and UNKNOWN not in word.template else tail
    value = reader.evaluate(word)
    if value.anything:
        return tail if UNKNOWN in word.template else WordFiles(texts=(word.template,))
    is_whole = all(isinstance(part, str) or part.quoted for part in word.parts)
    texts = [piece for text in value.texts for piece in ([text] if is_whole else text.split())]
    found = [
        _open_glob(text, here, globbing) if _GLOB.search(text) and not is_whole else WordFiles(texts=(text,))
        for text in texts
    ]
    return _unite([*found, WordFiles(folders=tuple(sorted(value.folders)))])


def _unite(found: list[WordFiles]) -> WordFiles:
    ends = [each.ends for each in found if each.ends is not None]
    return WordFiles(
        texts=tuple(dict.fromkeys(text for each in found for text in each.texts)),
        folders=tuple(dict.fromkeys(folder for each in found for folder in each.folders)),
        like=found[0].like if len(found) == 1 else "*",
        ends=None if not ends else ends[0] if len(set(ends)) == 1 else "",
    )


def _open_glob(pattern: str, here: Here, globbing: Globbing) -> WordFiles:
    """The files that it becomes now."""
    if here is None and not pattern.startswith("/"):
        return WordFiles(ends=_GLOB.split(pattern)[-1].rpartition("]")[2])
    found: dict[str, None] = {pattern: None}
    for folder in here or ("/",):
        for path in _expand(folder, pattern, dots=globbing.dots):
            if path is None or len(found) > globbing.most:
                return WordFiles(ends=_GLOB.split(pattern)[-1].rpartition("]")[2])
            found[path] = None
    return WordFiles(texts=tuple(found))


def _expand(folder: str, pattern: str, *, dots: bool) -> Iterator[str | None]:
    """None at last where there is too much to look at."""
    left = _MAX_ENTRIES
    level = ["/" if pattern.startswith("/") else folder]
    for part in filter(None, pattern.split("/")):
        if not _GLOB.search(part) or part == "..":
            level = [path for each in level if os.path.lexists(path := join(each, part))]
            continue
        below: list[str] = []
        for each in level:
            try:
                names = os.listdir(each)  # noqa: PTH208 - names are all we need
            except OSError:
                continue
            left -= len(names)
            if left < 0 or "**" in part:
                yield None
                return
            shown = names if dots or part.startswith(".") else [name for name in names if not name.startswith(".")]
            below += [join(each, name) for name in shown if fits(name, part)]
        level = below
    yield from level


def fits(name: str, part: str) -> bool:
    """As bash matches, and wider: case is not looked at, sets that fnmatch reads otherwise stand for any character."""
    wide = re.sub(r"\[(?:\[[:.=][^]]*[:.=]\]|[^]])*\]", "?", part) if "[[" in part or "[^" in part else part
    return fnmatchcase(name.lower(), wide.lower())

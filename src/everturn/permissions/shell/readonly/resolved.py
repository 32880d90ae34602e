"""Whether a confined command only reads, whatever its variables, globs and substitutions become."""

import os
import re
from itertools import product
from math import prod
from posixpath import join

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.evaluation import Reader, expand_braces, made, of_glob
from everturn.permissions.shell.reading.syntax import Expansion, Here, Word
from everturn.permissions.shell.reading.values import Value
from everturn.permissions.shell.readonly.judge import Reads, judge_reading
from everturn.permissions.shell.readonly.tables import TABLES

_SAFE = frozenset({
    "[", "basename", "cat", "cksum", "cmp", "comm", "cut", "dirname", "du", "echo", "expand", "fold", "grep", "head", "ls",
    "md5sum", "nl", "od", "paste", "printf", "readlink", "realpath", "rev", "sha1sum", "sha256sum", "sha512sum", "stat",
    "tac", "tail", "test", "wc",
})  # fmt: skip
"""Whatever a file's name is, and be it that of an option: they only read."""
_NO_PIPES = frozenset({"find", "git", "cd"})
"""They do not read from the name of a pipe."""
_SWITCHES = compile_late(
    r"-[0-9]+|-[nEruRLlciwpsv]|--[a-z-]+=.*|--(?:oneline|stat|name-only|name-status|follow|cached|staged|patch|no-patch|numstat|shortstat)"
)
"""Options without a value: `--` behind them ends the options."""
_MAX_WAYS = 48
_MAX_ENTRIES = 5_000
_FILE = "_"
_OPENS = ("-", "(", ")", "!", ",", "@")
"""With these begins what is no file to some program."""


class _Way(msgspec.Struct, frozen=True):
    """What one word may become."""

    words: tuple[Word, ...]
    loose: bool = False
    """One of them may be called like an option."""
    varies: bool = False
    """A file's name stands there that is not known."""


def judge_resolved(words: tuple[Word, ...], reader: Reader) -> Reads | None:
    """As `judge_reading`, over all that the words may become. None when one of these may do more than read."""
    for globs in (False, True):
        reads = _judge_ways(words, [_find_ways(word, reader, globs=globs) for word in words[1:]], reader.home)
        if reads is not None:
            return reads
    return None


def _judge_ways(words: tuple[Word, ...], ways: list[list[_Way]], home: str) -> Reads | None:
    if not 0 < prod(map(len, ways)) <= _MAX_WAYS:
        return None
    found: list[Reads] = []
    for chosen in product(*ways):
        if words[0].raw not in _SAFE and _may_be_option(chosen, ends=not _responds(words[0])):
            return None
        reads = judge_reading((words[0], *(word for way in chosen for word in way.words)), home)
        if reads is None:
            return None
        varies = reads.varies or any(way.varies for way in chosen)
        found.append(msgspec.structs.replace(reads, varies=varies))
    if words[0].raw in _NO_PIPES and any(_is_pipe(word) for word in words):
        return None
    return _unite(found)


def _unite(found: list[Reads]) -> Reads:
    """What one of them does, all may do."""
    paths = tuple(dict.fromkeys(path for each in found for path in each.paths))
    flags = [name for name in Reads.__struct_fields__ if name != "paths"]
    return Reads(paths, **{name: any(getattr(each, name) for each in found) for name in flags})


def _responds(name: Word) -> bool:
    return name.raw in TABLES and TABLES[name.raw].responds


def _may_be_option(chosen: tuple[_Way, ...], *, ends: bool) -> bool:
    """Behind `--` nothing is one, where that `ends` them: `@file` stands for words in that file anywhere."""
    texts = [way.words[0].fixed if len(way.words) == 1 else None for way in chosen]
    for at, way in enumerate(chosen):
        if (
            ends
            and texts[at] == "--"
            and (at == 0 or not (texts[at - 1] or "-").startswith("-") or _SWITCHES.fullmatch(texts[at - 1] or ""))
        ):
            return False
        if way.loose:
            return True
    return False


def _is_pipe(word: Word) -> bool:
    return any(isinstance(part, Expansion) and part.is_pipe for part in word.parts)


def _find_ways(word: Word, reader: Reader, *, globs: bool) -> list[_Way]:
    if not (word.parts or word.brace or word.glob):
        return [_Way((word,))]
    pieces = expand_braces(word)
    if pieces != (word,):
        return _join([_find_ways(piece, reader, globs=globs) for piece in pieces], word)
    ways = [_Way((word,))] if word.brace or not word.parts else _spell(word, reader)
    return [each for way in ways for each in (_open_globs(way, reader.here) if globs else [way])]


def _join(found: list[list[_Way]], word: Word) -> list[_Way]:
    """One after the other, in one command."""
    if any(len(each) > 3 for each in found) or len(found) > _MAX_WAYS:  # noqa: PLR2004
        return [_Way((word,))]
    # Either all of them become one word, or all become more: which of both makes no other command.
    return [
        _Way(
            tuple(made for each in found for made in each[min(at, len(each) - 1)].words),
            loose=any(way.loose for each in found for way in each),
            varies=any(way.varies for each in found for way in each),
        )
        for at in range(max(map(len, found)))
    ]


def _open_globs(way: _Way, here: Here) -> list[_Way]:
    """A glob becomes one file or several, or stays as it is where it fits none: no file must be taken for an option."""
    if not any(word.glob for word in way.words):
        return [way]
    if len(way.words) != 1 or way.words[0].brace or (value := of_glob(way.words[0])).anything:
        return [way]
    folder = next(iter(value.folders))
    loose = bool(value.names) and not _is_clean(folder, here)
    file = made(f"{folder}/{_FILE}")
    literal = made(way.words[0].value or "")
    return [_Way((literal,)), _Way((file,), loose, varies=True), _Way((file, file), loose, varies=True)]


def _is_clean(folder: str, here: Here) -> bool:
    """No name in it begins like an option."""
    if here is None:
        return False
    for place in here:
        try:
            with os.scandir(join(place, folder)) as entries:
                for count, entry in enumerate(entries):
                    if entry.name.startswith(_OPENS) or count > _MAX_ENTRIES:
                        return False
        except FileNotFoundError:
            continue
        except OSError:
            return False
    return True


def _spell(word: Word, reader: Reader) -> list[_Way]:
    """The word with every value that its expansions may have; as it is, where one of them may be anything."""
    choices: list[list[_Piece]] = []
    for part in word.parts:
        found = [_Piece(part, quoted=True)] if isinstance(part, str) else _list_pieces(part, reader)
        if not found:
            return [_Way((word,))]
        choices.append(found)
    ways: dict[_Way, None] = {}
    for number, pieces in enumerate(product(*choices)):
        if number >= _MAX_WAYS:
            return [_Way((word,))]
        ways[_put_together(pieces, glob=word.glob)] = None
    return list(ways)


class _Piece(msgspec.Struct, frozen=True):
    text: str
    quoted: bool
    file: str = ""
    """`below` or `names`, as in `Value`."""


def _list_pieces(expansion: Expansion, reader: Reader) -> list["_Piece"]:
    """Empty where it may become anything."""
    if expansion.is_pipe:
        return [_Piece("-", quoted=True)]
    value = reader.find(expansion)
    if value.anything or any(len(folder.split()) != 1 for folder in value.folders):
        return []
    pieces = [_Piece(text, expansion.quoted) for text in sorted(value.texts)]
    if value.number:
        pieces.append(_Piece("1", expansion.quoted))
    return [*pieces, *_list_files(value, quoted=expansion.quoted)]


def _list_files(value: Value, *, quoted: bool) -> list["_Piece"]:
    found: list[_Piece] = []
    for kind, folders in (("below", value.below), ("names", value.names)):
        for folder in sorted(folders):
            file = f"{folder}/{_FILE}"
            found.append(_Piece(file, quoted, kind))
            if not quoted:
                found.append(_Piece(f"{file} {file}", quoted, kind))
    return found


def _put_together(pieces: tuple["_Piece", ...], *, glob: bool) -> _Way:
    fields: list[str] = []
    current: str | None = None
    loose = False
    for piece in pieces:
        if piece.file and (not piece.quoted or (piece.file == "names" and not current)):
            loose = True
        if piece.quoted:
            current = (current or "") + piece.text
            continue
        glob = glob or any(sign in piece.text for sign in "*?[")
        first, *more = re.split(r"[ \t\n]+", piece.text)
        current = (current or "") + first if first or current is not None else None
        for each in more:
            if current is not None:
                fields.append(current)
            current = each or None
    if current is not None:
        fields.append(current)
    return _Way(tuple(made(field, glob=glob) for field in fields), loose, varies=any(piece.file for piece in pieces))

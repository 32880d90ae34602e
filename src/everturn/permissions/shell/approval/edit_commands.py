"""What the mode acceptEdits approves besides edits: small commands on files inside the working folders.

On files of the session's scratch folder every mode but plan approves the same, as far as a wall for readers lets them work.
"""

import os
from fnmatch import fnmatchcase
from posixpath import join, realpath

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.judgement import FileUse
from everturn.permissions.shell.reading.evaluation import expand_braces, made
from everturn.permissions.shell.reading.syntax import Word
from everturn.permissions.shell.readonly.options import Globs, Parsed, Table, parse_options
from everturn.permissions.shell.readonly.sed import split_sed

_TABLES = {
    "mkdir": Table(short="pvm:", long="mode: parents verbose", globs=Globs.NEVER),
    "touch": Table(short="acmd:t:", long="no-create date:", globs=Globs.NEVER),
    "rm": Table(short="rRfvdiI", long="dir force recursive verbose", globs=Globs.NEVER),
    "rmdir": Table(short="pv", long="ignore-fail-on-non-empty parents verbose", globs=Globs.NEVER),
    "mv": Table(short="fnvuiT", long="force no-clobber update:: verbose", globs=Globs.NEVER),
    "tee": Table(short="ai", long="append ignore-interrupts", globs=Globs.NEVER),
    "cp": Table(short="rRapfnvuiLPdT", long="archive force no-clobber recursive verbose", globs=Globs.NEVER),
    "chmod": Table(short="cv", long="changes verbose", globs=Globs.NEVER),
}
NAMES = frozenset({*_TABLES, "sed"})
_RECURSIVE = frozenset({"-r", "-R", "-a", "--recursive", "--archive"})
_TAKING_LINKS = _RECURSIVE | {"-P", "-d"}
_SETTING_MODES: dict[str, frozenset[str]] = {
    "mkdir": frozenset({"-m", "--mode"}),
    "rm": frozenset(),
    "rmdir": frozenset(),
    "cp": frozenset({"-a", "-p", "--archive"}),
}
"""Options that set modes, owners or times, which no wall for readers lets a command do. Other commands always set some."""
_MODE = compile_late(r"[ugoa]*\+x|[ugoa]*-x|u\+[rwx]+|[67][0145][0145]")
"""Others than the owner are let write nothing, and nobody runs it with the rights of another."""
_STAR = compile_late(r"([^*]*/)?([^/]*\*[^/]*)")
"""Stars in the last part of a path alone."""
_OTHER_SIGNS = frozenset("?[]{}\\~")
_MAX_MATCHES = 200


class Edits(msgspec.Struct, frozen=True, kw_only=True):
    files: tuple[tuple[FileUse, str], ...]
    makes: tuple[str, ...] = ()
    """Empty folders and ordinary files that are there behind it."""
    sources: tuple[str, ...] = ()
    """What is copied, moved or removed."""
    target: str | None = None
    """Where it goes; None where it goes nowhere."""
    onto: bool = False
    """The target is the new name, and never a folder that takes it in."""
    recursive: bool = False
    """With all that is in folders."""
    follows: bool = False
    """Links are followed, those inside folders, too."""
    takes_links: bool = False
    """A link is taken as a link."""
    keeps_source: bool = False
    sets_nothing_else: bool = False
    """It changes what files hold and which there are, and neither modes, owners nor times."""

    @property
    def takes_more(self) -> bool:
        """More than the content of one file."""
        return self.recursive or self.takes_links


def judge_editing(words: tuple[Word, ...]) -> Edits | None:
    """The files that it would change or read; None when it is none of these commands, or not plainly so."""
    name = words[0].raw
    if name == "sed":
        return _judge_sed(words)
    table = _TABLES.get(name)
    parsed = None if table is None else parse_options(table, words)
    if parsed is None or not parsed.operands or not _sets_plain_mode(name, parsed):
        return None
    paths = [word.fixed or "" for word in parsed.operands]
    plain = name in _SETTING_MODES and not parsed.has(_SETTING_MODES[name])
    match name:
        case "cp" | "mv":
            return _judge_taking(name, paths, parsed, plain=plain)
        case "rm" | "rmdir":
            return Edits(
                files=_write(paths), sources=tuple(paths), recursive=parsed.has(_RECURSIVE), sets_nothing_else=plain
            )
        case "chmod":
            return Edits(files=_write(paths[1:])) if len(paths) > 1 and _MODE.fullmatch(paths[0]) else None
        case _:
            return Edits(files=_write(paths), makes=tuple(paths), sets_nothing_else=plain)


def _sets_plain_mode(name: str, parsed: Parsed) -> bool:
    return name != "mkdir" or all(
        _MODE.fullmatch(option.value or "") for option in parsed.options if option.name in _SETTING_MODES[name]
    )


def _judge_sed(words: tuple[Word, ...]) -> Edits | None:
    split = split_sed(words)
    if split is None:
        return None
    paths = [word.fixed or "" for word in split[1]]
    if not split[2]:
        return Edits(files=_write(paths), makes=tuple(paths))
    if len(paths) != 1:
        return None
    # The old file, and be it a link, gets the other name.
    copy = paths[0] + split[2]
    return Edits(
        files=_write([*paths, copy]), sources=(*paths,), target=copy, onto=True, takes_links=True, keeps_source=True
    )


def _judge_taking(name: str, paths: list[str], parsed: Parsed, *, plain: bool) -> Edits | None:
    if len(paths) == 1:
        return None
    moves = name == "mv"
    return Edits(
        files=_write(paths) if moves else (*(("read", path) for path in paths[:-1]), ("write", paths[-1])),
        sources=tuple(paths[:-1]),
        target=paths[-1],
        onto=parsed.has(frozenset({"-T"})),
        recursive=moves or parsed.has(_RECURSIVE),
        follows=parsed.has(frozenset({"-L"})),
        takes_links=moves or parsed.has(_TAKING_LINKS),
        keeps_source=not moves,
        sets_nothing_else=plain,
    )


def _write(paths: list[str]) -> tuple[tuple[FileUse, str], ...]:
    return tuple(("write", path) for path in paths)


class Spelled(msgspec.Struct, frozen=True):
    words: tuple[Word, ...]
    globs: tuple[tuple[str, str], ...] = ()
    """Folders, and the patterns whose matches there stand among the words."""


def spell_out(words: tuple[Word, ...], folder: str) -> Spelled | None:
    """With braces and stars put in, by what is there now. None where bash may make other words of them."""
    spelled: list[Word] = []
    globs: list[tuple[str, str]] = []
    for word in words:
        for each in expand_braces(word) if word.brace else (word,):
            if not each.glob:
                spelled.append(each)
                continue
            found = _list_matches(each, folder)
            if found is None:
                return None
            place, pattern, names = found
            globs.append((place, pattern))
            spelled.extend(map(made, names))
    return Spelled(tuple(spelled), tuple(globs))


def _list_matches(word: Word, folder: str) -> tuple[str, str, list[str]] | None:
    """The folder, the pattern, and the names; the word itself where nothing matches."""
    plain = _STAR.fullmatch(word.raw) if word.raw == word.value and not (word.parts or word.unsure) else None
    if plain is None or not _OTHER_SIGNS.isdisjoint(word.raw):
        return None
    before, pattern = plain.group(1) or "", plain.group(2)
    place = realpath(join(folder, before))
    try:
        names = sorted(os.listdir(place))  # noqa: PTH208 - names are all we need
    except FileNotFoundError:
        names = []
    except OSError:
        return None
    is_shown = pattern.startswith(".")
    found = [name for name in names if fnmatchcase(name, pattern) and (is_shown or not name.startswith("."))]
    if is_shown or len(found) > _MAX_MATCHES or (not before and any(name.startswith("-") for name in found)):
        return None
    return place, pattern, [before + name for name in found] or [word.raw]

"""Reads a command's words as the program itself reads them: options, their values, operands.

A word that we take for a value and the program for an option (or the other way round) is a hole, so a table says of each
option whether it takes a value, and what the table does not name makes it another command.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.syntax import Word

_SHORT = compile_late(r"([^:=])(::|:\?|:)?")
_LONG = compile_late(r"([^\s:=]+)(::|:\?|:2|:|=)?")


class Operands(StrEnum):
    """What the words are that are not options."""

    FILES = "files"
    TEXT = "text"
    """Nothing is opened: they may be anything, expansions too."""
    PATTERN = "a pattern, then files"
    NONE = "none"


class Globs(StrEnum):
    """Which unquoted globs may stand among the operands."""

    ANY = "any"
    """A file whose name is that of an option does no harm."""
    NAMED = "named"
    """Only those that begin with a letter or a folder: they become no option."""
    NEVER = "never"


class Arity(StrEnum):
    """Whether an option takes a value. The values are the marks behind its name in a table, most of them those of getopt."""

    NONE = ""
    NEEDED = ":"
    """The rest of the word, what stands behind `=`, or the next word."""
    OPTIONAL = "::"
    """The rest of the word, or what stands behind `=`; never the next word."""
    WRITTEN = "="
    """Behind `=`. Versions of the program differ about the bare option, so that one asks."""
    UNLESS_LAST = ":?"
    """As NEEDED, but none where the option is the last word (git's `--merged`)."""
    PAIR = ":2"
    """The next two words (jq's `--arg`)."""


_IN_NEXT = {Arity.NEEDED: 1, Arity.UNLESS_LAST: 1, Arity.PAIR: 2}
"""How many words follow where the value is not joined."""


_UPWARDS = compile_late(r"^(?:\.\./)+")
"""`../` in front of a glob: the folder that it looks through is still fixed."""


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """The options that only read, and what else a command takes. It is a value: to teach a command is to add a row."""

    short: str = ""
    """Letters with their marks: `aI:w::` has a flag, an option with a value, and one whose value can only be joined."""
    long: str = ""
    """Names without dashes, with their marks: `all width: color::`. Abbreviations are not taken."""
    words: frozenset[str] = frozenset()
    """Whole words that are options without a value: `-ps` of xxd."""
    paths: frozenset[str] = frozenset()
    """Options whose value names a file."""
    dashed: frozenset[str] | None = None
    """Options that take a next word which begins with a dash; None when all do. Others than these ask."""
    number: bool = False
    """`-5` is an option."""
    permutes: bool = True
    """Options may follow operands; otherwise all that follows the first operand is one."""
    clusters: bool = True
    """`-ab` is `-a -b`."""
    glued: bool = True
    """A value may be joined to its letter."""
    responds: bool = False
    """`@file` anywhere stands for the words in that file."""
    operands: Operands = Operands.FILES
    most: int | None = None
    """A further operand would be written to."""
    globs: Globs = Globs.ANY
    recursive: frozenset[str] = frozenset()
    """Options that make it read whole folders; `*`: it always does."""
    patterns: frozenset[str] = frozenset()
    """Options that stand for the pattern: with one of them, all operands are files."""

    @property
    def options(self) -> Mapping[str, Arity]:
        """By name with its dashes."""
        return _arities(self.short, self.long)


class GivenOption(msgspec.Struct, frozen=True):
    name: str
    """With its dashes; `-5` is `-#`."""
    value: str | None = None


class Parsed(msgspec.Struct, frozen=True):
    options: tuple[GivenOption, ...]
    operands: tuple[Word, ...]
    named: tuple[Word, ...] = ()
    """Files that values of options name."""

    def has(self, names: frozenset[str]) -> bool:
        return any(option.name in names for option in self.options)


def parse_options(table: Table, words: tuple[Word, ...]) -> Parsed | None:
    """None when an option is not in the table, or a word could be one."""
    if table.responds and any(word.template.startswith("@") for word in words[1:]):
        return None
    options: list[GivenOption] = []
    operands: list[Word] = []
    named: list[Word] = []
    at, ended, varied = 1, False, False
    while at < len(words):
        word = words[at]
        at += 1
        text = word.fixed
        if text is None and not _may_vary(table, word):
            return None
        varied = varied or text is None
        if text is None or ended or text == "-" or not text.startswith("-"):
            operands.append(word)
            ended = ended or not table.permutes
            continue
        if text == "--":
            # A file called `-e` that a glob became would have taken it.
            if varied:
                return None
            ended = True
            continue
        read = _read_word(table, text)
        if read is None:
            return None
        taken = _count_awaited(table, read[-1], left=len(words) - at)
        values = [_value_of(table, read[-1].name, following) for following in words[at : at + taken]]
        if len(values) < taken or None in values or (values and varied):
            return None
        if values:
            at += taken
            read[-1] = GivenOption(read[-1].name, values[-1])
        options.extend(read)
        named.extend(_as_word(option.value) for option in read if option.name in table.paths and option.value)
    return Parsed(tuple(options), tuple(operands), tuple(named))


@lru_cache(maxsize=256)
def _arities(short: str, long: str) -> Mapping[str, Arity]:
    letters = {f"-{letter}": Arity(mark) for letter, mark in _SHORT.findall(short)}
    return letters | {f"--{name}": Arity(mark) for name, mark in _LONG.findall(long)}


def _read_word(table: Table, text: str) -> list[GivenOption] | None:
    """The options in one word."""
    if text in table.words:
        return [GivenOption(text)]
    if text.startswith("--"):
        name, equals, value = text.partition("=")
        arity = table.options.get(name)
        if arity is None or (equals and arity in {Arity.NONE, Arity.PAIR}) or (not equals and arity is Arity.WRITTEN):
            return None
        return [GivenOption(name, value if equals else None)]
    if table.number and text[1:].isdecimal() and text.isascii():
        return [GivenOption("-#", text[1:])]
    return _read_letters(table, text[1:])


def _read_letters(table: Table, letters: str) -> list[GivenOption] | None:
    read: list[GivenOption] = []
    for at, letter in enumerate(letters):
        name, rest = f"-{letter}", letters[at + 1 :]
        arity = table.options.get(name)
        if arity is None or (read and not table.clusters):
            return None
        if arity is not Arity.NONE and rest:
            return [*read, GivenOption(name, rest)] if table.glued else None
        read.append(GivenOption(name))
    return read


def _count_awaited(table: Table, option: GivenOption, *, left: int) -> int:
    """How many of the words that are left belong to it."""
    arity = table.options.get(option.name)
    if option.value is not None or arity is None or (arity is Arity.UNLESS_LAST and not left):
        return 0
    return _IN_NEXT.get(arity, 0)


def _value_of(table: Table, name: str, word: Word) -> str | None:
    """What stands in the next word; None when that is not certain. Of `--`, programs make this or that."""
    text = word.fixed
    if text is None or text == "--":
        return None
    may_be_dashed = table.dashed is None or name in table.dashed
    return text if may_be_dashed or not text.startswith("-") else None


def _as_word(text: str) -> Word:
    return Word(raw=text, value=text, template=text)


def _may_vary(table: Table, word: Word) -> bool:
    if table.globs is Globs.NEVER:
        return False
    if table.operands is Operands.TEXT:
        return True
    fixed_but_glob = word.glob and word.value is not None and not word.brace and not word.tilde
    if not fixed_but_glob or ".." in _UPWARDS.sub("", word.raw):
        return False
    return table.globs is Globs.ANY or word.raw[:1].isalnum() or word.raw.startswith(("./", "../", "/"))

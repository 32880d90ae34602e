"""Reads a command's options against its table: an option that the table does not name makes it another command."""

from enum import StrEnum

import msgspec

from everturn.permissions.shell.syntax import Word


class Operands(StrEnum):
    """What the words are that are not options."""

    FILES = "files"
    TEXT = "text"
    """Nothing is opened: they may be anything, expansions too."""
    PATTERN = "a pattern, then files"
    NONE = "none"


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """The options that only read, and what else a command takes. It is a value: to teach a command is to add a row."""

    flags: str = ""
    """Letters of short options without a value."""
    valued: str = ""
    """Letters of short options with one."""
    long: frozenset[str] = frozenset()
    """Long options without dashes, with or without `=value`; abbreviations are not taken."""
    joined: str = ""
    """Letters of short options whose value, if there is one, stands in the same word."""
    number: bool = False
    """`-5` is an option."""
    operands: Operands = Operands.FILES
    most: int | None = None
    """A further operand would be written to."""
    globs: bool = True
    """Whether an unquoted glob may become an option without harm."""
    recursive: str = ""
    """Letters of options that go down into folders."""


class Parsed(msgspec.Struct, frozen=True):
    options: tuple[str, ...]
    """Letters and long names, in order."""
    operands: tuple[Word, ...]


def parse_options(table: Table, words: tuple[Word, ...]) -> Parsed | None:
    """None when an option is not in the table, or a word could be one."""
    options: list[str] = []
    operands: list[Word] = []
    at, ended = 1, False
    while at < len(words):
        word = words[at]
        at += 1
        text = word.fixed
        if text is None:
            if not _may_vary(table, word):
                return None
            operands.append(word)
        elif ended or text == "-" or not text.startswith("-"):
            operands.append(word)
        elif text == "--":
            ended = not _may_want_value(words[at - 2])
        elif text.startswith("--"):
            name = text[2:].partition("=")[0]
            if name not in table.long:
                return None
            options.append(name)
        elif table.number and text[1:].isdecimal() and text.isascii():
            options.append("number")
        else:
            taken = _parse_letters(table, text[1:], options)
            if taken is None or (taken and at >= len(words)):
                return None
            if taken and words[at].fixed is None:
                return None
            at += taken
    return Parsed(tuple(options), tuple(operands))


def _may_want_value(option: Word) -> bool:
    """A long option may take even `--` for its value: then what follows are options still."""
    text = option.fixed or ""
    return text.startswith("--") and "=" not in text


def _may_vary(table: Table, word: Word) -> bool:
    if table.operands is Operands.TEXT:
        return table.globs
    fixed_but_glob = word.glob and word.value is not None and not word.brace and not word.tilde
    return table.globs and fixed_but_glob and ".." not in word.raw


def _parse_letters(table: Table, letters: str, options: list[str]) -> int | None:
    """How many words the last letter takes: a value that is not joined to it."""
    for at, letter in enumerate(letters):
        if letter in table.valued:
            options.append(letter)
            return 0 if letters[at + 1 :] else 1
        if letter in table.joined:
            options.append(letter)
            return 0
        if letter not in table.flags:
            return None
        options.append(letter)
    return 0

"""A command line as values: words, commands, redirections, and doubts about them."""

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.values import EMPTY, VariableScope

Here = frozenset[str] | None
"""Folders that a command may run in; None when they cannot be known."""


class Expansion(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a word where bash puts something else."""

    name: str = ""
    """Of the variable; empty for substitutions and arithmetic."""
    operator: str = ""
    """What stands behind the name: `:-default`, `%.py`."""
    quoted: bool = False
    """It stays one word, whatever it becomes."""
    number: bool = False
    """It becomes a number."""
    names: tuple[str, ...] = ()
    """Variables that arithmetic evaluates: they must hold numbers."""
    is_substitution: bool = False
    is_pipe: bool = False
    """`<(..)`: it becomes the name of a pipe."""
    source: "tuple[Command, ...]" = ()
    """Of a substitution that is one pipeline of simple commands: its stages."""


class Word(msgspec.Struct, frozen=True):
    """One word of a command, and all that can be said about it without running anything."""

    raw: str
    """As written."""
    value: str | None
    """What the program gets; None when only bash knows."""
    template: str
    """As `value`, with a mark in the place of each expansion: `HOME`, `FOLDER`, `SPLIT` or `UNKNOWN`."""
    glob: bool = False
    brace: bool = False
    tilde: bool = False
    unsure: str = ""
    """Why we may have misread it; empty when we have not."""
    form: str = ""
    """A form of expansion in it that is understood, and that only held commands may use."""
    parts: tuple[str | Expansion, ...] = ()
    """Texts and expansions in order; empty where there is no expansion."""

    @property
    def plain(self) -> bool:
        """Written without quotes, escapes or expansions."""
        return self.raw == self.value and not self.glob and not self.brace and not self.tilde

    @property
    def fixed(self) -> str | None:
        """The one argument that it becomes; None when it may become another, or several."""
        return None if self.glob or self.brace or self.tilde else self.value

    @property
    def varies(self) -> bool:
        """It may become other words than are written; `~` stays one word, and is no option."""
        return self.value is None or self.glob or self.brace


LOOKS = frozenset({"-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-z", "-n"})
"""Operators of tests that look at one file or text, and evaluate nothing."""
UNKNOWN = "\0"
HOME = "\1"
FOLDER = "\2"
SPLIT = "\3"
"""`$IFS`: the word falls apart here."""
_MARKS = compile_late(f"[{UNKNOWN}{HOME}{FOLDER}{SPLIT}]+")
_BY_NAME = {"HOME": HOME, "PWD": FOLDER, "IFS": SPLIT}
_AS_WRITTEN = {UNKNOWN: "$_", HOME: "$HOME", FOLDER: "$PWD", SPLIT: " "}


def mark_of(name: str) -> str:
    """What stands for a variable of this name."""
    return _BY_NAME.get(name, UNKNOWN)


def drop_marks(text: str) -> str:
    """Every expansion is empty then, which is how a denied name hides behind one."""
    return _MARKS.sub("", text)


def write_marks(text: str) -> str:
    """As somebody could have written it."""
    return _MARKS.sub(lambda found: "".join([_AS_WRITTEN[mark] for mark in found.group()]), text)


class Assignment(msgspec.Struct, frozen=True):
    name: str
    word: Word
    """The whole of it, as written."""
    value: Word


class Command(msgspec.Struct, frozen=True):
    """A simple command: what bash would run, after what it would set."""

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    here: Here = None
    scope: VariableScope = EMPTY
    """What the variables may hold that were set in the line before it."""

    @property
    def text(self) -> str:
        """Its words as written, one blank apart."""
        return join_words(self.words)


class Redirect(msgspec.Struct, frozen=True):
    operator: str
    target: Word | None
    """None where a descriptor is closed."""
    here: Here = None
    scope: VariableScope = EMPTY


class Reading(msgspec.Struct, frozen=True):
    """What a command line holds. Without `unsure`, it holds nothing else."""

    commands: tuple[Command, ...]
    redirects: tuple[Redirect, ...] = ()
    pipes: tuple[tuple[Command, ...], ...] = ()
    """Commands that are fed by each other, in order, and by nothing else."""
    piped: tuple[Command, ...] = ()
    """Those that stand behind another in any pipe, whatever else feeds them."""
    fed: tuple[str, ...] = ()
    """Heredocs and here-strings: scripts, where a shell reads them."""
    unsure: tuple[str, ...] = ()
    holdable: bool = False
    """All of `unsure` are forms that are understood; a line of readers may use them where it runs held."""
    unclear: tuple[str, ...] = ()
    """Of `unsure`, forms that may evaluate text or open something, where nobody can see beforehand what."""
    own_names: frozenset[str] = frozenset()
    """Variables that the line sets for itself."""
    broken: bool = False
    """Not parsed, or not what it looks like: not even a rule for everything covers it."""
    moves: bool = False
    """Some part of it changes the folder."""
    leaves: bool = False
    """... to another one than it starts in."""


def join_words(words: tuple[Word, ...]) -> str:
    return " ".join([word.raw for word in words])

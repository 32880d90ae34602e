"""What an option declares besides its type: its check, its help, its setting in files and its flags."""

from enum import StrEnum

import msgspec

from everturn.settings.checks import Check


class Takes(StrEnum):
    """What follows a flag."""

    NOTHING = "nothing"
    TEXT = "text"
    FILE = "file"
    """A path, byte for byte."""
    WHOLE = "whole number"
    NUMBER = "number"
    LIST = "list"
    """Names, separated by commas or blanks; given twice, the lists are joined."""
    EACH = "each"
    """One text, blanks and commas included; the flag may be given again."""
    MAYBE_TEXT = "maybe text"
    """`--flag` or `--flag TEXT`."""
    MAYBE_FILE = "maybe a file"
    """`--flag` or `--flag=FILE`: a word of its own would be taken for the prompt."""


class CompletionOffer(StrEnum):
    """What a shell completes a value with, besides the choices."""

    NOTHING = "nothing"
    FILES = "files"
    MODELS = "models"
    SESSIONS = "sessions"
    SETTINGS = "settings"


class Topic(StrEnum):
    RUN = "Running"
    MODEL = "Model"
    LIMITS = "Limits"
    PROMPT = "Prompt"
    PERMISSIONS = "Permissions"
    SESSION = "Session"
    OTHER = "Settings and help"


class Flag(msgspec.Struct, frozen=True, kw_only=True):
    """Of a command of the program; of `everturn -p` most belong to an option."""

    name: str
    help: str = ""
    """Empty: the help of the option."""
    topic: Topic = Topic.OTHER
    """Under which `everturn --help` lists it."""
    takes: Takes = Takes.NOTHING
    value: str = ""
    """How the value is called in the help."""
    short: str = ""
    also: tuple[str, ...] = ()
    """Other spellings."""
    choices: tuple[str, ...] = ()
    least: int | None = None
    """The smallest number that it takes."""
    option: str = ""
    """The field of `Options` that it is declared with."""
    as_is: bool = True
    """What is given is the option's value. Otherwise `cli.options` makes one of it: of a file its text, of a session its id."""
    offer: CompletionOffer = CompletionOffer.NOTHING

    @property
    def spellings(self) -> tuple[str, ...]:
        return tuple(name for name in (self.short, self.name, *self.also) if name)


class Declaration(msgspec.Struct, frozen=True):
    """Stands in the type of a field of `Options`: `max_turns: Annotated[int | None, Declaration(checks.whole(0))] = None`."""

    check: Check
    help: str = ""
    """What it is, in a few words: for `everturn --help` and the table of settings. The field's docstring says it in full."""
    key: str = ""
    """Its setting in files; empty: files do not set it."""
    key_check: Check | None = None
    """Where files write another value than programs."""
    key_help: str = ""
    flags: tuple[Flag, ...] = ()
    limit: str = ""
    """The field of `Limits` that it is by another name or by the same."""
    secret: bool = False
    """The value is never shown."""

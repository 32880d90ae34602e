"""What the program's command line is made of, as values: commands, their flags and arguments, and what was given of them."""

from collections.abc import Callable
from typing import Any

import msgspec

from everturn.settings.declaration import CompletionOffer, Flag


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """A word behind a command that is no flag."""

    name: str
    """As the help calls it."""
    required: bool = True
    many: bool = False
    """Several words. Only the last argument of a command may say so."""
    quoted: bool = False
    """A text with blanks: who forgets the quotes around it is reminded."""
    choices: tuple[str, ...] = ()
    offer: CompletionOffer = CompletionOffer.NOTHING


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """What a command line gives."""

    given: dict[str, Any]
    """By the flag's name: True, a text, a number or a list."""
    words: tuple[str, ...] = ()
    """What is no flag."""

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def get(self, name: str) -> Any:
        return self.given.get(name)

    def text(self, name: str) -> str:
        """Of a flag that takes a text; empty where it was not given."""
        return self.given.get(name) or ""

    def all(self, name: str) -> tuple[str, ...]:
        """Of a flag that may be given again."""
        return tuple(self.given.get(name, ()))


class ProgramCommand(msgspec.Struct, frozen=True, kw_only=True):
    """Has either a function that runs it, or actions: commands of their own behind its name."""

    name: str
    help: str
    run: Callable[[Arguments], int] | None = None
    """Imports what it needs when it is called."""
    arguments: tuple[Argument, ...] = ()
    flags: tuple[Flag, ...] = ()
    """Besides --help, which every command has."""
    actions: tuple["ProgramCommand", ...] = ()
    default: str = ""
    """The action that is meant where none is named; empty: the help is shown."""
    literal: bool = False
    """Its words are taken as they are: a value may begin with a dash."""
    form: str = ""
    """How arguments and flags are written, where the rows alone would not tell."""
    instead: str = ""
    """The command that was meant by a word that this one does not take."""

    @property
    def all_flags(self) -> tuple[Flag, ...]:
        return (*self.flags, HELP)

    def find_action(self, name: str) -> "ProgramCommand | None":
        return next((action for action in self.actions if action.name == name), None)


HELP = Flag(name="--help", short="-h", help="print this help")
JSON = Flag(name="--json", help="print it as JSON, for programs")

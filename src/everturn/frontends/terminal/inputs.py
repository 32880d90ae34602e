"""What a terminal can send, as values: keys, pastes, changes of focus, answers to what it was asked."""

from enum import StrEnum

import msgspec


class Key(msgspec.Struct, frozen=True):
    """One key press. The same press is the same value in every encoding, as far as the encoding can tell it."""

    name: str
    """A character in lower case (`a`, `é`, `!`), `space`, or the name of a key that writes nothing (`enter`, `up`, `f5`)."""
    text: str = ""
    """What it would insert. Empty with Ctrl or Alt, and for keys that write nothing."""
    ctrl: bool = False
    alt: bool = False
    shift: bool = False
    """Of letters also with caps lock; of other characters only where Shift did not already choose them."""


class Paste(msgspec.Struct, frozen=True):
    text: str
    """As it was copied, control characters and escape sequences included; lines end with a newline."""
    is_whole: bool = True
    """False: more of it follows, or its end never came."""


class Focus(msgspec.Struct, frozen=True):
    gained: bool


class AnswerKind(StrEnum):
    ATTRIBUTES = "attributes"
    """DA1. Every terminal answers it, so that it ends what was asked before it."""
    MODE = "mode"
    """DECRPM: number of the mode, and 1 = set, 2 = reset, 3 and 4 = always so, 0 = unknown."""
    KEYBOARD = "keyboard"
    """Flags of the kitty keyboard protocol that are in force."""
    BACKGROUND = "background"
    """Red, green, blue from 0 to 255."""
    CURSOR = "cursor"
    """Row and column, from 1."""


class TerminalAnswer(msgspec.Struct, frozen=True):
    kind: AnswerKind
    numbers: tuple[int, ...] = ()


Input = Key | Paste | Focus | TerminalAnswer

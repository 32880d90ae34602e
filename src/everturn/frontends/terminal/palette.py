"""Colours by what they mean, for a dark or a light background, with as many colours as the terminal has. Pure."""

from collections.abc import Mapping
from enum import IntEnum, StrEnum

import msgspec

from everturn.frontends.ansi import BOLD, CYAN, DIM, GREEN, RED, YELLOW

_DUMB = frozenset({"", "dumb", "unknown"})
_ONE_COLOUR = ("vt1", "vt2", "vt52")
_MANY = ("256color", "-direct", "kitty", "ghostty", "alacritty", "wezterm", "foot", "truecolor")
_PROGRAMS = frozenset({"iterm.app", "wezterm", "ghostty", "vscode", "apple_terminal", "warpterminal", "rio", "tabby"})


class CodeKind(StrEnum):
    KEYWORD = "keyword"
    BUILT_IN = "built-in"
    NAME = "name"
    """What is defined or run here: a function, a tag, a command."""
    KEY = "key"
    STRING = "string"
    NUMBER = "number"
    COMMENT = "comment"
    HEADING = "heading"
    ADDED = "added"
    REMOVED = "removed"
    WORD = "word"
    """A word of the language's list, or any other, which is plain."""


class ColourDepth(IntEnum):
    NONE = 0
    """Neither bold nor dim: `NO_COLOR`, or a terminal that can do nothing."""
    SIXTEEN = 16
    """Those that the user has chosen for their terminal."""
    MANY = 256


class Palette(msgspec.Struct, frozen=True, kw_only=True):
    """Codes of styles (`ansi.Style.paint`). Empty ones paint nothing."""

    quiet: str = DIM
    added: str = GREEN
    removed: str = RED
    added_words: str = f"{GREEN};7"
    removed_words: str = f"{RED};7"
    code: Mapping[CodeKind, str]


SIXTEEN = Palette(
    code={
        CodeKind.KEYWORD: "35", CodeKind.BUILT_IN: CYAN, CodeKind.NAME: BOLD, CodeKind.KEY: CYAN, CodeKind.STRING: GREEN,
        CodeKind.NUMBER: YELLOW, CodeKind.COMMENT: DIM, CodeKind.HEADING: BOLD, CodeKind.ADDED: GREEN, CodeKind.REMOVED: RED,
    }
)  # fmt: skip
PLAIN = Palette(**{name: "" for name in Palette.__struct_fields__ if name != "code"}, code=dict.fromkeys(CodeKind, ""))
DARK = Palette(
    quiet="38;5;245", added="38;5;114;48;5;22", removed="38;5;217;48;5;52",
    added_words="38;5;157;48;5;28", removed_words="38;5;224;48;5;88",
    code={
        CodeKind.KEYWORD: "38;5;176", CodeKind.BUILT_IN: "38;5;80", CodeKind.NAME: "38;5;117", CodeKind.KEY: "38;5;110",
        CodeKind.STRING: "38;5;114", CodeKind.NUMBER: "38;5;179", CodeKind.COMMENT: "38;5;245", CodeKind.HEADING: f"{BOLD};38;5;110",
        CodeKind.ADDED: "38;5;114", CodeKind.REMOVED: "38;5;174",
    },
)  # fmt: skip
LIGHT = Palette(
    quiet="38;5;242", added="38;5;22;48;5;194", removed="38;5;88;48;5;224",
    added_words="38;5;22;48;5;157", removed_words="38;5;88;48;5;217",
    code={
        CodeKind.KEYWORD: "38;5;90", CodeKind.BUILT_IN: "38;5;30", CodeKind.NAME: "38;5;25", CodeKind.KEY: "38;5;24",
        CodeKind.STRING: "38;5;28", CodeKind.NUMBER: "38;5;94", CodeKind.COMMENT: "38;5;242", CodeKind.HEADING: f"{BOLD};38;5;25",
        CodeKind.ADDED: "38;5;28", CodeKind.REMOVED: "38;5;124",
    },
)  # fmt: skip


def find_depth(env: Mapping[str, str]) -> ColourDepth:
    """By `NO_COLOR`, `COLORTERM`, `TERM` and the name of the program."""
    term = env.get("TERM", "")
    if env.get("NO_COLOR") or term in _DUMB or (term.startswith(_ONE_COLOUR) and "color" not in term):
        return ColourDepth.NONE
    many = env.get("COLORTERM", "").lower() in {"truecolor", "24bit"} or any(part in term for part in _MANY)
    if many or env.get("TERM_PROGRAM", "").lower() in _PROGRAMS or env.get("WT_SESSION"):
        return ColourDepth.MANY
    return ColourDepth.SIXTEEN


def choose_palette(depth: ColourDepth, *, light: bool) -> Palette:
    """With sixteen colours there is one palette: the user has chosen them to be read on their background."""
    match depth:
        case ColourDepth.NONE:
            return PLAIN
        case ColourDepth.SIXTEEN:
            return SIXTEEN
        case ColourDepth.MANY:
            return LIGHT if light else DARK

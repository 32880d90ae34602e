"""Every sequence that we send to a terminal beside text, colours and the cursor: what it does, and whether this terminal gets it.

A sequence that a terminal does not know may be shown as rubbish, or do something else there. So each of them is sent only where the
terminal has said at the start that it knows it, or where its name says so, and where the settings do not say no.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from everturn.core.patterns import compile_late
from everturn.frontends.harmless import make_harmless, make_line
from everturn.frontends.terminal.inputs import AnswerKind, TerminalAnswer

MAX_ADDRESS = 2_000
MAX_CLIPBOARD = 74_000
"""Bytes that a terminal takes at once; some drop more without a word."""
MAX_NOTE = 200
"""Characters of a title or a notification."""
_ST = "\x1b\\"
_SCHEMES = ("http://", "https://", "file://")
_NOT_IN_ADDRESS = compile_late(r"[^!-~]")
_NUMBERED = compile_late(r"\d+(?:;|$)")
_KEYBOARD_FLAGS = 5
"""1: keys that were ambiguous are told apart; 4: and by what stands on them in the base layout."""
_SYNCHRONIZED = 2026
_KNOWN_STATES = frozenset({1, 2, 3})

BEGIN_FRAME, END_FRAME = "\x1b[?2026h", "\x1b[?2026l"
"""What stands between them is drawn at once."""
SHOW_CURSOR, HIDE_CURSOR = "\x1b[?25h", "\x1b[?25l"
BEGIN_ALTERNATE, END_ALTERNATE = "\x1b[?1049h", "\x1b[?1049l"
BELL = "\x07"


class ProgressState(StrEnum):
    NONE = "0"
    RUNNING = "1"
    FAILED = "2"
    UNKNOWN = "3"
    """It works, and nobody can say how far it is."""
    WAITING = "4"


class NotificationKind(StrEnum):
    NONE = "none"
    BELL = "bell"
    OSC_9 = "osc 9"
    OSC_777 = "osc 777"


class TerminalChoices(msgspec.Struct, frozen=True, kw_only=True):
    """What the user's settings say. None: where the terminal can."""

    title: bool = True
    notifications: bool = True
    progress: bool = True
    links: bool | None = None
    clipboard: bool | None = None
    keyboard: bool = True
    theme: str = ""
    """`light` or `dark`; empty: as the terminal's background is."""


class _Known(msgspec.Struct, frozen=True):
    """What a terminal of this name can do."""

    links: bool = True
    clipboard: bool = True
    notifications: NotificationKind = NotificationKind.BELL
    progress: bool = False
    title: bool = True


_OSC_9, _OSC_777 = NotificationKind.OSC_9, NotificationKind.OSC_777
_TERMINALS = {
    "alacritty": _Known(),
    "apple_terminal": _Known(links=False, clipboard=False),
    "conemu": _Known(clipboard=False, progress=True),
    "contour": _Known(notifications=_OSC_777),
    "foot": _Known(notifications=_OSC_777),
    "ghostty": _Known(notifications=_OSC_9, progress=True),
    "hyper": _Known(),
    "iterm.app": _Known(notifications=_OSC_9),
    "kitty": _Known(notifications=_OSC_9),
    "konsole": _Known(),
    "linux": _Known(links=False, clipboard=False, title=False),
    "rio": _Known(),
    "rxvt": _Known(links=False, notifications=_OSC_777),
    "screen": _Known(links=False, clipboard=False),
    "tabby": _Known(),
    "tmux": _Known(links=False),
    "vscode": _Known(),
    "vte": _Known(clipboard=False),
    "warpterminal": _Known(),
    "wezterm": _Known(notifications=_OSC_9),
    "windows terminal": _Known(progress=True),
    "xterm": _Known(links=False),
}
"""Progress is sent to few: others would show it as a notification of the text `4;1;50`."""
_UNKNOWN = _Known(links=False, clipboard=True)
_BY_VARIABLE = {
    "KITTY_WINDOW_ID": "kitty", "WT_SESSION": "windows terminal", "KONSOLE_VERSION": "konsole", "ConEmuANSI": "conemu",
    "VTE_VERSION": "vte", "XTERM_VERSION": "xterm",
}  # fmt: skip
_BY_TERM = {
    "xterm-kitty": "kitty", "xterm-ghostty": "ghostty", "foot": "foot", "alacritty": "alacritty", "rxvt": "rxvt", "linux": "linux",
    "contour": "contour", "rio": "rio", "wezterm": "wezterm",
}  # fmt: skip
"""By its beginning."""
_DUMB = frozenset({"", "dumb", "unknown"})


class TerminalFeatures(msgspec.Struct, frozen=True, kw_only=True):
    """What may be sent to this terminal."""

    control: bool = False
    """The cursor may be moved, and lines erased."""
    synchronized: bool = False
    keyboard: bool = False
    """The kitty keyboard protocol."""
    modified_keys: bool = False
    """modifyOtherKeys of xterm, where there is nothing better."""
    links: bool = False
    clipboard: bool = False
    notifications: NotificationKind = NotificationKind.NONE
    progress: bool = False
    title: bool = False


def name_terminal(env: Mapping[str, str]) -> str:
    """Empty where it cannot be told. Inside tmux or screen it is these that read what we send."""
    term = env.get("TERM", "")
    if env.get("TMUX") or term.startswith("tmux"):
        return "tmux"
    if env.get("STY") or term.startswith("screen"):
        return "screen"
    if (program := env.get("TERM_PROGRAM", "").lower()) in _TERMINALS:
        return program
    for beginning, name in _BY_TERM.items():
        if term.startswith(beginning):
            return name
    return next((name for variable, name in _BY_VARIABLE.items() if env.get(variable)), "")


def ask_terminal(env: Mapping[str, str]) -> str:
    """One write: synchronized output, keyboard, background, and at the end what every terminal answers. Empty for a dumb one."""
    if env.get("TERM", "") in _DUMB:
        return ""
    if name_terminal(env) == "linux":
        return "\x1b[c"
    return f"\x1b[?{_SYNCHRONIZED}$p\x1b[?u\x1b]11;?{_ST}\x1b[c"


def choose_features(
    env: Mapping[str, str], answers: Iterable[TerminalAnswer], choices: TerminalChoices
) -> TerminalFeatures:
    """`answers`: none where the terminal has not answered in time."""
    if env.get("TERM", "") in _DUMB:
        return TerminalFeatures()
    name = name_terminal(env)
    known = _TERMINALS.get(name, _UNKNOWN)
    answers = tuple(answers)
    modes = {answer.numbers[0]: answer.numbers[1] for answer in answers if answer.kind is AnswerKind.MODE}
    synchronized = modes.get(_SYNCHRONIZED, 0) in _KNOWN_STATES
    has_keyboard = any(answer.kind is AnswerKind.KEYBOARD for answer in answers)
    # A terminal without a name that knows one of these was made when links were known everywhere.
    is_modern = known is _UNKNOWN and (synchronized or has_keyboard)
    return TerminalFeatures(
        control=True,
        synchronized=synchronized,
        keyboard=has_keyboard and choices.keyboard,
        modified_keys=name == "xterm" and not has_keyboard and choices.keyboard,
        links=known.links or is_modern if choices.links is None else choices.links,
        clipboard=known.clipboard if choices.clipboard is None else choices.clipboard,
        notifications=known.notifications if choices.notifications else NotificationKind.NONE,
        progress=known.progress and choices.progress,
        title=known.title and choices.title,
    )


def is_light(env: Mapping[str, str], answers: Iterable[TerminalAnswer], choices: TerminalChoices) -> bool:
    """By the settings, the background that the terminal told, or what it left in the environment. Else dark."""
    if choices.theme in {"light", "dark"}:
        return choices.theme == "light"
    for answer in answers:
        if answer.kind is AnswerKind.BACKGROUND:
            red, green, blue = answer.numbers
            return 0.299 * red + 0.587 * green + 0.114 * blue > 127  # noqa: PLR2004 (half as bright as white)
    background = env.get("COLORFGBG", "").rpartition(";")[2]
    return background in {"7", "15"}


def begin_session(features: TerminalFeatures) -> str:
    """When the terminal becomes ours, and again after it was somebody else's."""
    if not features.control:
        return ""
    parts = ["\x1b[22;2t" if features.title else "", "\x1b[?2004h\x1b[?1004h"]
    if features.keyboard:
        parts.append(f"\x1b[>{_KEYBOARD_FLAGS}u")
    elif features.modified_keys:
        parts.append("\x1b[>4;1m")
    return "".join(parts)


def end_session(features: TerminalFeatures) -> str:
    """The other way round. Sent also after a failure: what was not begun is ended without harm."""
    if not features.control:
        return ""
    parts = ["\x1b[<u" if features.keyboard else "\x1b[>4m" if features.modified_keys else ""]
    parts.append(f"\x1b[?1004l\x1b[?2004l{SHOW_CURSOR}")
    if features.progress:
        parts.append(show_progress(features, ProgressState.NONE))
    if features.title:
        parts.append("\x1b[23;2t")
    return "".join(parts)


def frame(features: TerminalFeatures, drawn: str) -> str:
    """What is drawn at once, where the terminal can."""
    return f"{BEGIN_FRAME}{drawn}{END_FRAME}" if features.synchronized and drawn else drawn


def link(features: TerminalFeatures, text: str, address: str) -> str:
    """The text, which is harmless already, and behind it an address of the web or of a file; any other address is left out."""
    if not features.links or not text or not address.lower().startswith(_SCHEMES):
        return text
    written = _NOT_IN_ADDRESS.sub(_quote, make_harmless(address))
    if len(written) > MAX_ADDRESS:
        return text
    return f"\x1b]8;;{written}{_ST}{text}\x1b]8;;{_ST}"


def copy(features: TerminalFeatures, text: str) -> str:
    """Puts a text on the clipboard. Empty where the terminal cannot, or where there is more than it takes."""
    data = text.encode("utf-8", "replace")
    if not features.clipboard or len(data) > MAX_CLIPBOARD:
        return ""
    return f"\x1b]52;c;{b64encode(data).decode()}{_ST}"


def notify(features: TerminalFeatures, title: str, body: str) -> str:
    """For a person who looks elsewhere."""
    title, body = _note(title).replace(";", ","), _note(body)
    match features.notifications:
        case NotificationKind.OSC_9:
            text = f"{title}: {body}" if body else title
            # A number at the beginning would be an order of another kind.
            return f"\x1b]9;{' ' if _NUMBERED.match(text) else ''}{text}{_ST}"
        case NotificationKind.OSC_777:
            return f"\x1b]777;notify;{title};{body}{_ST}"
        case NotificationKind.BELL:
            return BELL
        case NotificationKind.NONE:
            return ""


def show_progress(features: TerminalFeatures, state: ProgressState, percent: int = 0) -> str:
    return f"\x1b]9;4;{state};{min(max(percent, 0), 100)}{_ST}" if features.progress else ""


def set_title(features: TerminalFeatures, text: str) -> str:
    return f"\x1b]2;{_note(text)}{_ST}" if features.title else ""


def _note(text: str) -> str:
    line = make_line(text[: MAX_NOTE * 10])
    return line if len(line) <= MAX_NOTE else f"{line[: MAX_NOTE - 1]}…"


def _quote(found: re.Match[str]) -> str:
    from urllib.parse import quote

    return quote(found[0].encode("utf-8", "replace"))

"""Which keys do what outside of the text: the usual table, how a binding is written, and who asks it for each key. Pure."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

import msgspec

from everturn.frontends.harmless import make_line
from everturn.frontends.terminal.inputs import Key

MAX_KEYS = 3
"""In a row, for one binding."""
SEQUENCE_S = 0.8
"""How long the next key of a row is waited for."""

Keys = tuple[Key, ...]
"""Pressed one after the other."""


class KeyAction(StrEnum):
    SUBMIT = "submit"
    NEWLINE = "newline"
    INTERRUPT = "interrupt"
    CLEAR_INPUT = "clear_input"
    EXIT = "exit"
    CYCLE_MODE = "cycle_mode"
    HISTORY_SEARCH = "history_search"
    PREVIOUS_PROMPT = "previous_prompt"
    OPEN_DETAILS = "open_details"
    EXTERNAL_EDITOR = "external_editor"
    ACCEPT_SUGGESTION = "accept_suggestion"
    SUSPEND = "suspend"
    REDRAW = "redraw"


USUAL: Mapping[KeyAction, str] = {
    KeyAction.SUBMIT: "enter",
    KeyAction.NEWLINE: "ctrl+j, alt+enter, shift+enter",
    KeyAction.INTERRUPT: "ctrl+c, escape",
    KeyAction.CLEAR_INPUT: "ctrl+x ctrl+u",
    KeyAction.EXIT: "ctrl+d",
    KeyAction.CYCLE_MODE: "shift+tab",
    KeyAction.HISTORY_SEARCH: "ctrl+r",
    KeyAction.PREVIOUS_PROMPT: "escape escape",
    KeyAction.OPEN_DETAILS: "ctrl+o",
    KeyAction.EXTERNAL_EDITOR: "ctrl+g, ctrl+x ctrl+e",
    KeyAction.ACCEPT_SUGGESTION: "tab",
    KeyAction.SUSPEND: "ctrl+z",
    KeyAction.REDRAW: "ctrl+l",
}
"""Each written as in the file, with commas between those that do the same."""
MEANINGS: Mapping[KeyAction, str] = {
    KeyAction.SUBMIT: "sends the prompt; queues it while the agent works",
    KeyAction.NEWLINE: "begins another line",
    KeyAction.INTERRUPT: "closes a menu, else ends what runs; ctrl+c also empties the prompt, and pressed twice leaves",
    KeyAction.CLEAR_INPUT: "empties the prompt",
    KeyAction.EXIT: "leaves, from an empty prompt",
    KeyAction.CYCLE_MODE: "goes on to the next permission mode",
    KeyAction.HISTORY_SEARCH: "searches the prompts of the past",
    KeyAction.PREVIOUS_PROMPT: "goes back to an earlier prompt",
    KeyAction.OPEN_DETAILS: "opens what was folded",
    KeyAction.EXTERNAL_EDITOR: "opens the prompt in your editor",
    KeyAction.ACCEPT_SUGGESTION: "takes the suggested prompt",
    KeyAction.SUSPEND: "stops the program; `fg` goes on",
    KeyAction.REDRAW: "draws the screen anew",
}
NEEDED = frozenset({KeyAction.SUBMIT, KeyAction.INTERRUPT, KeyAction.EXIT})
"""Each keeps a key, whatever the file says."""
_MODIFIERS = {"ctrl": "ctrl", "control": "ctrl", "alt": "alt", "option": "alt", "meta": "alt", "shift": "shift"}
_NOT_TOLD = frozenset({"cmd", "command", "super", "win", "hyper"})
_OTHER_NAMES = {
    "esc": "escape", "return": "enter", "del": "delete", "ins": "insert", "page-up": "pageup", "page-down": "pagedown", "pgup": "pageup",
    "pgdn": "pagedown", "plus": "+", "bs": "backspace",
}  # fmt: skip
_NAMES = frozenset(
    (
        *("enter", "tab", "backspace", "escape", "delete", "insert", "space"),
        *("up", "down", "left", "right", "home", "end", "pageup", "pagedown"),
        *(f"f{number}" for number in range(1, 13)),
    )
)


class KeyBindings(msgspec.Struct, frozen=True, kw_only=True):
    keys: Mapping[KeyAction, tuple[Keys, ...]]
    problems: tuple[str, ...] = ()
    """What of the file does not count, and why."""
    notes: tuple[str, ...] = ()
    """What counts, and may surprise."""

    def tell(self, action: KeyAction) -> str:
        """As a person reads it: `ctrl+j, alt+enter`. Empty where there is no key."""
        return ", ".join(map(write_keys, self.keys[action]))


class Pressed(NamedTuple):
    action: KeyAction | None = None
    released: Keys = ()
    """Keys that belong to no binding, in their order: for the text."""


class KeyMatcher:
    """Asked before the editor. A key that may begin a row is held back until the row is whole, or cannot be."""

    def __init__(self, bindings: KeyBindings) -> None:
        self._actions = {keys: action for action, each in bindings.keys.items() for keys in each}
        self._beginnings = {keys[:count] for keys in self._actions for count in range(1, len(keys))}
        self._held: Keys = ()
        """As they came, with their text."""
        self._done = 0
        """Of the keys held, how many have had their own action: Escape interrupts at once, and a second one does more."""
        self._since = 0.0

    @property
    def is_waiting(self) -> bool:
        """Keys are held back: call `release` after `SEQUENCE_S`."""
        return len(self._held) > self._done

    def press(self, key: Key, now: float) -> list[Pressed]:
        """`now`: any clock's seconds. What follows from it, in this order."""
        pressed: list[Pressed] = []
        if self._held and now - self._since > SEQUENCE_S:
            pressed += self.release()
        row = (*self._held, key)
        bare = tuple(map(strip_text, row))
        if bare not in self._actions and bare not in self._beginnings and self._held:
            pressed += self.release()
            row, bare = (key,), (strip_text(key),)
        action = self._actions.get(bare)
        if bare in self._beginnings:
            self._held, self._since = row, now
            if action is not None:
                self._done = len(row)
                pressed.append(Pressed(action))
            return pressed
        self._held, self._done = (), 0
        return [*pressed, Pressed(action) if action is not None else Pressed(released=(key,))]

    def release(self) -> list[Pressed]:
        """What was held back, when no more comes."""
        left = self._held[self._done :]
        self._held, self._done = (), 0
        return [Pressed(released=left)] if left else []


def strip_text(key: Key) -> Key:
    """As it stands in a binding."""
    return Key(key.name, ctrl=key.ctrl, alt=key.alt, shift=key.shift) if key.text else key


def parse_keys(written: str) -> Keys:
    """`ctrl+r`, `escape escape`. Raises `ValueError` with what is wrong."""
    words = written.lower().split()
    if not 1 <= len(words) <= MAX_KEYS:
        raise ValueError(f"must be one key, or up to {MAX_KEYS} in a row with a blank between them")
    keys = tuple(map(_parse_key, words))
    first = keys[0]
    if not (first.ctrl or first.alt) and (first.name == "space" or len(first.name) == 1):
        raise ValueError(f"{words[0]!r} could not be typed any more; put ctrl or alt before it")
    return keys


def write_keys(keys: Keys) -> str:
    return " ".join(
        "+".join(
            [
                *(name for name, held in (("ctrl", key.ctrl), ("alt", key.alt), ("shift", key.shift)) if held),
                "plus" if key.name == "+" else key.name,
            ]
        )
        for key in keys
    )


def _parse_key(word: str) -> Key:
    *modifiers, name = word.replace("++", "+plus").split("+") if word != "+" else ["plus"]
    held = set()
    for modifier in modifiers:
        if modifier in _NOT_TOLD:
            raise ValueError(f"{modifier} is kept by the system; there are ctrl, alt and shift")
        if modifier not in _MODIFIERS:
            raise ValueError(f"there is no modifier {make_line(modifier)!r}; there are ctrl, alt and shift")
        held.add(_MODIFIERS[modifier])
    name = _OTHER_NAMES.get(name, name)
    if name not in _NAMES and (len(name) != 1 or not name.isprintable()):
        raise ValueError(
            f"there is no key {make_line(name)!r}; keys are characters, f1 to f12, {', '.join(sorted(_NAMES)[:5])} …"
        )
    return Key(name, ctrl="ctrl" in held, alt="alt" in held, shift="shift" in held)


def _parse_all(written: str) -> Iterable[Keys]:
    return map(parse_keys, written.split(","))


USUAL_BINDINGS = KeyBindings(keys={action: tuple(_parse_all(written)) for action, written in USUAL.items()})

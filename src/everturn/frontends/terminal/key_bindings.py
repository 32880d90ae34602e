"""Which keys do what outside of the text: a table, what `keybindings.json` in the program's home changes of it, and who asks it.

In the file each action has a key or a list of keys, which take the place of its usual ones; `[]` leaves it without. What is wrong in it
is told with its line and passed over, so that a typing mistake never leaves anybody without keys.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from everturn.core.patterns import compile_late
from everturn.frontends.harmless import make_line
from everturn.frontends.terminal.inputs import Key

FILE_NAME = "keybindings.json"
MAX_BYTES = 65_536
MAX_KEYS = 3
"""In a row, for one binding."""
SEQUENCE_S = 0.8
"""How long the next key of a row is waited for."""
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_STRING = compile_late(r'"(?:[^"\\]|\\.)*+"')
_BYTE = compile_late(r"\(byte (\d+)\)")

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
_SAME_BYTE = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+[": "escape"}
"""Old terminals write these alike."""


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


def load_bindings(home: str) -> KeyBindings:
    """`home`: the program's. Never raises: without a file, or with a broken one, the usual keys hold."""
    path = f"{home.rstrip('/')}/{FILE_NAME}"
    try:
        descriptor = os.open(path, _OPEN)
    except FileNotFoundError:
        return parse_bindings("{}", path)
    except OSError as error:
        return _refuse(f"{path} cannot be read: {error.strerror}")
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return _refuse(f"{path} is no plain file")
        data = os.read(descriptor, MAX_BYTES + 1)
    except OSError as error:
        return _refuse(f"{path} cannot be read: {error.strerror}")
    finally:
        os.close(descriptor)
    if len(data) > MAX_BYTES:
        return _refuse(f"{path} is larger than {MAX_BYTES:,} bytes")
    return parse_bindings(data.decode("utf-8", "replace"), path)


def parse_bindings(text: str, path: str) -> KeyBindings:
    from json import loads

    data = text.encode("utf-8", "replace")
    try:
        msgspec.json.decode(data)
        pairs = loads(text, object_pairs_hook=_Pairs)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        found = _BYTE.search(str(error))
        line = data.count(b"\n", 0, int(found[1])) + 1 if found else 1
        return _refuse(f"{path}, line {line}: this is no JSON: {_BYTE.sub('', str(error)).strip()}")
    if not isinstance(pairs, _Pairs):
        return _refuse(f'{path}, line 1: must hold actions and their keys, such as {{"exit": "ctrl+q"}}')
    reading = _Reading(path, _find_lines(text))
    return reading.read(pairs)


def _refuse(problem: str) -> KeyBindings:
    return msgspec.structs.replace(USUAL_BINDINGS, problems=(problem,))


class _Pairs(list[tuple[str, Any]]):
    """An object, its names in their order and none lost."""


class _Given(NamedTuple):
    keys: Keys
    line: int


class _Reading:
    def __init__(self, path: str, lines: Iterator[int]) -> None:
        self._path = path
        self._lines = lines
        """Of each string in the file, in their order."""
        self._problems: list[str] = []
        self._notes: list[str] = []

    def read(self, pairs: "_Pairs") -> KeyBindings:
        given: dict[KeyAction, list[_Given]] = {}
        owners: dict[Keys, tuple[KeyAction, int]] = {}
        for name, value in pairs:
            line = next(self._lines)
            action = self._find_action(name, line)
            taken = self._read_keys(name, value, line)
            if action is None or taken is None:
                continue
            if action in given:
                self._problems.append(self._say(line, f"{action} is given a second time; the first one counts"))
                continue
            given[action] = []
            for each in taken:
                owner = owners.setdefault(each.keys, (action, each.line))
                if owner[0] is not action:
                    said = f"{write_keys(each.keys)} belongs to {owner[0]} already (line {owner[1]}); it stays there"
                    self._problems.append(self._say(each.line, said))
                elif each not in given[action]:
                    given[action].append(each)
        return self._settle(given, owners)

    def _settle(self, given: dict[KeyAction, list[_Given]], owners: dict[Keys, tuple[KeyAction, int]]) -> KeyBindings:
        self._keep_needed(given, owners)
        keys: dict[KeyAction, tuple[Keys, ...]] = {}
        for action, usual in USUAL_BINDINGS.keys.items():
            if action in given:
                keys[action] = tuple(each.keys for each in given[action])
                continue
            keys[action] = tuple(each for each in usual if owners.get(each, (action,))[0] is action)
            left = ", ".join(map(write_keys, keys[action])) or "no key"
            for each in usual:
                if each not in keys[action]:
                    owner, line = owners[each]
                    said = f"{write_keys(each)} now belongs to {owner}; {action} has {left}"
                    self._notes.append(self._say(line, said))
        for each, (action, line) in owners.items():
            if (other := _SAME_BYTE.get(write_keys(each[:1]))) is not None:
                said = f"most terminals cannot tell {write_keys(each[:1])} ({action}) from {other}"
                self._notes.append(self._say(line, said))
        return KeyBindings(keys=keys, problems=tuple(self._problems), notes=tuple(self._notes))

    def _keep_needed(self, given: dict[KeyAction, list[_Given]], owners: dict[Keys, tuple[KeyAction, int]]) -> None:
        """An action that nobody can do without, and that would have no key, takes its usual ones back.

        It may take the only key of another one, which is then looked at again.
        """
        for action in sorted(NEEDED) * len(NEEDED):
            usual = USUAL_BINDINGS.keys[action]
            if given.get(action) or (action not in given and any(each not in owners for each in usual)):
                continue
            given.pop(action, None)
            for each in usual:
                owner, _ = owners.pop(each, (action, 0))
                given[owner] = [one for one in given.get(owner, []) if one.keys != each]
            given.pop(action, None)
            told = ", ".join(map(write_keys, usual))
            self._problems.append(f"{self._path}: {action} needs a key and has none; it keeps {told}")

    def _find_action(self, name: str, line: int) -> KeyAction | None:
        if name in list(KeyAction):
            return KeyAction(name)
        from difflib import get_close_matches

        near = get_close_matches(name, list(KeyAction), n=1)
        meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(KeyAction)}"
        self._problems.append(self._say(line, f"there is no action {make_line(name)[:40]!r}; {meant}"))
        return None

    def _read_keys(self, name: str, value: Any, line: int) -> list[_Given] | None:
        """Also of what does not count, so that the strings behind it have their lines."""
        if isinstance(value, str):
            value = [value]
        elif (
            isinstance(value, _Pairs) or not isinstance(value, list) or not all(isinstance(each, str) for each in value)
        ):
            for _ in _count_strings(value):
                next(self._lines)
            self._problems.append(self._say(line, f"{make_line(name)[:40]} must have a key or a list of keys"))
            return None
        taken: list[_Given] = []
        for written in value:
            at = next(self._lines)
            try:
                keys = parse_keys(written)
                if all(keys != each.keys for each in taken):
                    taken.append(_Given(keys, at))
            except ValueError as error:
                self._problems.append(self._say(at, f"{make_line(written)[:40]!r}: {error}"))
        return taken

    def _say(self, line: int, text: str) -> str:
        return f"{self._path}, line {line}: {text}"


def _count_strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _count_strings(each)


def _find_lines(text: str) -> Iterator[int]:
    line, at = 1, 0
    for found in _STRING.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        yield line


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

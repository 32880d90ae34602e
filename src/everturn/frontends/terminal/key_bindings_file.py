"""`keybindings.json` in the program's home: what it changes of the usual keys.

Each action has a key or a list of keys, which take the place of its usual ones; `[]` leaves it without. What is wrong in it
is told with its line and passed over, so that a typing mistake never leaves anybody without keys.
"""

import os
import stat
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from everturn.core.patterns import compile_late
from everturn.frontends.harmless import make_line
from everturn.frontends.terminal.key_bindings import (
    NEEDED,
    USUAL_BINDINGS,
    KeyAction,
    KeyBindings,
    Keys,
    parse_keys,
    write_keys,
)

FILE_NAME = "keybindings.json"
MAX_BYTES = 65_536
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_STRING = compile_late(r'"(?:[^"\\]|\\.)*+"')
_BYTE = compile_late(r"\(byte (\d+)\)")
_SAME_BYTE = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+[": "escape"}
"""Old terminals write these alike."""


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

"""From the words of a command line to flags with their values and what is left: the prompt. Pure."""

from collections.abc import Sequence
from typing import Any

import msgspec

from everturn.cli.flags import BY_SPELLING, COMMANDS, Flag, Takes
from everturn.cli.usage import HELP, UsageError
from everturn.settings.checks import nearest

END_OF_FLAGS = "--"
MEANT_AS_FLAGS = ("--help", "--version")
"""Other programs have commands of these names."""
ELSEWHERE = frozenset(
    (
        "agents",
        "auth",
        "exec",
        "install",
        "login",
        "logout",
        "mcp",
        "plugin",
        "plugins",
        "resume",
        "setup-token",
        "update",
    )
)
"""Commands of programs like this one: whoever types one, with whatever behind it, means no prompt."""


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    given: dict[str, Any]
    """By the flag's name: True, a text, a number or a list."""
    words: tuple[str, ...] = ()
    """What is no flag."""

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def get(self, name: str) -> Any:
        return self.given.get(name)


def parse_arguments(words: Sequence[str]) -> Arguments:
    """Raises `UsageError`. A flag given twice: lists are joined, otherwise the last one counts."""
    given: dict[str, Any] = {}
    rest: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == END_OF_FLAGS:
            rest += left
            break
        name, equals, attached = word.partition("=")
        # A flag holds no blank before its value: a prompt that begins with a dash is a prompt.
        if not word.startswith("-") or word == "-" or " " in name:
            rest.append(word)
            continue
        flag = find_flag(name)
        value = _take_value(flag, name, attached if equals else None, left)
        given[flag.name] = [*given.get(flag.name, ()), *value] if flag.takes in {Takes.LIST, Takes.EACH} else value
    return Arguments(given=given, words=tuple(rest))


def find_flag(name: str) -> Flag:
    if name not in BY_SPELLING:
        documented = {spelling: flag.name for spelling, flag in BY_SPELLING.items()}
        raise UsageError(f"unknown flag {name!r}{nearest(name, BY_SPELLING, documented)}", see=HELP)
    return BY_SPELLING[name]


def split_list(value: str) -> list[str]:
    """At commas and blanks, but not between brackets: `Read,Bash(git log *)` holds two rules."""
    depth, parts = 0, [""]
    for mark in value:
        depth = max(depth + {"(": 1, ")": -1}.get(mark, 0), 0)
        if depth == 0 and (mark == "," or mark.isspace()):
            parts.append("")
        else:
            parts[-1] += mark
    return [part for part in parts if part]


def clean_text(word: str) -> str:
    """Bytes of a command line that are no UTF-8 come as half characters, which no request can carry."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def check_command(words: Sequence[str]) -> None:
    """Raises `UsageError` where the first word was meant as a command: a prompt is in quotes, or of several words."""
    word = words[0] if words else ""
    is_name = word.isascii() and word.islower() and word.replace("-", "").isalpha() and not word.startswith("-")
    if not is_name or (len(words) > 1 and word not in ELSEWHERE):
        return
    if f"--{word}" in MEANT_AS_FLAGS:
        raise UsageError(f"unknown command {word!r}; did you mean '--{word}'?", see=HELP)
    names = [command.name for command in COMMANDS]
    hint = nearest(word, names) or f" (there are: {', '.join(names)}); a prompt needs -p: everturn -p {word}"
    raise UsageError(f"unknown command {word!r}{hint}", see=HELP)


def _take_value(flag: Flag, name: str, attached: str | None, left: list[str]) -> Any:
    if flag.takes is Takes.NOTHING:
        if attached is not None:
            raise UsageError(f"{name} takes no value")
        return True
    if flag.takes is Takes.MAYBE_FILE:
        return attached or True
    if flag.takes is Takes.MAYBE_TEXT and attached is None and (not left or left[0] in BY_SPELLING):
        return True
    if attached is None:
        if not left or left[0] in BY_SPELLING:
            raise UsageError(f"{name} needs a value: {name} {flag.value}", see=HELP)
        attached = left.pop(0)
        # Other programs take one rule after the other: what is plainly one is no word of the prompt.
        while flag.takes is Takes.LIST and left and is_rule(left[0]):
            attached += f",{left.pop(0)}"
    return _parse_value(flag, name, attached)


def is_rule(word: str) -> bool:
    """`Bash(git log *)`: nobody means that as a prompt."""
    tool, bracket, rest = word.partition("(")
    return bool(bracket) and tool.isidentifier() and tool[0].isupper() and rest.endswith(")")


def _parse_value(flag: Flag, name: str, value: str) -> Any:
    match flag.takes:
        case Takes.WHOLE | Takes.NUMBER:
            try:
                return int(value) if flag.takes is Takes.WHOLE else float(value)
            except ValueError:
                raise UsageError(f"{name} must be a {flag.takes}, not {value[:60]!r}") from None
        case Takes.LIST:
            return split_list(value)
        case Takes.EACH:
            return [clean_text(value)]
        case _ if flag.choices and value not in flag.choices:
            allowed = ", ".join(flag.choices)
            raise UsageError(f"{name} must be one of {allowed}, not {value[:60]!r}{nearest(value, flag.choices)}")
        case Takes.TEXT | Takes.MAYBE_TEXT:
            return clean_text(value)
        case _:
            return value

"""From the words of a command line to flags with their values and what is left: one parser for all commands. Pure."""

from collections.abc import Iterable, Sequence
from typing import Any

from everturn.cli.errors import UsageError
from everturn.cli.syntax import Argument, Arguments, ProgramCommand
from everturn.settings.checks import nearest
from everturn.settings.declaration import Flag, Takes

END_OF_FLAGS = "--"
PROGRAM = "everturn"
REMIND_OF_QUOTES = "write the command in quotes"


def parse_arguments(
    words: Sequence[str], flags: Iterable[Flag], *, command: str = PROGRAM, hint: str = ""
) -> Arguments:
    """Raises `UsageError`. A flag given twice: lists are joined, otherwise the last one counts.

    `hint`: what is said of an unknown flag behind a word, to which it may belong.
    """
    known = {spelling: flag for flag in flags for spelling in flag.spellings}
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
        if name not in known:
            told = f"unknown flag {name!r}{_suggest_flag(name, known)}"
            raise UsageError(f"{told}; {hint}" if hint and rest else told, see=f"{command} --help")
        flag = known[name]
        value = _take_value(flag, name, attached if equals else None, left, known=known, see=f"{command} --help")
        given[flag.name] = [*given.get(flag.name, ()), *value] if flag.takes in {Takes.LIST, Takes.EACH} else value
    return Arguments(given=given, words=tuple(rest))


def parse_command(words: Sequence[str], command: ProgramCommand, title: str) -> Arguments:
    """The words behind a command. `title` is its whole name, such as `sessions list`. Raises `UsageError`."""
    if command.literal:
        arguments = Arguments(given={}, words=tuple(words))
    else:
        hint = REMIND_OF_QUOTES if any(argument.quoted for argument in command.arguments) else ""
        arguments = parse_arguments(words, command.all_flags, command=f"{PROGRAM} {title}", hint=hint)
    check_words(arguments.words, command, title)
    return arguments


def check_words(words: Sequence[str], command: ProgramCommand, title: str) -> None:
    """Raises `UsageError` where there are too few or too many of them, or one that is none of the choices."""
    see = f"{PROGRAM} {title} --help"
    form = f"this is how it is written: {PROGRAM} {title} {render_words(command)}"
    if words and not command.arguments:
        raise UsageError(f"{title} takes no words, only flags{_suggest_command(words[0], command)}", see=see)
    if len(words) < sum(argument.required for argument in command.arguments):
        raise UsageError(form, see=see)
    if len(words) > len(command.arguments) and not command.arguments[-1].many:
        last = command.arguments[-1]
        too_much = REMIND_OF_QUOTES if last.quoted else f"one {last.name.lower()} at a time"
        raise UsageError(f"{form}; {too_much}", see=see)
    for argument, word in zip(command.arguments, words, strict=False):
        if argument.choices and word not in argument.choices:
            raise UsageError(f"{form}, not {word[:60]!r}{nearest(word, argument.choices)}", see=see)


def render_words(command: ProgramCommand) -> str:
    """`SESSION TITLE…`: the words that it takes."""
    return command.form or " ".join(_render_argument(argument) for argument in command.arguments)


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


def is_rule(word: str) -> bool:
    """`Bash(git log *)`: nobody means that as a prompt."""
    tool, bracket, rest = word.partition("(")
    return bool(bracket) and tool.isidentifier() and tool[0].isupper() and rest.endswith(")")


def _render_argument(argument: Argument) -> str:
    name = f"{argument.name}…" if argument.many else argument.name
    return name if argument.required else f"[{name}]"


def _suggest_flag(name: str, known: dict[str, Flag]) -> str:
    """The documented spelling: other programs' spellings are understood, and not suggested."""
    return nearest(name, known, {spelling: flag.name for spelling, flag in known.items()})


def _suggest_command(word: str, command: ProgramCommand) -> str:
    if command.instead:
        import shlex

        return f"; did you mean: {command.instead} {shlex.quote(word)}"
    return f", not {word[:60]!r}{nearest(word, [flag.name for flag in command.flags])}"


def _take_value(
    flag: Flag, name: str, attached: str | None, left: list[str], *, known: dict[str, Flag], see: str
) -> Any:
    if flag.takes is Takes.NOTHING:
        if attached is not None:
            raise UsageError(f"{name} takes no value")
        return True
    if flag.takes is Takes.MAYBE_FILE:
        return attached or True
    if flag.takes is Takes.MAYBE_TEXT and attached is None and (not left or left[0] in known):
        return True
    if attached is None:
        if not left or left[0] in known:
            raise UsageError(f"{name} needs a value: {name} {flag.value}", see=see)
        attached = left.pop(0)
        # Other programs take one rule after the other: what is plainly one is no word of the prompt.
        while flag.takes is Takes.LIST and left and is_rule(left[0]):
            attached += f",{left.pop(0)}"
    return _parse_value(flag, name, attached)


def _parse_value(flag: Flag, name: str, value: str) -> Any:
    match flag.takes:
        case Takes.WHOLE | Takes.NUMBER:
            return _parse_number(flag, name, value)
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


def _parse_number(flag: Flag, name: str, value: str) -> int | float:
    least = "" if flag.least is None else f" of at least {flag.least}"
    try:
        number = int(value) if flag.takes is Takes.WHOLE else float(value)
    except ValueError:
        number = None
    if number is None or (flag.least is not None and number < flag.least):
        raise UsageError(f"{name} must be a {flag.takes}{least}, not {value[:60]!r}")
    return number

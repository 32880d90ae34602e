"""Takes wrappers off a command: strictly, to approve what is behind them, and loosely, to find what hides behind any runner."""

import re
from posixpath import basename

import msgspec

from everturn.permissions.shell.runners import EVALUATORS, READERS_OF_CODE, RENAMERS, RUNNERS, SHELLS, Runner
from everturn.permissions.shell.syntax import MARKS, SPLIT, UNKNOWN, Command, Word
from everturn.permissions.shell.wrappers import WRAPPERS, skip_wrapper

FROM_INPUT = Word(raw=UNKNOWN, value=None, template=UNKNOWN)
"""What `xargs` adds: nobody knows what."""
_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_SUBSTITUTED = re.compile(r"(?s)\[[^\]]*?(\$\(.*\)|`.*`)")
"""A substitution in a subscript."""
_BEFORE_SUBCOMMAND = Runner(valued="Cc")
_DEEPEST = 8
_MOST_WORDS = 64
_MOST_FOUND = 200


class Found(msgspec.Struct):
    """What hides behind runners: commands as lists of words, scripts as texts, and places where code comes from elsewhere."""

    commands: list[list[str]] = msgspec.field(default_factory=list)
    scripts: list[str] = msgspec.field(default_factory=list)
    murky: list[str] = msgspec.field(default_factory=list)


def strip_wrappers(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The command that wrappers would run; the same words when there are none, or when they are not plainly read."""
    for _ in range(_DEEPEST):
        name = words[0].raw
        if not words[0].plain:
            break
        if name == "xargs" and len(words) > 1 and not words[1].raw.startswith("-"):
            words = words[1:] if words[-1] is FROM_INPUT else (*words[1:], FROM_INPUT)
            continue
        wrapper = WRAPPERS.get(name)
        if wrapper is None:
            break
        texts = [word.raw if word.plain else "" for word in words[:_MOST_WORDS]]
        skipped = skip_wrapper(wrapper, texts)
        if skipped is None:
            break
        words = words[skipped:]
    return words


def find_inner(command: Command) -> Found:
    """Everything that this command may run, itself included."""
    found = Found()
    words = command.words
    if words[0].value is None or words[0].glob:
        found.murky.append(f"the command's name is not known before it runs: {words[0].raw[:60]}")
    argv = _spell(words)
    if argv:
        _look_behind(argv, words, found, 0)
    return found


def find_inner_words(argv: list[str]) -> list[list[str]]:
    """The same for words without a parser: leading assignments are skipped."""
    at = next((i for i, word in enumerate(argv) if not _is_assignment(word)), len(argv))
    found = Found()
    if argv[at:]:
        _look_behind(argv[at:], (), found, 0)
    return found.commands


def _spell(words: tuple[Word, ...]) -> list[str]:
    """The words as templates. The name loses its marks: what is left of it may be a name that is denied."""
    argv: list[str] = []
    for word in words:
        if SPLIT in word.template:
            argv.extend(word.template.split(SPLIT))
        elif not argv and word.brace:
            argv.extend(word.template.strip("{}").split(","))
        else:
            argv.append(word.template)
    argv[0] = argv[0].translate(MARKS)
    while len(argv) > 1 and not argv[0]:
        argv = argv[1:]
        argv[0] = argv[0].translate(MARKS)
    return argv if argv[0] else []


def _look_behind(argv: list[str], words: tuple[Word, ...], found: Found, depth: int) -> None:
    found.commands.append(argv)
    if depth >= _DEEPEST or len(found.commands) >= _MOST_FOUND:
        found.murky.append("runners behind runners")
        return
    name = basename(argv[0])
    if name == "find":
        for inner in _find_actions(argv):
            _look_behind(inner, words, found, depth + 1)
        return
    if name in READERS_OF_CODE:
        found.murky.append(f"{name} runs code from elsewhere")
        return
    if name in RENAMERS:
        found.murky.append(f"{name} changes what a command's name means")
        return
    if name in EVALUATORS:
        found.scripts.extend(script for word in argv[1:] for script in _SUBSTITUTED.findall(word))
        return
    if name == "command" and argv[1:2] in (["-v"], ["-V"]):
        return
    rest, runner = argv[1:], RUNNERS.get(name)
    if runner is None and len(argv) > 1:
        rest, runner = argv[2:], RUNNERS.get(f"{name} {argv[1]}")
    if runner is None:
        return
    _note_murk(name, rest, words, found)
    if runner.joined:
        found.scripts.append(" ".join(_skip(runner, rest)))
        return
    if runner.script and (script := _find_script(runner, rest)) is not None:
        found.scripts.append(script)
        if name != "flock":
            return
    added = [UNKNOWN] if name == "xargs" else []
    for inner in _candidates(runner, rest):
        _look_behind([*inner, *added], words, found, depth + 1)


def _note_murk(name: str, rest: list[str], words: tuple[Word, ...], found: Found) -> None:
    if name in SHELLS and all(word.startswith("-") and "c" not in word for word in rest):
        found.murky.append(f"{name} runs what it reads")
    if (name in SHELLS or name == "eval") and any(word.value is None for word in words[1:]):
        found.murky.append(f"{name} runs code that is not known before it runs")


def _find_actions(argv: list[str]) -> list[list[str]]:
    inner: list[list[str]] = []
    for at, word in enumerate(argv):
        if word in _ACTIONS:
            end = next((i for i in range(at + 1, len(argv)) if argv[i] in {";", "+"}), len(argv))
            if end > at + 1:
                inner.append(argv[at + 1 : end])
    return inner


def _find_script(runner: Runner, rest: list[str]) -> str | None:
    for at, word in enumerate(rest[:_MOST_WORDS]):
        if word.startswith("-") and not word.startswith("--") and runner.script in word:
            if not word.endswith(runner.script) and runner.script == "S":
                return word.partition("S")[2]
            operands = [other for other in rest[at + 1 :] if not other.startswith(("-", "+"))]
            return operands[0] if operands else None
        if word.startswith(("--split-string", "--command", "--call")):
            return word.partition("=")[2] or " ".join(rest[at + 1 : at + 2])
        if not word.startswith(("-", "+")) and runner.operands == 0:
            return None
    return None


def _skip(runner: Runner, rest: list[str]) -> list[str]:
    """Past options, assignments and operands."""
    at, operands = 0, runner.operands
    while at < len(rest):
        word = rest[at]
        if word == "--":
            at += 1
            break
        if word.startswith("-") and len(word) > 1:
            at += 2 if not word.startswith("--") and word[-1] in runner.valued and len(word) == len("-x") else 1
        elif _is_assignment(word):
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return rest[at:]


def skip_options(rest: list[str]) -> list[str]:
    """From the subcommand on, as far as options can be told from their values."""
    return _skip(_BEFORE_SUBCOMMAND, rest)


def _candidates(runner: Runner, rest: list[str]) -> list[list[str]]:
    """What may be the command; two readings where an option could have taken a word."""
    plain = _skip(runner, rest)
    inner = [plain] if plain else []
    skipped = rest[: len(rest) - len(plain)]
    if len(plain) > 1 and any(word.startswith("--") and "=" not in word and word != "--" for word in skipped):
        inner.append(plain[1:])
    return inner


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()

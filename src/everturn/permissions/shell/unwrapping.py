"""Takes wrappers off a command: strictly, to approve what is behind them, and loosely, to find what hides behind any runner."""

import re
from collections.abc import Iterator
from itertools import pairwise
from posixpath import basename

import msgspec

from everturn.permissions.shell.runners import (
    BEHIND_DASHES,
    CALLERS,
    EVALUATORS,
    LISTENERS,
    READERS_OF_CODE,
    RENAMERS,
    RUNNERS,
    SHELLS,
    Runner,
)
from everturn.permissions.shell.syntax import SPLIT, UNKNOWN, Command, Word, drop_marks, write_marks
from everturn.permissions.shell.wrappers import WRAPPERS, skip_wrapper

FROM_INPUT = Word(raw=UNKNOWN, value=None, template=UNKNOWN)
"""What `xargs` adds: nobody knows what."""
_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FROM_ELSEWHERE = ("/dev/", "/proc/")
_FROM_STDIN = re.compile(r"-[A-Za-z]*s[A-Za-z]*|/dev/(?:stdin|fd/.*)|/proc/.*/fd/.*")
_ACTIVATES = "/bin/activate"
"""Of an environment of Python: sourced every day, and no more than a program of the workspace."""
_BEFORE_SUBCOMMAND = Runner(
    valued="Cc",
    long=frozenset({
        "--git-dir", "--work-tree", "--namespace", "--config-env", "--prefix", "--registry", "--cwd", "--dir", "--context",
        "--kubeconfig", "--host", "--config", "--profile", "--region", "--project", "--workspace", "--filter",
    }),
)  # fmt: skip
_COMPOUND = frozenset({"{", "if", "while", "until", "for", "case", "[["})
_SHELL_OF_SUDO = frozenset({"-s", "-i", "--shell", "--login"})
_HAVE_SUBCOMMANDS = frozenset(name.partition(" ")[0] for name in RUNNERS if " " in name)
_DEEPEST = 8
_MOST_WORDS = 64
_MOST_FOUND = 200


class Found(msgspec.Struct):
    """What hides behind runners: commands as lists of words, scripts as texts, and places where code comes from elsewhere."""

    commands: list[list[str]] = msgspec.field(default_factory=list)
    scripts: list[str] = msgspec.field(default_factory=list)
    murky: list[str] = msgspec.field(default_factory=list)
    listens: bool = False
    """A shell is among them that runs what it reads."""
    open: frozenset[str] = frozenset()
    """Templates of the words that may become something else: by expansion, as a glob, in braces."""

    def is_open(self, template: str) -> bool:
        return UNKNOWN in template or template in self.open


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
    words = command.words
    found = Found(open=frozenset([word.template for word in words if word.varies]))
    if words[0].varies:
        found.murky.append(_unknown_name(words[0].raw))
    argv = _spell(words)
    if argv:
        _look_behind(argv, found, 0)
    return found


def find_inner_words(argv: list[str]) -> Found:
    """The same for words without a parser: leading assignments are skipped."""
    at = next((i for i, word in enumerate(argv) if not _is_assignment(word)), len(argv))
    found = Found()
    if argv[at:]:
        _look_behind(argv[at:], found, 0)
    return found


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
    argv[0] = drop_marks(argv[0])
    while len(argv) > 1 and not argv[0]:
        argv = argv[1:]
        argv[0] = drop_marks(argv[0])
    return argv if argv[0] else []


def _unknown_name(name: str) -> str:
    return f"the command's name is not known before it runs: {write_marks(name)[:60]}"


def _look_behind(argv: list[str], found: Found, depth: int) -> None:
    found.commands.append(argv)
    if depth and (found.is_open(argv[0]) or argv[0].startswith("-")):
        found.murky.append(_unknown_name(argv[0]))
    if depth >= _DEEPEST or len(found.commands) >= _MOST_FOUND:
        found.murky.append("runners behind runners")
        return
    name = basename(argv[0])
    if name == "find":
        for inner in _find_actions(argv):
            _look_behind(inner, found, depth + 1)
        return
    if name in READERS_OF_CODE:
        if not argv[1:2] or not argv[1].endswith(_ACTIVATES):
            found.murky.append(f"{name} runs code from elsewhere")
            found.listens = any(_FROM_STDIN.fullmatch(word) for word in argv[1:2])
        return
    if name in RENAMERS:
        found.murky.append(f"{name} changes what a command's name means")
        return
    if name in CALLERS:
        found.scripts.extend(_find_called(CALLERS[name], argv))
    if name in EVALUATORS:
        found.scripts.extend(script for word in argv[1:] for script in _find_in_subscript(word))
        return
    if name == "command" and argv[1:2] in (["-v"], ["-V"]):
        return
    if name == "git":
        # An alias that is a script: `-c alias.x='!..'`.
        found.scripts.extend(word.partition("=!")[2] for word in argv[1:] if "=!" in word)
    rest, runner = argv[1:], RUNNERS.get(name)
    found.listens = found.listens or name in LISTENERS or (name == "sudo" and not _SHELL_OF_SUDO.isdisjoint(rest))
    if name in BEHIND_DASHES and "--" in rest[:-1]:
        _look_behind(rest[rest.index("--") + 1 :], found, depth + 1)
        return
    if runner is None and name in _HAVE_SUBCOMMANDS and (subcommand := skip_options(rest)):
        rest, runner = subcommand[1:], RUNNERS.get(f"{name} {subcommand[0]}")
    if runner is None:
        return
    if name in SHELLS or name == "eval":
        _note_murk(name, rest, found)
    if runner.joined:
        found.scripts.append(" ".join(_skip(runner, rest)))
        return
    if runner.script and (script := _find_script(runner, rest)) is not None:
        found.scripts.append(script)
        if name in SHELLS:
            return
    for inner in _candidates(runner, rest):
        command = _mark_input(rest, inner) if name == "xargs" else inner
        _look_behind(command, found, depth + 1)


def _find_called(letters: str, argv: list[str]) -> Iterator[str]:
    """`mapfile -C cmd`, `-Ccmd`, `-tC cmd`: the value of such an option."""
    for word, following in pairwise([*argv[1:_MOST_WORDS], ""]):
        cut = re.match(rf"-[A-Za-z]*?[{letters}]", word)
        if cut:
            yield word[cut.end() :] or following


def _find_in_subscript(word: str) -> Iterator[str]:
    """`a[$(id)]`: the substitution."""
    _, bracket, rest = word.partition("[")
    for opening, closing in (("$(", ")"), ("`", "`")):
        start, end = rest.find(opening), rest.rfind(closing)
        if bracket and 0 <= start < end:
            yield rest[start : end + 1]


def _note_murk(name: str, rest: list[str], found: Found) -> None:
    """Of a shell or `eval`: what it runs may be neither in the line nor in a file."""
    words = rest[:_MOST_WORDS]
    if name in SHELLS and (
        all(word.startswith("-") and "c" not in word for word in words)
        or any(_FROM_STDIN.fullmatch(word) for word in words)
    ):
        found.murky.append(f"{name} runs what it reads")
        found.listens = True
    if any(word.startswith(_FROM_ELSEWHERE) or found.is_open(word) for word in dict.fromkeys(rest)):
        found.murky.append(f"{name} runs code that is not known before it runs")


def _mark_input(options: list[str], inner: list[str]) -> list[str]:
    """What `xargs` runs: what it reads stands at the end, or in the place of a word of its own (`-I{}`)."""
    for at, word in enumerate(options[: len(options) - len(inner)]):
        if word.startswith(("-I", "-i", "--replace")):
            joined = word.partition("=")[2] if word.startswith("--") else word[2:]
            placeholder = joined or (options[at + 1] if word == "-I" else "{}")
            return [each.replace(placeholder, UNKNOWN) for each in inner]
    return [*inner, UNKNOWN]


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
            return next((other for other in rest[at + 1 :] if not other.startswith(("-", "+"))), None)
        if word.startswith(("--split-string", "--command", "--call", "--run")):
            return word.partition("=")[2] or " ".join(rest[at + 1 : at + 2])
    return None


def _skip(runner: Runner, rest: list[str]) -> list[str]:
    """Past options, assignments and operands."""
    at, operands = 0, runner.operands
    while at < min(len(rest), _MOST_WORDS):
        word = rest[at]
        if word == "--":
            at += 1
            break
        if word.startswith("-") and len(word) > 1:
            at += 2 if word in runner.long or _takes_next(word, runner.valued) else 1
        elif _is_assignment(word):
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return rest[at:]


def _takes_next(word: str, valued: str) -> bool:
    """The last letter of a cluster takes a value, and none before it has: `-u`, `-iu`, but not `-n1`."""
    if word.startswith("--"):
        return False
    first = next((at for at, letter in enumerate(word) if letter in valued), -1)
    return first == len(word) - 1


def skip_options(rest: list[str]) -> list[str]:
    """From the subcommand on, as far as options can be told from their values."""
    return _skip(_BEFORE_SUBCOMMAND, rest)


def _candidates(runner: Runner, rest: list[str]) -> list[list[str]]:
    """What may be the command; two readings where an option could have taken a word."""
    plain = _skip(runner, rest)
    inner = [plain] if plain else []
    skipped = rest[: len(rest) - len(plain)]
    takes_word = any(word.startswith("--") and "=" not in word and word != "--" for word in skipped)
    if len(plain) > 1 and (takes_word or (runner.named and plain[1] in _COMPOUND)):
        inner.append(plain[1:])
    return inner


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()

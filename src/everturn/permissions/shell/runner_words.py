"""The words of a runner: which of them are its own, and where the command or the script begins that it runs."""

import re
from collections.abc import Iterator
from itertools import pairwise

from everturn.permissions.shell.runners import Runner
from everturn.permissions.shell.syntax import UNKNOWN

MOST_WORDS = 64
"""So many are looked at for options."""
_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_COMPOUND = frozenset({"{", "if", "while", "until", "for", "case", "[["})
_BEFORE_SUBCOMMAND = Runner(
    valued="Cc",
    long=frozenset({
        "--git-dir", "--work-tree", "--namespace", "--config-env", "--prefix", "--registry", "--cwd", "--dir", "--context",
        "--kubeconfig", "--host", "--config", "--profile", "--region", "--project", "--workspace", "--filter",
    }),
)  # fmt: skip


def skip_options(rest: list[str]) -> list[str]:
    """From the subcommand on, as far as options can be told from their values."""
    return skip_own(_BEFORE_SUBCOMMAND, rest)


def skip_own(runner: Runner, rest: list[str]) -> list[str]:
    """Past options, assignments and operands."""
    at, operands = 0, runner.operands
    while at < min(len(rest), MOST_WORDS):
        word = rest[at]
        if word == "--":
            at += 1
            break
        if word.startswith("-") and len(word) > 1:
            at += 2 if word in runner.long or _takes_next(word, runner.valued) else 1
        elif is_assignment(word):
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


def is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def find_commands(runner: Runner, rest: list[str]) -> list[list[str]]:
    """What may be the command; two readings where an option could have taken a word."""
    plain = skip_own(runner, rest)
    inner = [plain] if plain else []
    skipped = rest[: len(rest) - len(plain)]
    takes_word = any(word.startswith("--") and "=" not in word and word != "--" for word in skipped)
    if len(plain) > 1 and (takes_word or (runner.named and plain[1] in _COMPOUND)):
        inner.append(plain[1:])
    return inner


def find_script(runner: Runner, rest: list[str]) -> str | None:
    """The value of the option that takes one."""
    for at, word in enumerate(rest[:MOST_WORDS]):
        if word.startswith("-") and not word.startswith("--") and runner.script in word:
            if not word.endswith(runner.script) and runner.script == "S":
                return word.partition("S")[2]
            return next((other for other in rest[at + 1 :] if not other.startswith(("-", "+"))), None)
        if word.startswith(("--split-string", "--command", "--call", "--run")):
            return word.partition("=")[2] or " ".join(rest[at + 1 : at + 2])
    return None


def find_called(letters: str, argv: list[str]) -> Iterator[str]:
    """`mapfile -C cmd`, `-Ccmd`, `-tC cmd`: the value of such an option."""
    for word, following in pairwise([*argv[1:MOST_WORDS], ""]):
        cut = re.match(rf"-[A-Za-z]*?[{letters}]", word)
        if cut:
            yield word[cut.end() :] or following


def find_git_aliases(rest: list[str]) -> Iterator[list[str]]:
    """`git -c alias.p=push p x` runs `git push x`."""
    for word, following in pairwise(rest[:MOST_WORDS]):
        name, _, value = following.partition("=")
        if word == "-c" and name.lower().startswith("alias.") and value and not value.startswith("!"):
            yield ["git", *value.split(), *skip_options(rest)[1:]]


def find_actions(argv: list[str]) -> list[list[str]]:
    """Of `find`: each command behind an `-exec`."""
    inner: list[list[str]] = []
    for at, word in enumerate(argv):
        if word in _ACTIONS:
            end = next((i for i in range(at + 1, len(argv)) if argv[i] in {";", "+"}), len(argv))
            if end > at + 1:
                inner.append(argv[at + 1 : end])
    return inner


def mark_input(options: list[str], inner: list[str]) -> list[str]:
    """What `xargs` runs: what it reads stands at the end, or in the place of a word of its own (`-I{}`)."""
    for at, word in enumerate(options[: len(options) - len(inner)]):
        if word.startswith(("-I", "-i", "--replace")):
            joined = word.partition("=")[2] if word.startswith("--") else word[2:]
            placeholder = joined or (options[at + 1] if word == "-I" else "{}")
            return [each.replace(placeholder, UNKNOWN) for each in inner]
    return [*inner, UNKNOWN]

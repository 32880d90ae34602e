"""The words of a runner: which of them are its own, and where the command or the script begins that it runs."""

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from shlex import quote

from everturn.permissions.shell.reading.syntax import UNKNOWN
from everturn.permissions.shell.running.option_values import OptionNames, abbreviates, find_options, find_values
from everturn.permissions.shell.running.runners import Runner

MAX_WORDS = 64
"""So many are looked at for options."""
_MAX_DOUBTFUL = 6
_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_COMPOUND = frozenset({"{", "if", "while", "until", "for", "case", "[["})
_BEFORE_SUBCOMMAND = Runner(
    valued="Cc",
    long=(
        "--git-dir", "--work-tree", "--namespace", "--config-env", "--prefix", "--registry", "--cwd", "--dir", "--context",
        "--kubeconfig", "--host", "--config", "--profile", "--region", "--project", "--workspace", "--filter",
    ),
)  # fmt: skip
_REPLACES = OptionNames(letters="Ii", names=("--replace",), valued="IEnLPsda")
_SEPARATE = "\0"
"""Stands for a value that is a word of its own."""


def skip_options(rest: list[str]) -> list[str]:
    """From the subcommand on, as far as options can be told from their values."""
    return skip_own(_BEFORE_SUBCOMMAND, rest)


def skip_own(runner: Runner, rest: list[str], *, script: str = "") -> list[str]:
    """Past options, assignments and operands. `script`: more letters that take a value."""
    at, operands = 0, runner.operands
    valued = runner.valued + script
    while at < min(len(rest), MAX_WORDS):
        word = rest[at]
        if word == "--":
            at += 1
            break
        if word.startswith("-") and len(word) > 1:
            at += 2 if _takes_next(word, valued) or _is_long(word, runner) else 1
        elif is_assignment(word):
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return rest[at:]


def _is_long(word: str, runner: Runner) -> bool:
    """A long option that has no value yet, in as many letters as anybody may give it."""
    return "=" not in word and any(abbreviates(word, name) for name in (*runner.long, *runner.scripts))


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
    """What may be the command: one reading more for each option that could have taken a word."""
    plain = skip_own(runner, rest, script=runner.script)
    skipped = rest[: len(rest) - len(plain)]
    doubtful = sum(
        word.startswith("--") and "=" not in word and not _is_long(word, runner) for word in skipped if word != "--"
    )
    readings = 1 + min(doubtful, _MAX_DOUBTFUL)
    if runner.named and len(plain) > 1 and plain[1] in _COMPOUND:
        readings += 1
    return [plain[at:] for at in range(readings) if plain[at:]]


def find_scripts(runner: Runner, rest: list[str]) -> Iterator[str]:
    """The values of the options that take one."""
    own = rest[: len(rest) - len(skip_own(runner, rest, script=runner.script))]
    options = OptionNames(letters=runner.script, names=runner.scripts, valued=runner.valued + runner.script)
    yield from find_values(own, options)


def find_split(rest: list[str]) -> Iterator[str]:
    """`env -S 'rm -f' x`: the words that follow belong to what was split."""
    options = OptionNames(letters="S", names=("--split-string",), valued="SuCa")
    for inner in islice(find_behind(options, rest), 1):
        yield " ".join([inner[0].replace("\\_", " "), *map(quote, inner[1:])])


def find_script_of_shell(rest: list[str]) -> Iterator[str]:
    """`-c` is a flag: the script is the first word that no option has taken."""
    words = rest[:MAX_WORDS]
    at = next((at for at, word in enumerate(words) if word[:1] == "-" and word[:2] != "--" and "c" in word), None)
    if at is None:
        return
    taken = sum(word.count("o") + word.count("O") for word in words if word[:1] in {"-", "+"} and word[:2] != "--")
    yield from islice((word for word in words[at + 1 :] if not word.startswith(("-", "+"))), 1 + taken)


def find_behind(options: OptionNames, rest: list[str]) -> Iterator[list[str]]:
    """What begins with the value of such an option and goes on to the end."""
    for at, word in enumerate(rest[:MAX_WORDS]):
        for _, value in find_options([word, _SEPARATE], options):
            inner = rest[at + 1 :] if value == _SEPARATE else [value, *rest[at + 1 :]]
            if inner:
                yield inner


def find_called(letters: str, argv: list[str]) -> Iterator[str]:
    """`mapfile -C cmd`, `-Ccmd`, `-tC cmd`: the value of such an option."""
    for word, following in pairwise([*argv[1:MAX_WORDS], ""]):
        cut = re.match(rf"-[A-Za-z]*?[{letters}]", word)
        if cut:
            yield word[cut.end() :] or following


def find_git_aliases(rest: list[str]) -> Iterator[list[str]]:
    """`git -c alias.p=push p x` runs `git push x`."""
    for word, following in pairwise(rest[:MAX_WORDS]):
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
    own = options[: len(options) - len(inner)]
    given = list(find_options(own, _REPLACES))
    if given:
        # Of `-i` and `--replace`, the value may be left out.
        placeholders = [value for _, value in given if value] + ["{}"] * any(option != "-I" for option, _ in given)
        for placeholder in dict.fromkeys(placeholders):
            inner = [each.replace(placeholder, UNKNOWN) for each in inner]
        return inner
    return [*inner, UNKNOWN]

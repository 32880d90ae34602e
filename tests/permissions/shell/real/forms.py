"""Ways to write a program's options beside words that are files, values or options, depending on who reads them."""

from everturn.permissions.shell.readonly.awk import AWK
from everturn.permissions.shell.readonly.judge import DATE
from everturn.permissions.shell.readonly.options import Arity, Operands
from everturn.permissions.shell.readonly.sed import SED
from everturn.permissions.shell.readonly.tables import TABLES

FILES = ("1", "2", "3")
"""Names of files that are numbers, too: what takes a number takes them."""
NAMES = (*FILES, "always", "never", "none", "name", "path", "size", "all", "short", "si", "d", "x")
OUTSIDE = ("../c1", "../c2")
HOSTILE = (
    "--output=../w", "--pre=./evil", "-o../w", "--compress-program=./evil", "--ext-diff", "-O../c1", "--open-files-in-pager=./evil",
    "--files0-from=../c1", "-f../c1", "--in-place", "-1", "@1",
)  # fmt: skip
BEFORE = {"cut": ("-f1",), "sed": ("-e", "p")}
"""Words without which a program does nothing."""
SET_CLOCK = frozenset(DATE.options)
"""Options of `date`: an operand would set it."""
SHELL_OWN = frozenset({"type", ":", "break", "continue", "exit", "pwd", "true", "false"})
OWN_TABLES = {
    **{name: table for name, table in TABLES.items() if name not in SHELL_OWN},
    "sed": SED,
    "awk": AWK,
    "date": DATE,
}


def write_forms(table, files, *, every):
    """For each option the words in which it might be misread."""
    valued = [name for name, arity in table.options.items() if arity is Arity.NEEDED]
    others = [valued[0], valued[-1]] if valued else []
    one, two = files[:2]
    pattern = ("x",) if table.operands is Operands.PATTERN else ()
    for option, arity in table.options.items():
        if every or table.operands is Operands.NONE or table.most or option in SET_CLOCK:
            yield (option,)
            yield (option, one)
            yield (joined(option, one),)
        yield (*pattern, option, one, two)
        if every or arity is not Arity.NONE:
            yield (joined(option, one), *pattern, two)
        yield from ((option, other, one, *pattern, two) for other in others[: None if every else 1])
        if arity is Arity.NEEDED:
            yield from ((option, hostile, *pattern, one) for hostile in HOSTILE[: None if every else 2])
        if every:
            yield (*pattern, one, option, two)
            yield (option, "--", *pattern, one, "-2")
            yield (option, "-", *pattern, one)
            yield from ((f"{flag}{option[1:]}", one, *pattern, two) for flag in flags_of(table) if len(option) == 2)


def flags_of(table):
    return [name for name, arity in table.options.items() if arity is Arity.NONE and len(name) == 2][:3]


def joined(option, value):
    return f"{option}={value}" if option.startswith("--") else f"{option}{value}"


def write_randomly(random, table, files):
    """Some words of each kind, in any order."""
    options = [*table.options, *sorted(table.words)]
    words = []
    for _ in range(random.randint(1, 6)):
        value = random.choice(files)
        option = random.choice(options) if options else "-"
        kinds = [option, option, joined(option, value), value, random.choice(HOSTILE), "--", "-"]
        words.append(random.choices(kinds, (4, 4, 2, 4, 2, 0.4, 0.3))[0])
    return tuple(words)


def name_git(name):
    """The words that lead to one of git's tables."""
    return ("git", *name.split())

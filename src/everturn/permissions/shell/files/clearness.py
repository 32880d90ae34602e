"""Whether everything that a line opens stands in it: rules about files ask about what is not clear.

A part is clear where the name of its command is fixed, where no text is evaluated that is not seen, and where no variable or option is set
that changes how bash reads the rest. A program that is run by its name may open what it likes: that is not for a reader of lines to see.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from posixpath import basename

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.assignments import CODE_VARIABLES
from everturn.permissions.shell.reading.evaluation import Reader
from everturn.permissions.shell.reading.syntax import UNKNOWN, Command, Expansion, Reading, Word
from everturn.permissions.shell.reading.wrappers import strip_wrappers
from everturn.permissions.shell.running.runners import EVALUATORS, READERS_OF_CODE, SHELLS
from everturn.permissions.shell.running.scripts import is_interpreter
from everturn.permissions.shell.running.survey import Survey

_SHOWN = 60
_HARMLESS_CODE = frozenset({"ENV"})
"""Only a shell that somebody types into runs the file that it names: as a name of a file it is looked at elsewhere."""
_NAME = compile_late(r"[A-Za-z_]\w*")
_SET = compile_late(r"([A-Za-z_]\w*)(?:\+?=.*)?", re.DOTALL)
_SPLITS = compile_late(r"[\s*?\[]")
_SUBSCRIPT = compile_late(r"[A-Za-z_]\w*\[(?![@*]\]|-?[0-9]+\])")
_TESTS = frozenset({"test", "[", "[["})
_ASK_FOR = frozenset({"-p", "-t", "-d", "-n", "-N", "-u", "-i"})
"""Of `read`: what follows is no name."""
_EVALUATES = compile_late(r"-[a-zA-Z]*[in]")
"""Of `declare`: the value is arithmetic, or the name of another variable."""
_DECLARERS = frozenset({"declare", "typeset", "local", "readonly", "export"})
_SHOPT = frozenset(
    {
        "nullglob",
        "globstar",
        "failglob",
        "dotglob",
        "nocaseglob",
        "nocasematch",
        "inherit_errexit",
        "-s",
        "-u",
        "-q",
        "-p",
    }
)
_SET_LETTERS = compile_late(r"[-+][eufxvCbh]*o?")
_SET_NAMES = frozenset(
    {"errexit", "nounset", "pipefail", "noglob", "xtrace", "verbose", "noclobber", "errtrace", "functrace"}
)
_SIGNALS = compile_late(r"(?:SIG)?(?:EXIT|INT|TERM|HUP|QUIT|PIPE|USR[12]|CHLD|WINCH)|[0-9]+|-|-[lp]")
_SHELL_OPTIONS = compile_late(r"[-+][A-Za-z]*O|--(?:rcfile|init-file)")
_SAID = compile_late(r"[^%\\]*(?:\\n)?")
"""What `printf` prints as it is."""
_WITH_CODE = compile_late(
    r"-[A-Za-z]*[cemprEn].*|--(?:eval|print|version|help|expression|quiet|silent).*|-[vVhs]|-[0-9].*"
)
_STDIN = compile_late(r"-|(?:-[A-Za-z]*f|@|--[a-z0-9-]*=)?(?:-|/dev/stdin|/dev/fd/.*|/proc/.*)")
_COMMANDED = frozenset({
    "sqlite3", "ed", "ex", "vi", "vim", "nvim", "gdb", "lldb", "m4", "lftp", "sftp", "psql", "mysql", "cpio", "pax", "expect", "gnuplot", "parallel",
})  # fmt: skip
"""They obey what they read, or open the files that it names."""
_ARCHIVERS = frozenset({"cpio", "pax"})
_OBEY = frozenset({"at", "batch", "script", "tclsh", "dc"})
_MAKERS = frozenset({"make", "gmake"})
_MAKEFILE = compile_late(r"-|(?:-[A-Za-z]*f|--[a-z]+=)?(?:-|/dev/stdin|/dev/fd/.*|/proc/.*)")
_LISTS_FILES = compile_late(r"--files0?-from.*|--from-file.*|--arg-file.*|-K.*|--config.*|-T|--input-file.*")


def find_unclear(survey: Survey, home: str, set_names: frozenset[str]) -> str:
    """Why files may be opened that nobody can see beforehand; empty where everything is clear.

    `set_names`: variables that the line or an earlier one may have set.
    """
    return next(_list_unclear(survey, home, set_names), "")


def _list_unclear(survey: Survey, home: str, set_names: frozenset[str]) -> Iterator[str]:
    if survey.reading.broken:
        yield f"not understood: {next(iter(survey.reading.unsure), 'the line')}"
    yield from survey.unseen
    for name in sorted(set_names & CODE_VARIABLES - _HARMLESS_CODE):
        yield f"{name} names code that runs"
    for reading in survey.readings:
        if "IFS" in _list_staying(reading):
            yield "IFS changes which words the line has"
        if reading.broken:
            yield "a script that is not understood"
        yield from (f"not understood: {why}" for why in reading.unclear)
        for command in reading.commands:
            yield from _list_unclear_in(command, home)
    for candidate in survey.candidates:
        if candidate.argv[0] in READERS_OF_CODE and "PATH" in set_names and "/" not in "".join(candidate.argv[1:2]):
            yield f"{candidate.argv[0]} looks for its file by a PATH that was set"
        if (
            candidate.source is not None
            and reads_code(candidate.argv)
            and not _is_fed_plainly(candidate.source, survey.readings)
        ):
            yield f"{basename(candidate.argv[0])} runs what it reads"


def find_obedience(survey: Survey) -> str:
    """A program takes commands or code from a pipe, and what comes through it does not stand in the line; empty where none does."""
    for candidate in survey.candidates:
        if candidate.source is None or not _obeys(candidate.argv) or _is_fed_plainly(candidate.source, survey.readings):
            continue
        return f"{basename(candidate.argv[0])} runs what it reads"
    return ""


def _obeys(argv: tuple[str, ...]) -> bool:
    name, words = basename(argv[0]), argv[1:]
    if name in _MAKERS:
        return any(map(_MAKEFILE.fullmatch, words))
    if name == "parallel":
        # With a command, what it reads are words for it.
        return all(word.startswith("-") for word in words)
    if name in SHELLS or (is_interpreter(name) and name not in _OBEY):
        return reads_code(argv)
    return name in _OBEY or name in _COMMANDED - _ARCHIVERS


def list_set_names(survey: Survey) -> frozenset[str]:
    """Variables that the line may set, in whatever way: also all words that could be one's name."""
    names = {name for reading in survey.readings for name in reading.own_names}
    for reading in survey.readings:
        for command in reading.commands:
            names.update(each.name for each in command.assignments)
            names.update(found[1] for word in command.words[1:] if (found := _SET.fullmatch(word.template)))
    return frozenset(names)


def _list_staying(reading: Reading) -> Iterator[str]:
    """Variables that are set for more than one `read`."""
    yield from reading.own_names
    for command in reading.commands:
        yield from (found[1] for word in command.words[1:] if (found := _SET.fullmatch(word.template)))
        if command.words[0].template != "read":
            yield from (each.name for each in command.assignments)


def _list_unclear_in(command: Command, home: str) -> Iterator[str]:
    words = strip_wrappers(command.words)
    if words[0].varies and not _is_known_name(words[0], Reader(command.scope, command.here, home)):
        yield f"the command's name is not known before it runs: {words[0].raw[:_SHOWN]}"
    name, rest = words[0].template, [word.template for word in words[1:]]
    if name in EVALUATORS and _sets_unknown(name, rest):
        yield f"{name} may evaluate what is not known before it runs"
    elif name == "shopt" and not _SHOPT.issuperset(rest):
        yield "shopt changes how the line is read"
    elif name == "set" and not _is_plain_set(rest):
        yield "set changes how the line is read"
    elif name == "trap" and not all(map(_SIGNALS.fullmatch, rest[1:])):
        yield "trap runs something between the commands"
    elif name in {"fc", "let"}:
        yield f"{name} runs text that is not in the line"
    elif basename(name) in SHELLS and any(map(_SHELL_OPTIONS.match, rest)):
        yield f"an option changes how {name} reads"


def _is_known_name(word: Word, reader: Reader) -> bool:
    """It becomes one text, or a path whose last name is written: `$PY -m x`, `"$VENV/bin/python"`."""
    if word.glob or word.brace or word.unsure:
        return False
    is_whole = all(isinstance(part, str) or part.quoted for part in word.parts)
    last = word.template.rpartition(UNKNOWN)[2]
    if is_whole and UNKNOWN in word.template and "/" in last and basename(last):
        return True
    value = reader.evaluate(word)
    if value.anything or value.number or value.folders or len(value.texts) != 1:
        return False
    return "" not in value.texts and (is_whole or not any(map(_SPLITS.search, value.texts)))


def _sets_unknown(name: str, rest: list[str]) -> bool:
    """A name is not known, or holds a subscript that is evaluated; or the value is."""
    if any(map(_SUBSCRIPT.match, rest)):
        return True
    if name in _TESTS:
        looked = [after for word, after in itertools.pairwise(rest) if word in {"-v", "-R"}]
        return not all(map(_NAME.fullmatch, looked))
    if name == "printf":
        return any(word.startswith("-v") and not _NAME.fullmatch(after) for word, after in itertools.pairwise(rest))
    if name in _DECLARERS and any(map(_EVALUATES.match, rest)):
        return True
    before = ["", *rest]
    return any(UNKNOWN in word.partition("=")[0] and before[at] not in _ASK_FOR for at, word in enumerate(rest))


def _is_plain_set(rest: list[str]) -> bool:
    for at, word in enumerate(rest):
        if word in {"--", "-"}:
            return True
        if not word.startswith(("-", "+")):
            return at == 0 or rest[at - 1][-1:] != "o" or word in _SET_NAMES
        if not _SET_LETTERS.fullmatch(word) or (
            word.endswith("o") and rest[at + 1 : at + 2] and rest[at + 1] not in _SET_NAMES
        ):
            return False
        if word.endswith("o"):
            return _is_plain_set(rest[at + 2 :])
    return True


def reads_code(argv: tuple[str, ...]) -> bool:
    """What it reads from its input are commands, code, or names of files."""
    name, words = basename(argv[0]), argv[1:]
    if name in _COMMANDED or any(map(_LISTS_FILES.fullmatch, words)):
        return True
    if name in SHELLS:
        return all(word.startswith("-") and "c" not in word for word in words) or any(map(_is_stdin_of_shell, words))
    if not is_interpreter(name):
        return False
    return any(map(_STDIN.fullmatch, words)) or all(
        word.startswith("-") and not _WITH_CODE.fullmatch(word) for word in words
    )


def _is_stdin_of_shell(word: str) -> bool:
    return _STDIN.fullmatch(word) is not None or (word.startswith("-") and not word.startswith("--") and "s" in word)


def list_fed(survey: Survey) -> tuple[str, ...]:
    """Texts that programs of the line may read: heredocs, here-strings, and what is said into pipes, as it is written."""
    said = (say_plainly(command) for reading in survey.readings for command in reading.commands)
    return (*survey.fed, *(text for text in said if text))


def say_plainly(command: Command) -> str:
    """What a command prints that prints its words; empty where that is not plain."""
    words = [word.fixed for word in strip_wrappers(command.words)]
    if None in words or words[0] not in {"echo", "printf"} or len(words) == 1:
        return ""
    texts = [word or "" for word in words[1:]]
    if words[0] == "printf":
        return texts[0] if len(texts) == 1 and _SAID.fullmatch(texts[0]) else ""
    texts = texts[1:] if texts[0] == "-n" else texts
    return "" if texts[:1] and texts[0].startswith("-") else " ".join(texts)


def _is_fed_plainly(command: Command, readings: Iterable[Reading]) -> bool:
    """Its input stands in the line, or in a file that the line names."""
    reading = next((each for each in readings if command in each.commands), None)
    if reading is None:
        return False
    inputs = [each.target for each in reading.redirects if each.operator.startswith("<") and each.target is not None]
    if any(target.fixed is None or target.fixed.startswith(("/dev/", "/proc/")) for target in inputs):
        return False
    if any(isinstance(part, Expansion) and part.is_pipe for word in command.words for part in word.parts):
        return False
    if command not in reading.piped:
        return True
    before = next((pipe[: pipe.index(command)] for pipe in reading.pipes if command in pipe), ())
    return len(before) == 1 and bool(say_plainly(before[0]))

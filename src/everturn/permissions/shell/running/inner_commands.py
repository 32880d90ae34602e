"""Finds the command behind any runner, with loose rules: for deny rules, never to approve."""

from collections.abc import Iterator
from posixpath import basename
from shlex import quote

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.assignments import CODE_VARIABLES
from everturn.permissions.shell.reading.syntax import SPLIT, UNKNOWN, Command, Word, drop_marks, write_marks
from everturn.permissions.shell.running.option_values import OptionNames
from everturn.permissions.shell.running.runner_words import (
    MAX_WORDS,
    find_actions,
    find_behind,
    find_called,
    find_commands,
    find_git_aliases,
    find_script_of_shell,
    find_scripts,
    find_split,
    is_assignment,
    mark_input,
    skip_options,
    skip_own,
)
from everturn.permissions.shell.running.runners import (
    BEHIND,
    CALLERS,
    EVALUATORS,
    LISTENERS,
    READERS_OF_CODE,
    RENAMERS,
    RUNNERS,
    SHELLS,
    Runner,
)
from everturn.permissions.shell.running.scripts import find_option_scripts, is_interpreter

_FROM_ELSEWHERE = ("/dev/", "/proc/")
_FROM_STDIN = compile_late(r"-[A-Za-z]*s[A-Za-z]*|/dev/(?:stdin|fd/.*)|/proc/.*/fd/.*")
_ACTIVATES = "/bin/activate"
"""Of an environment of Python: sourced every day, and no more than a program of the workspace."""
_TO_SHELL = frozenset({"--", "=="})
"""Of `capsh`: what follows are words for a shell."""
_LOADER = compile_late(r"ld(?:-linux[\w.-]*|-musl[\w.-]*|\.so[\d.]*|-[\d.]+\.so)")
"""The loader of programs starts the one that it is given."""
_MAKEFILE_FROM_STDIN = compile_late(
    r"-|-[A-Za-z]*f(?:-|/dev/.*|/proc/.*)|/dev/(?:stdin|fd/.*)|/proc/.*/fd/.*|--[a-z]+=(?:-|/dev/.*)"
)
_EXEC = OptionNames(letters="xX", names=("--exec", "--exec-batch"), valued="xXedtEcSo")
_RUN_REST = {
    "fd": _EXEC,
    "fdfind": _EXEC,
    "start-stop-daemon": OptionNames(letters="xa", names=("--exec", "--startas"), valued="xapunsrgkdcPIN"),
    "just": OptionNames(letters="c", names=("--command",), valued="cfd"),
}
"""Options whose value begins a command that goes on to the end."""
_SHELL_OF_SUDO = frozenset({"-s", "-i", "--shell", "--login"})
_HAVE_SUBCOMMANDS = frozenset(name.partition(" ")[0] for name in RUNNERS if " " in name)
_BUILTINS = READERS_OF_CODE | RENAMERS | EVALUATORS
"""They run no words."""
_ELSEWHERE = frozenset(
    {"ssh", "chroot", "docker", "podman", "docker-compose", "su", "runuser", "nsenter", "proot", "git"}
)
_MOVES = compile_late(r"-[A-Za-z]*[CDwd]|--[a-z-]*(?:dir|wd|cwd|work|root|login|prefix)|-i$|-$")
"""Options by which runners go to another folder, as far as anybody knows them all."""
_SEPARATOR = "\x1f"
_MAX_DEPTH = 8
_MAX_FOUND = 200


class InnerCommands(msgspec.Struct):
    """What hides behind runners: commands as lists of words, scripts as texts, and places where code comes from elsewhere."""

    commands: list[list[str]] = msgspec.field(default_factory=list)
    scripts: list[str] = msgspec.field(default_factory=list)
    murky: list[str] = msgspec.field(default_factory=list)
    unseen: list[str] = msgspec.field(default_factory=list)
    """Of these, where what runs is in no file either that the line names."""
    moves: bool = False
    """A runner may change the folder first."""
    listens: bool = False
    """A shell is among them that runs what it reads."""
    interpreters: list[str] = msgspec.field(default_factory=list)
    """Programs among them that run code of another language."""
    open: frozenset[str] = frozenset()
    """Templates of the words that may become something else: by expansion, as a glob, in braces."""

    def is_open(self, template: str) -> bool:
        return UNKNOWN in template or template in self.open


def find_inner(command: Command) -> InnerCommands:
    """Everything that this command may run, itself included."""
    words = command.words
    found = InnerCommands(open=frozenset([word.template for word in words if word.varies]))
    if words[0].varies:
        found.murky.append(_unknown_name(words[0].raw))
    argv = _spell(words)
    if argv:
        _look_behind(argv, found, 0)
    return found


def find_inner_words(argv: list[str]) -> InnerCommands:
    """The same for words without a parser: leading assignments are skipped."""
    at = next((i for i, word in enumerate(argv) if not is_assignment(word)), len(argv))
    found = InnerCommands()
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


def _look_behind(argv: list[str], found: InnerCommands, depth: int) -> None:
    found.commands.append(argv)
    for word in argv[1:MAX_WORDS]:
        if word.startswith("BASH_FUNC_") or (is_assignment(word) and word.partition("=")[0] in CODE_VARIABLES):
            found.murky.append(f"{word.partition('=')[0]} names code that runs")
    if depth and (found.is_open(argv[0]) or argv[0].startswith("-")):
        _note_unseen(_unknown_name(argv[0]), found)
    if depth >= _MAX_DEPTH or len(found.commands) >= _MAX_FOUND:
        _note_unseen("runners behind runners", found)
        return
    name, rest = basename(argv[0]), argv[1:]
    if name == "find":
        found.moves = found.moves or any(word.endswith("dir") for word in argv)
        for inner in find_actions(argv):
            _look_behind(inner, found, depth + 1)
        return
    if name in CALLERS:
        found.scripts.extend(find_called(CALLERS[name], argv))
    if name in _BUILTINS:
        _note_builtin(name, rest, found)
        return
    if name == "command" and rest[:1] in (["-v"], ["-V"]):
        return
    if name == "git":
        # An alias that is a script: `-c alias.x='!..'`, `config alias.x '!..'`.
        found.scripts.extend(word.partition("=!")[2] for word in rest if "=!" in word)
        found.scripts.extend(word[1:] for word in rest if word.startswith("!") and "config" in rest)
        found.scripts.extend(_write_helper(word) for word in rest if "ext::" in word)
        if any(map(_is_open_setting, rest, rest[1:])):
            found.murky.append("a setting of git is not known before it runs")
        if any(word.startswith("--config-e") for word in rest):
            found.murky.append("a setting of git comes from a variable")
        for inner in find_git_aliases(rest):
            _look_behind(inner, found, depth + 1)
    if name.startswith("git-") and name != "git-":
        # A program of git's own, by its path: `/usr/lib/git-core/git-push`.
        _look_behind(["git", name.removeprefix("git-"), *rest], found, depth + 1)
        return
    found.listens = found.listens or name in LISTENERS or (name == "sudo" and not _SHELL_OF_SUDO.isdisjoint(rest))
    behind = next((at for at, word in enumerate(rest[:-1]) if word in BEHIND.get(name, ())), None)
    if behind is not None:
        _look_behind(rest[behind + 1 :], found, depth + 1)
        return
    if name == "capsh" and (at := next((at for at, word in enumerate(rest) if word in _TO_SHELL), None)) is not None:
        _look_behind(["bash", *rest[at + 1 :]], found, depth + 1)
        return
    for inner in find_behind(_RUN_REST[name], rest) if name in _RUN_REST else ():
        _look_behind(inner, found, depth + 1)
    if _LOADER.fullmatch(name):
        for inner in find_commands(RUNNERS["bwrap"], rest):
            _look_behind(inner, found, depth + 1)
        return
    if name in {"make", "gmake"} and any(UNKNOWN in word or _MAKEFILE_FROM_STDIN.fullmatch(word) for word in rest):
        found.listens = True
    found.scripts.extend(find_option_scripts(name, rest))
    if is_interpreter(name):
        from everturn.permissions.shell.running.foreign_code import find_shell_calls

        found.interpreters.append(name)
        found.scripts.extend(script for word in rest[:MAX_WORDS] for script in find_shell_calls(word, name))
    runner = RUNNERS.get(name)
    if runner is None and name in _HAVE_SUBCOMMANDS and (subcommand := skip_options(rest)):
        if subcommand[0] == "container":
            subcommand = subcommand[1:] or subcommand
        rest, runner = subcommand[1:], RUNNERS.get(f"{name} {subcommand[0]}")
    if runner is not None:
        _look_behind_runner(runner, name, rest, found, depth)


def _is_open_setting(word: str, following: str) -> bool:
    """`-c core.editor=$X`, of a setting that may be a command."""
    if word != "-c" or UNKNOWN not in following:
        return False
    from everturn.core.git_config import Setting
    from everturn.permissions.git.harmless import is_harmless

    name, _, value = following.partition("=")
    return not is_harmless(Setting(name.lower(), value))


def _write_helper(word: str) -> str:
    """`ext::sh -c rm% x`: git splits at blanks, and `% ` is one that stays."""
    words = word.partition("ext::")[2].replace("% ", _SEPARATOR).split(" ")
    return " ".join(quote(each.replace(_SEPARATOR, " ")) for each in words)


def _note_unseen(why: str, found: InnerCommands) -> None:
    found.murky.append(why)
    found.unseen.append(why)


def _look_behind_runner(runner: Runner, name: str, rest: list[str], found: InnerCommands, depth: int) -> None:
    found.moves = (
        found.moves or name in _ELSEWHERE or any(map(_MOVES.match, rest[: len(rest) - len(skip_own(runner, rest))]))
    )
    if name in SHELLS or name == "eval":
        _note_murk(name, rest, found)
    if runner.joined:
        found.scripts.append(" ".join(_join_script(runner, rest)))
        found.scripts.extend(find_scripts(runner, rest))
        return
    if name in SHELLS and name != "fish":
        scripts = list(find_script_of_shell(rest))
    else:
        scripts = list(find_split(rest) if name == "env" else find_scripts(runner, rest))
    found.scripts.extend(scripts)
    if scripts and name in SHELLS:
        return
    for inner in find_commands(runner, rest):
        command = mark_input(rest, inner) if name == "xargs" else inner
        _look_behind(command, found, depth + 1)


def _join_script(runner: Runner, rest: list[str]) -> list[str]:
    """Past the options: what looks like an assignment belongs to the script (`eval 'x=1; rm $x'`)."""
    start = len(rest) - len(skip_own(runner, rest))
    while start and is_assignment(rest[start - 1]):
        start -= 1
    return rest[start:]


def _note_builtin(name: str, rest: list[str], found: InnerCommands) -> None:
    """Of one that runs no words, and yet may run code."""
    if name in RENAMERS:
        note = found.murky.append if rest == ["-r"] else lambda why: _note_unseen(why, found)
        note(f"{name} changes what a command's name means")
    elif name in EVALUATORS:
        found.scripts.extend(script for word in rest for script in _find_in_subscript(word))
    elif name in READERS_OF_CODE and not (rest and rest[0].endswith(_ACTIVATES)):
        found.murky.append(f"{name} runs code from elsewhere")
        if not rest or found.is_open(rest[0]) or rest[0].startswith(_FROM_ELSEWHERE):
            found.unseen.append(f"{name} runs code that is not known before it runs")
        found.listens = found.listens or any(_FROM_STDIN.fullmatch(word) for word in rest[:1])


def _find_in_subscript(word: str) -> Iterator[str]:
    """`a[$(id)]`: the substitution."""
    _, bracket, rest = word.partition("[")
    for opening, closing in (("$(", ")"), ("`", "`")):
        start, end = rest.find(opening), rest.rfind(closing)
        if bracket and 0 <= start < end:
            yield rest[start : end + 1]


def _note_murk(name: str, rest: list[str], found: InnerCommands) -> None:
    """Of a shell or `eval`: what it runs may be neither in the line nor in a file."""
    words = rest[:MAX_WORDS]
    if name in SHELLS and (
        all(word.startswith("-") and "c" not in word for word in words)
        or any(_FROM_STDIN.fullmatch(word) for word in words)
    ):
        found.murky.append(f"{name} runs what it reads")
        found.listens = True
    if any(word.startswith(_FROM_ELSEWHERE) or found.is_open(word) for word in dict.fromkeys(rest)):
        _note_unseen(f"{name} runs code that is not known before it runs", found)

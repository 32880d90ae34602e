"""Words of a command that may themselves be a command, for programs that are unknown. For deny rules only."""

from collections.abc import Iterator
from itertools import islice, pairwise
from posixpath import basename

from everturn.core.patterns import compile_late
from everturn.permissions.shell.files.openers import is_file_command, opens_nothing
from everturn.permissions.shell.reading.assignments import is_own_name
from everturn.permissions.shell.readonly.tables import TABLES
from everturn.permissions.shell.running.foreign_code import find_shell_calls
from everturn.permissions.shell.running.runner_words import MAX_WORDS, is_assignment, skip_options
from everturn.permissions.shell.running.runners import EVALUATORS, READERS_OF_CODE, RENAMERS, RUNNERS
from everturn.permissions.shell.running.scripts import is_interpreter

_OF_THE_SHELL = EVALUATORS | READERS_OF_CODE | RENAMERS | {
    "echo", "printf", "cd", "pushd", "popd", "pwd", "true", "false", ":", "exit", "return", "shift", "set", "shopt", "umask",
    "ulimit", "kill", "jobs", "fg", "bg", "disown", "times", "break", "continue", "help", "type", "which", "whereis", "whatis",
    "man", "apropos", "info", "tldr", "pgrep", "pkill", "killall", "pidof", "id", "history",
}  # fmt: skip
_WITH_SUBCOMMANDS = frozenset({
    "git", "gh", "glab", "hg", "svn", "jj", "docker", "podman", "docker-compose", "kubectl", "oc", "helm", "terraform", "aws",
    "gcloud", "gsutil", "az", "npm", "pnpm", "yarn", "bun", "pip", "pip3", "pipx", "uv", "poetry", "pdm", "conda", "mamba", "apt",
    "apt-get", "apt-cache", "aptitude", "dpkg", "yum", "dnf", "apk", "pacman", "brew", "snap", "flatpak", "cargo", "rustup", "go",
    "gem", "bundle", "composer", "mvn", "gradle", "dotnet", "systemctl", "journalctl", "make", "cmake", "ninja", "just", "curl",
    "wget", "crane", "skopeo", "rclone", "restic", "op", "vault", "wrangler", "vercel", "netlify", "firebase", "heroku", "fly",
})  # fmt: skip
"""Their words are their own: `docker rm`, `npm rm`, `apt-get install curl`. What of them runs something else is in the tables of runners."""
_COPIERS = frozenset({"cp", "ln", "mv", "install", "dd"})
"""They can give a program another name."""
_CAN_START = frozenset({
    "ed", "ex", "vi", "vim", "nvim", "view", "vimdiff", "emacs", "emacsclient", "gdb", "lldb", "less", "more", "sqlite3", "psql", "mysql",
    "gnuplot", "m4", "ftp", "sftp", "lftp", "telnet", "mutt", "mail", "bc", "dc", "jshell",
})  # fmt: skip
"""They have commands of their own, of which some start programs: `:!rm x`, `shell rm x`."""
_OF_PROGRAMS = compile_late(r"(?:^|=)/(?:[^/]+/)*s?bin/[^/]+")
_IN_BIN = compile_late(r"(?:^|/)s?bin/[^/]+$")
_CUTS = compile_late(r"[;|&\n(){}!`'\",]+")
_PLAIN = compile_late(r"[\w./+@][\w./+=@-]*")
_STARTS = compile_late(
    r"(?:[!|]|\b(?:she?l?l?|sy?s?t?e?m?|exec|syscmd|esyscmd|spawn|python|pipe|make)\b|;)[\s(`'\"]{0,9}([^\n'\"`;|&)]+)"
)
_PROGRAM_OPTION = compile_late(
    r"--?(?:[A-Za-z]+[-_.])*(?:comm|comma|comman|command|cmd|exec[a-z]*|prog|progr|progra|program|shell|rsh|pager|editor|runner|wrapper|helper|askpass|hook"
    r"|script|call|run|eval|entrypoint|launcher|filter-program|pre|post|start[a-z]*|action|interpreter|terminal|browser|viewer|opener|handler)"
)
"""By their names, options whose value is a program."""
_TEXT_OPTION = compile_late(
    r"-[mtbFSGe]|--?(?:[a-z]+[-_.])*(?:message|msg|title|body|notes?|description|desc|comment|subject|reason|summary|names?|labels?|grep|author|format|pretty"
    r"|query|search|pattern|regexp?|text|data[a-z-]*|json|header|user-agent|date|since|until|trailer|annotation|reply|content|template|prompt|input|filter|set)"
)
"""By their names, options whose value is a text for people or for a search."""
_NAMES_PROGRAM = compile_late(
    r"(?:HOST)?(?:CC|CXX|CPP|LD|AR|AS|NM|STRIP|RANLIB|RUSTC|FC)|.*(?:_WRAPPER|_RSH|_SSH|ASKPASS|COMMAND|_CMD|SHELL|EDITOR|PAGER|VISUAL|BROWSER|RUNNER|_LINKER)"
)
"""Variables that name programs."""
_OPTIONS_OF = compile_late(r"[A-Z]+(?:FLAGS|_OPTIONS|_OPTS)")
"""Variables that hold options of a program."""
_SETS = frozenset({"set", "config", "pkg", "c"})
_MAX_PIECES = 40
_MAX_LENGTH = 8
"""Words of one command that rules are held against."""
_HANDERS = frozenset({"env", "export", "declare", "typeset", "sudo", "doas", "systemd-run", "cross-env"})
"""They hand variables on to what they run."""
MAKERS = frozenset({"make", "gmake", "ninja", "cmake"})
_GIT_SETTINGS = frozenset({"-c", "config"})


def find_hints(argv: list[str]) -> Iterator[list[str]]:
    """Each is what a command may begin with that this one runs."""
    name, words = basename(argv[0]), argv[1:MAX_WORDS]
    if name == "git":
        yield from _find_in_settings(words)
    elif name in {"npm", "pnpm", "yarn"} and not _SETS.isdisjoint(words):
        for word in words:
            yield from _find_in_text(word.partition("=")[2] or word)
    elif name in _CAN_START:
        for word in words:
            yield from _find_in_text(word)
    elif is_interpreter(name):
        # What its code hands to a shell is looked for elsewhere; here, what the code may be given.
        yield from (words[at : at + _MAX_LENGTH] for at, word in enumerate(words) if _PLAIN.fullmatch(word))
    elif name in _COPIERS or not _is_known(name):
        yield from _find_in_words(words)
    if name not in TABLES and name not in _OF_THE_SHELL and not is_interpreter(name):
        yield from _find_in_options(words)
    if not opens_nothing(name):
        yield from ([basename(word)] for word in words if _OF_PROGRAMS.search(word))
    for word in words:
        if is_assignment(word):
            given, value = word.split("=", 1)
            yield from find_assigned_hints(given, value, place=name)


def find_renamed(argv: tuple[str, ...]) -> Iterator[str]:
    """Programs that it may give another name: what they are told by then is not known."""
    if basename(argv[0]) in _COPIERS or argv[0] == "cat":
        yield from (basename(word) for word in argv[1:MAX_WORDS] if _IN_BIN.search(word))


def find_fed_hints(argv: list[str], fed: tuple[str, ...]) -> Iterator[list[str]]:
    """What a program is given to read that nobody knows, or whose own commands can start others (`ed`, `gdb`)."""
    name = basename(argv[0])
    if name in _CAN_START:
        started = (each[1] for text in fed for each in islice(_STARTS.finditer(text), _MAX_PIECES))
        called = (script for text in fed for script in find_shell_calls(text, "python"))
        found = (script.split() for script in (*started, *called))
    elif not is_interpreter(name) and not _is_known(name):
        found = (line.split() for text in fed for line in islice(text.splitlines(), _MAX_PIECES))
    else:
        return
    yield from (words[:_MAX_LENGTH] for words in found if words)


def find_assigned_hints(name: str, value: str, *, place: str = "") -> Iterator[list[str]]:
    """`GIT_EDITOR='rm x'`, `PAGER=..`: programs take commands from the environment.

    `place`: the program among whose words it stands, or that is given it; empty where that may be any.
    """
    if place in MAKERS:
        # In recipes, a variable may stand for a program.
        yield from _find_in_text(value, (0,))
    elif not is_own_name(name) or _NAMES_PROGRAM.fullmatch(name) or _OPTIONS_OF.fullmatch(name):
        yield from _find_in_text(value)
    elif " " in value and (not place or place in _HANDERS):
        yield from _find_in_text(value, (0,))


def _find_in_options(words: list[str]) -> Iterator[list[str]]:
    """Of a program whose words are its own: what an option is given, where that reads like a command."""
    for word, following in pairwise([*words, ""]):
        if not word.startswith("-") or word in {"-", "--"}:
            continue
        option, equals, value = word.partition("=")
        value = value if equals else following
        is_text = _TEXT_OPTION.fullmatch(option) is not None
        if _PROGRAM_OPTION.fullmatch(option) or (" " in value and not is_text):
            yield from _find_in_text(value, (0,))


def _is_known(name: str) -> bool:
    """It runs none of its words, or which of them is known."""
    return (
        name in TABLES or name in _OF_THE_SHELL or name in _WITH_SUBCOMMANDS or name in RUNNERS or is_file_command(name)
    )


def _find_in_words(words: list[str]) -> Iterator[list[str]]:
    for at, word in enumerate(words):
        _, equals, value = word.partition("=")
        if not word.startswith("-"):
            yield words[at : at + _MAX_LENGTH]
        if equals and value:
            yield [value, *words[at + 1 : at + _MAX_LENGTH]]
        if any(character.isspace() for character in word) or _CUTS.search(word):
            yield from _find_in_text(value if equals and word.startswith("-") else word)


def _find_in_text(text: str, places: tuple[int, ...] = (0, 1)) -> Iterator[list[str]]:
    """At the start of each piece, or behind one word: `shell rm x`, `:!rm x`, `(shell-command "rm x")`."""
    for piece in islice(_CUTS.split(text), _MAX_PIECES):
        tokens = [token for token in map(_drop_option, piece.split()[: _MAX_LENGTH + 1]) if not is_assignment(token)]
        tokens = tokens[1:] if tokens and tokens[0].endswith(":") else tokens
        yield from (tokens[at : at + _MAX_LENGTH] for at in places if tokens[at:])


def _drop_option(token: str) -> str:
    """`--to-command=rm`: what the option is given."""
    return token.partition("=")[2] or token if token.startswith("-") else token


def _find_in_settings(words: list[str]) -> Iterator[list[str]]:
    """`git -c core.pager='rm x'`, `git config core.editor 'rm x'`: some settings are commands."""
    for at, word in enumerate(words[:-1]):
        if word in _GIT_SETTINGS and (word == "-c" or skip_options(words)[:1] == [word]):
            for given in words[at + 1 : at + 2] if word == "-c" else words[at + 1 :]:
                _, equals, value = given.partition("=")
                yield from _find_in_text(value if equals else given)

"""Variables that a command may set for itself and that rules look past, and those that a line may set without touching the environment."""

import re

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.syntax import Assignment, Command

_SAFE_VARIABLES = frozenset({"NODE_ENV", "LANG", "LC_ALL", "NO_COLOR"})
"""No program takes code, a path or an option from them."""
_SWITCHES = frozenset({
    "CI", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PY_COLORS", "COLUMNS", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED",
    "PYTHONHASHSEED", "PYTHONFAULTHANDLER", "PYTHONUTF8", "RUST_BACKTRACE",
})  # fmt: skip
"""They switch how a program prints, or what it checks, and nothing else, where they hold a number, or a yes or no."""
_SWITCH = compile_late(r"[0-9]{1,9}|true|false|yes|no|on|off|always|never", re.IGNORECASE)
_PLAIN_VALUE = compile_late(r"[A-Za-z0-9_.:,@%+-]*")
_NAME = compile_late(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_OWN = compile_late(r"npm_|auto_resume$|histchars$|__")
"""Small letters, and yet not the line's: with two underscores begin those that our own shell keeps its command in."""
_LOWER = compile_late(r"(?!.*proxy)[a-z_][a-z0-9_]*[A-Za-z0-9_]*")
_OF_SHELL = frozenset({
    "CDPATH", "CHILD_MAX", "COLUMNS", "COPROC", "DIRSTACK", "EMACS", "ENV", "EUID", "EXECIGNORE", "FCEDIT", "FIGNORE",
    "FUNCNAME", "FUNCNEST", "GLOBIGNORE", "GLOBSORT", "GROUPS", "HOME", "HOSTFILE", "HOSTNAME", "HOSTTYPE", "IFS",
    "IGNOREEOF", "INPUTRC", "INSIDE_EMACS", "LANG", "LANGUAGE", "LINENO", "LINES", "MACHTYPE", "MAPFILE", "OLDPWD",
    "OPTARG", "OPTERR", "OPTIND", "OSTYPE", "PATH", "PIPESTATUS", "POSIXLY_CORRECT", "PPID", "PROMPT_COMMAND",
    "PROMPT_DIRTRIM", "PWD", "RANDOM", "REPLY", "SECONDS", "SHELL", "SHELLOPTS", "SHLVL", "SRANDOM", "TIMEFORMAT",
    "TMOUT", "TMPDIR", "UID", "USER", "LOGNAME", "TERM", "COLORTERM", "TZ", "TZDIR", "PAGER", "MANPAGER", "LESS", "LESSOPEN",
    "LESSCLOSE", "EDITOR", "VISUAL", "BROWSER", "DISPLAY", "NO_COLOR", "CLICOLOR", "LS_COLORS", "JQ_COLORS", "LOCPATH",
    "NLSPATH", "MAIL", "MAILPATH", "MAILCHECK", "TEMP", "TMP", "MAGIC", "TAPE", "SHELL_SESSION_ID",
})  # fmt: skip
"""Variables that bash itself heeds, or that stand in the environment of commands: what is set there reaches programs."""
CODE_VARIABLES = frozenset({
    "BASH_ENV", "ENV", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "SHELLOPTS", "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES",
})  # fmt: skip
"""What they name or hold runs, whatever the command is."""
_FAMILIES = (
    "BASH", "LC_", "LD_", "DYLD_", "GIT_", "SSH_", "HIST", "COMP_", "COMPREPLY", "READLINE_", "EPOCH", "PS", "PYTHON",
    "NODE_", "NPM_", "PERL", "RUBY", "JAVA_", "GO", "CARGO_", "RUST", "XDG_", "GCONV_", "GREP_", "RIPGREP_", "LESS", "TERM",
    "FIND_", "TAR_", "GZIP", "EVERTURN_", "AWK", "GLIBC_", "MALLOC_", "DOCKER_", "KUBE", "AWS_", "GH_", "FZF_", "MAN",
)  # fmt: skip


def is_safe_assignment(assignment: Assignment) -> bool:
    value = assignment.value.fixed
    if assignment.name in _SWITCHES:
        return value is not None and bool(_SWITCH.fullmatch(value))
    return assignment.name in _SAFE_VARIABLES and value is not None and bool(_PLAIN_VALUE.fullmatch(value))


def is_own_name(name: str) -> bool:
    """A variable that means something to the line alone: neither to bash nor to a program."""
    if not _NAME.fullmatch(name) or _NOT_OWN.match(name):
        return False
    if _LOWER.fullmatch(name):
        return True
    return name not in _OF_SHELL and not name.startswith(_FAMILIES) and "PROXY" not in name.upper()


_FLAGS = frozenset({"-r", "-s", "-rs", "-sr"})
_VALUED = frozenset({"-d", "-n", "-N", "-t"})


def find_names_read(command: Command) -> tuple[str, ...] | None:
    """The variables that `read` sets, where it sets only those of the line; None for anything else.

    `IFS=, read -r a b` sets the separator for itself alone.
    """
    words = command.words
    if words[0].raw != "read" or not all(
        each.name == "IFS" and each.value.fixed is not None for each in command.assignments
    ):
        return None
    at = 1
    while at < len(words) and words[at].raw.startswith("-"):
        if words[at].raw == "-rd" or words[at].raw in _VALUED:
            at += 1
            if at >= len(words) or words[at].fixed is None:
                return None
        elif words[at].raw not in _FLAGS:
            return None
        at += 1
    names = tuple(word.raw for word in words[at:])
    return names if names and all(map(is_own_name, names)) else None

"""Exported variables of commands, kept for later commands: only if they are small enough, and shown where they matter."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from everturn.core.patterns import compile_late
from everturn.ports.exports import NEVER_KEPT, matters
from everturn.tools.bash.shell_report import VariableChanges

MAX_BYTES = 786_432
"""Of all names and values: beyond some megabytes the kernel starts no program any more."""
MAX_LENGTH = 98_304
"""Of one value: the kernel's own limit is not much higher."""
_SHOWN = 200
"""Characters of a value that the model is told."""
_BY_SCRIPTS = compile_late(
    r"PATH|MANPATH|INFOPATH|PYTHONHOME|JAVA_HOME|JDK_HOME|GO(?:PATH|ROOT|BIN)|GEM_(?:HOME|PATH)|(?:CARGO|RUSTUP)_HOME|[A-Z]+ENV_ROOT|"
    r"NVM_\w+|CONDA_\w+"
)
"""What activating an environment changes: kept, told to the model, and shown with later questions."""
_TOKEN = compile_late(
    r"""(?P<blank>[ \t\r]+|\\\n) | (?P<comment>\#[^\n]*) | (?P<end>[;&|()\n])
    | (?P<word>(?:\\.|\$?'[^']*'|"(?:\\.|[^"\\])*"|[^\s;&|()'"\\])+) | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_ASSIGNED = compile_late(r"([A-Za-z_]\w*)\+?=")
_HEREDOC = compile_late(r"(?<!<)<<-?(?!<)(.*)", re.DOTALL)
_BEFORE_COMMANDS = frozenset(
    {"if", "then", "elif", "else", "while", "until", "do", "{", "!", "time", "builtin", "command"}
)
_SETTERS = frozenset({"export", "declare", "typeset", "readonly"})


class KeptExports(msgspec.Struct, frozen=True):
    changes: VariableChanges
    notice: str = ""


def judge_exports(changes: VariableChanges, known: Mapping[str, str], command: str) -> KeptExports:
    """What of it counts from now on. `known`: what earlier commands have set; `command`: what whoever approved it has seen."""
    together = {**known, **changes.set}
    if sum(len(name) + len(value) for name, value in together.items()) > MAX_BYTES or any(
        len(value) > MAX_LENGTH for value in changes.set.values()
    ):
        return KeptExports(
            VariableChanges({}, frozenset()),
            "What the command exported was not kept: it is too large for programs to start",
        )
    spelled = find_assigned(command)
    left = [name for name in changes.set if not _is_kept(name, spelled)]
    kept = VariableChanges({name: value for name, value in changes.set.items() if name not in left}, changes.unset)
    told = [f"{name} is now {_show(value)}" for name, value in kept.set.items() if matters(name)]
    if left:
        told.append(
            f"{', '.join(sorted(left)[:8])} was exported and not kept, since it changes what later commands run: "
            "set it in the command that needs it"
        )
    return KeptExports(kept, "; ".join(told))


def _show(value: str) -> str:
    left = len(value) - _SHOWN
    return f"{value[:_SHOWN]!r} and {left:,} more characters" if left > 0 else repr(value)


def _is_kept(name: str, spelled: frozenset[str]) -> bool:
    if NEVER_KEPT.fullmatch(name):
        return False
    return not matters(name) or name in spelled or _BY_SCRIPTS.fullmatch(name) is not None


def find_assigned(command: str) -> frozenset[str]:
    """Names that the line itself plainly sets for what follows: `export NAME=..`, `NAME=..`. Not in comments, strings or heredocs."""
    return frozenset(name for words in _split(command) for name in _find_set(words))


def _find_set(words: list[str]) -> Iterator[str]:
    at = 0
    while at < len(words) and words[at] in _BEFORE_COMMANDS:
        at += 1
    found = [_ASSIGNED.match(word) for word in words[at:]]
    # `NAME=.. command` is for that command alone.
    if words[at : at + 1] and (words[at] in _SETTERS or all(found)):
        yield from (each[1] for each in found if each)


def _split(command: str) -> Iterator[list[str]]:
    """The words of each simple command, as they are written. Bodies of heredocs are left out."""
    words: list[str] = []
    ends: list[str] = []
    at = 0
    while (token := _TOKEN.match(command, at)) is not None:
        at = token.end()
        if token["word"]:
            words.append(token["word"])
        elif token["end"]:
            yield words
            if token["end"] != "\n":
                ends += _list_ends(words)
            else:
                at = _skip_bodies(command, at, [*ends, *_list_ends(words)])
                ends = []
            words = []
    yield words


def _list_ends(words: list[str]) -> list[str]:
    """The lines that end the heredocs of a command."""
    found = [(place, each) for place, word in enumerate(words) if (each := _HEREDOC.search(word)) is not None]
    named = (each[1] or "".join(words[place + 1 : place + 2]) for place, each in found)
    return [re.sub(r"[\"'\\]", "", name) for name in named]


def _skip_bodies(command: str, at: int, ends: list[str]) -> int:
    for end in ends:
        found = re.compile(rf"^\t*{re.escape(end)}$", re.MULTILINE).search(command, at)
        at = len(command) if found is None else min(found.end() + 1, len(command))
    return at

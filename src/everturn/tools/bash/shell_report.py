"""The report that a shell writes at its end to a separate descriptor: its folder, the one before, and its exported variables."""

import re
from collections.abc import Mapping

import msgspec

from everturn.core.patterns import compile_late

DESCRIPTOR = 240
"""Where the shell finds it: higher than what commands use (`exec 9>lock`, `flock 200`)."""
WORDS = 241
"""Where a shell that waits is told them, each with a NUL at its end."""

MAX_BYTES = 2_097_152
"""Of a report: what is longer is none."""
_END = b"\0"
_OWN = frozenset({"_", "PWD", "OLDPWD", "SHLVL"})
"""Each shell makes these itself."""

_DOUBLE = rb'[^"\\]*(?:\\.[^"\\]*)*'
_ANSI_C = rb"[^'\\]*(?:\\.[^'\\]*)*"
_EXPORT = compile_late(
    rb"(?:declare -\w+|export) ([A-Za-z_]\w*)(=?)"
    rb"(?:\"(%b)\"|((?:\$'%b'|\"%b\"|'[^']*'|\\.|[^\s\"'\\])*))\n" % (_DOUBLE, _ANSI_C, _DOUBLE),
    re.DOTALL,
)
"""Bash writes most values in double quotes alone; the rest is all that a shell may write."""
_QUOTED = compile_late(rb"\$'(%b)'|\"(%b)\"|'([^']*)'|\\(.)|([^\"'\\]+)" % (_ANSI_C, _DOUBLE), re.DOTALL)
_ANSI = compile_late(rb"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|(.))", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"e": b"\x1b", b"E": b"\x1b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t",
            b"v": b"\v"}  # fmt: skip


class ShellReport(msgspec.Struct, frozen=True):
    folder: str
    """Empty where the shell stood in a folder that is gone."""
    previous: str
    """What `cd -` would go to; empty at first."""
    exported: bytes
    """Its variables, as the shell writes them."""


class VariableChanges(msgspec.Struct, frozen=True):
    """What a command did to the variables that it was given."""

    set: dict[str, str]
    unset: frozenset[str]


def render_script(*, numbered: bool, folder_alone: bool = False) -> str:
    """Shell code that runs the command in `$__command` and tells at its end, without a process and without a trace in the output.

    `numbered`: the shell is bash. There the descriptor is closed while the command runs, so that no program that it starts has
    it: bash keeps a copy for itself, which is close-on-exec, and puts it back when the command has ended. Where the command
    ends in the middle (`exit` in a function, a signal) only the copy is there: it has the first number from ten on that is free.
    `folder_alone`: of a command that nobody approved nothing else is taken over.
    """
    exported = "" if folder_alone else "export -p; "
    telling = f'{{ pwd -P || :; printf "\\0%s\\0" "${{OLDPWD-}}"; {exported}printf "\\0"; }}'
    if not numbered:
        return f"trap '{telling} >|/dev/fd/{DESCRIPTOR} 2>/dev/null' EXIT; set --; eval \"$__command\""
    # A file that the command has put in the place of either is not written to.
    either = " elif ".join(
        f"[[ -p /dev/fd/{number} ]]; then {telling} >&{number};" for number in (DESCRIPTOR, "'$__copy'")
    )
    return (
        f"__copy={DESCRIPTOR}; [ ${{BASH_VERSINFO[0]}} -lt 4 ] || exec {{__copy}}>&{DESCRIPTOR} {{__copy}}>&-; "
        f"trap '{{ if {either} fi; }} 2>/dev/null' EXIT; unset __copy; set --; eval \"$__command\" {DESCRIPTOR}>&-"
    )


def render_waiting(seal: int) -> str:
    """The same for bash that waits to be told words: the command, its folder and the one before. Where nobody tells them it ends.

    `seal`: see `choose_seal`.
    """
    reading = " && ".join(f"IFS= read -r -u {WORDS} -d '' __{word}" for word in ("command", "folder", "previous"))
    return (
        f"{render_seal(seal)}{reading} || exit; exec {WORDS}<&-; SECONDS=0; "
        f'cd -- "$__folder" || {render_failing(numbered=True)}; '
        'if [ -n "$__previous" ]; then OLDPWD=$__previous; else unset OLDPWD; fi; '
        f"unset __folder __previous; {render_script(numbered=True)}"
    )


def render_seal(seal: int) -> str:
    """0 = none."""
    return f"ulimit -q {seal} 2>/dev/null; " if seal else ""


def render_failing(*, numbered: bool) -> str:
    """Shell code that tells that the shell could not go to its folder, and ends it: the command does not run."""
    target = f">&{DESCRIPTOR}" if numbered else f">|/dev/fd/{DESCRIPTOR}"
    return f'{{ printf "\\0\\0\\0" {target}; exit 1; }}'


def parse_report(told: bytes) -> ShellReport | None:
    """None where it is not whole: the shell was killed, or became another program."""
    parts = told.split(_END)
    if len(parts) != len(("folder", "previous", "exported", "")):
        return None
    folder, previous, exported, _ = parts
    return ShellReport(_decode(folder.removesuffix(b"\n")), _decode(previous), exported)


def parse_exports(text: bytes) -> dict[str, str]:
    """The output of `export -p` of bash and of POSIX shells. Names without a value are left out."""
    return {
        _decode(name): _decode(_unescape(plain) if plain else _unquote(other))
        for name, given, plain, other in _EXPORT.findall(text)
        if given
    }


def plan_changes(given: Mapping[str, str], exported: Mapping[str, str], *, without: str) -> VariableChanges:
    """`without`: a variable that is ours. Names that a shell cannot have are none of its doing."""
    own = {*_OWN, without}
    changed = {name: value for name, value in exported.items() if name not in own and given.get(name) != value}
    gone = {name for name in given if name not in exported and name not in own and name.isidentifier()}
    return VariableChanges(changed, frozenset(gone))


def _unquote(text: bytes) -> bytes:
    parts = []
    for ansi, double, single, escaped, plain in _QUOTED.findall(text):
        parts.append(_ANSI.sub(_unescape_ansi, ansi) or _unescape(double) or single or escaped or plain)
    return b"".join(parts)


def _unescape(text: bytes) -> bytes:
    return re.sub(rb"\\(.)", rb"\1", text, flags=re.DOTALL) if b"\\" in text else text


def _unescape_ansi(match: re.Match[bytes]) -> bytes:
    octal, hexadecimal, letter = match.groups()
    if octal:
        return bytes([int(octal, 8) & 0xFF])
    return bytes([int(hexadecimal, 16)]) if hexadecimal else _LETTERS.get(letter, letter)


def _decode(text: bytes) -> str:
    return text.decode(errors="surrogateescape")

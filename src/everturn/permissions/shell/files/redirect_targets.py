"""Redirections: which file would be written or read, as far as it is certain."""

from posixpath import normpath

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.judgement import FileUse
from everturn.permissions.shell.reading.syntax import Expansion, Redirect, Word

_NOWHERE = "/dev/null"
_COPIES = frozenset({">&", "<&"})
_DESCRIPTOR = compile_late(r"[0-9]+-?|-")
_OWN = frozenset({"0", "1", "2", "-"})
"""What every command has. Behind other numbers may be anything, also what the shell tells us by."""
_NETWORK = ("/dev/tcp/", "/dev/udp/")


class Target(msgspec.Struct, frozen=True):
    use: FileUse
    path: str | None
    """None when it is not one fixed file, or not a file at all."""
    why: str = ""


def _is_pipe(word: Word) -> bool:
    """`< <(..)`: what it holds is judged as commands."""
    return len(word.parts) == 1 and isinstance(word.parts[0], Expansion) and word.parts[0].is_pipe


def find_target(redirect: Redirect) -> Target | None:
    """None when no file is touched: `2>&1`, `>/dev/null`."""
    word, operator = redirect.target, redirect.operator
    if word is None:
        return None
    if operator == "<" and _is_pipe(word):
        return None
    use: FileUse = "read" if operator in {"<", "<&"} else "write"
    path = word.fixed
    if operator in _COPIES and path is not None and _DESCRIPTOR.fullmatch(path):
        return None if path in _OWN else Target(use, None, f"descriptor {path} is not known to lead nowhere")
    if path is None or not path:
        return Target(use, None, f"the target {word.raw[:60]} is not one fixed file")
    if path == _NOWHERE:
        return None
    clean = normpath(path)
    if clean.startswith("//"):
        clean = clean[1:]
    if f"{clean}/".startswith(_NETWORK):
        return Target(use, None, f"{path} is a connection to the network")
    return Target(use, path)

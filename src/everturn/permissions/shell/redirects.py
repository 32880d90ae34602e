"""Redirections: which file would be written or read, as far as it is certain."""

import re
from posixpath import normpath

import msgspec

from everturn.permissions.judgement import FileUse
from everturn.permissions.shell.syntax import Redirect

_NOWHERE = "/dev/null"
_COPIES = frozenset({">&", "<&"})
_DESCRIPTOR = re.compile(r"[0-9]+-?|-")
_NETWORK = ("/dev/tcp/", "/dev/udp/")


class Target(msgspec.Struct, frozen=True):
    use: FileUse
    path: str | None
    """None when it is not one fixed file, or not a file at all."""
    why: str = ""


def find_target(redirect: Redirect) -> Target | None:
    """None when no file is touched: `2>&1`, `>/dev/null`."""
    word, operator = redirect.target, redirect.operator
    if word is None:
        return None
    use: FileUse = "read" if operator in {"<", "<&"} else "write"
    path = word.fixed
    if operator in _COPIES and path is not None and _DESCRIPTOR.fullmatch(path):
        return None
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

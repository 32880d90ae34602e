"""Messages to the model about what the sandbox stopped, from the output of the command and the refusals of the proxy."""

import os
import re
from collections.abc import Iterable, Sequence

import msgspec

from everturn.sandbox.kept import PutBack
from everturn.sandbox.network.proxy import RefusedConnection
from everturn.sandbox.places import Places
from everturn.sandbox.repositories import MAX_FOLDERS

_LAST = 8_000
_MAX_NAMED = 5
_READ_ONLY = re.compile(r"Read-only file system|EROFS|\[Errno 30\]")
_DENIED = re.compile(r"Permission denied|EACCES|\[Errno 13\]", re.IGNORECASE)
_NOT_PERMITTED = re.compile(r"Operation not permitted|EPERM|\[Errno 1\]", re.IGNORECASE)
_BUSY = re.compile(r"Device or resource busy|EBUSY|\[Errno 16\]")
_SOCKET = re.compile(r"\.sock\b|\bunix[: ]|AF_UNIX|docker daemon|\bsocket\b", re.IGNORECASE)
_NETWORK = re.compile(
    r"""(?xi)
      could\ not\ resolve\ (?:host|proxy) | name\ or\ service\ not\ known | temporary\ failure\ (?:in\ name\ resolution|resolving)
    | network\ is\ unreachable | \bENETUNREACH\b | \bEAI_AGAIN\b | \bENOTFOUND\b | getaddrinfo | failed\ to\ connect\ to
    | couldn't\ connect\ to\ server | nodename\ nor\ servname | no\ route\ to\ host
    """
)
_GOES_OUT = re.compile(r"\b(?:curl|wget|ssh|scp|git\s+(?:clone|fetch|pull|push|ls-remote))\b")
"""Programs that may fail without a word."""
_PATH = re.compile(r"['\"\u2018\u201c`]?((?:/|\./|\.\./|\.)[^\s'\"\u2019\u201d`:]*|[\w.+-]+/[^\s'\"\u2019\u201d`:]*)")
_SPEAKER = re.compile(r"(?:\S+\[\d+\]: )?[^\s:'\"\u2018\u201c`]*/[^\s:'\"\u2018\u201c`]*:(?= )")
"""`/usr/bin/touch: cannot touch '/etc/x'`: who complains, which is not what it complains of."""
_QUOTED = re.compile(r"['\"\u2018\u201c`]([^'\"\u2019\u201d`]+)['\"\u2019\u201d`]")


class ConfinedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to know about a command that has ended."""

    command: str = ""
    output: str
    folder: str
    places: Places
    by_rules: bool = False
    """Landlock says "Permission denied" where a read-only mount says so by its name."""
    network: bool = False
    unix_sockets: bool = False
    refused: Sequence[RefusedConnection] = ()
    put_back: PutBack = PutBack()
    may_leave: bool = True


def explain_denials(held: ConfinedRun) -> tuple[str, ...]:
    """Empty where nothing was held back, as far as can be seen."""
    lines = held.output[-_LAST:].splitlines()
    found = [*_explain_files(held, lines), *_explain_network(held, lines)]
    if not found:
        return ()
    way = (
        "If the command is right as it is, call Bash again with dangerouslyDisableSandbox set to true: the person is asked."
        if held.may_leave
        else "Commands cannot leave the sandbox here (sandbox.allowUnsandboxedCommands is false)."
    )
    return ("The sandbox held the command back: " + "; ".join(found) + ".", way)


def _explain_files(held: ConfinedRun, lines: list[str]) -> Iterable[str]:
    places = held.places
    seen = re.compile(f"{_READ_ONLY.pattern}|{_DENIED.pattern}", re.IGNORECASE) if held.by_rules else _READ_ONLY
    writes = [line for line in lines if seen.search(line) or (_BUSY.search(line) and not held.by_rules)]
    denied = [line for line in lines if _DENIED.search(line)]
    named = _name_paths(writes, held.folder)
    guarded = [path for path in named if _is_below(path, (*places.protected, *places.missing, *places.pinned))]
    outside = [path for path in named if path not in guarded and not _is_below(path, places.writable)]
    hidden = [path for path in _name_paths(denied, held.folder) if _is_below(path, places.hidden)]
    if guarded:
        yield f"{_list(guarded)} may not be changed from inside (protected)"
    # The project first: it is what the model knows.
    writable = _list(sorted(places.writable, key=lambda path: path != held.folder))
    if outside:
        yield f"{_list(outside)} cannot be written; only {writable} can (sandbox.filesystem.allowWrite adds more)"
    if writes and not guarded and not outside and not held.by_rules:
        yield f"only {writable} can be written (sandbox.filesystem.allowWrite adds more)"
    if hidden:
        yield f"{_list(hidden)} cannot be read (sandbox.filesystem.denyRead, sandbox.credentials.files)"
    yield from explain_put_back(held.put_back)


def explain_put_back(done: PutBack) -> Iterable[str]:
    where = f"; what was there instead is in {done.aside}" if done.aside else ""
    if mended := [path for path in done.changed if path not in done.lost]:
        yield f"{_list(mended)} was changed, and has been put back as it was (protected{where})"
    if done.lost:
        yield f"{_list(done.lost)} was changed, and could not be put back as it was (protected{where}): the person must look at it"
    if done.disarmed:
        yield f"{_list(done.disarmed)} would have git run a program outside, and was taken away (it is in {done.aside})"
    if done.armed:
        yield f"{_list(done.armed)} may have git run a program outside, and could not be taken away: the person must look at it"
    if not done.is_whole:
        yield (
            f"not every folder could be looked into for new repositories (there are more than {MAX_FOLDERS:,}, or their paths "
            "are too long, or they are closed to us): one that the command has made there may have git run a program outside"
        )
    if not done.is_over:
        yield "something that the command started could not be ended, and may change protected files later"


def _explain_network(held: ConfinedRun, lines: list[str]) -> Iterable[str]:
    if held.refused:
        reasons = dict.fromkeys(
            f"{refused.host or 'a request'} was not reached: {refused.why}" for refused in held.refused
        )
        yield from list(reasons)[:_MAX_NAMED]
    elif any(_NETWORK.search(line) for line in lines) or (not lines and _is_cut_off(held)):
        yield (
            "there is no way to the network but through the proxy that HTTP_PROXY names"
            if held.network
            else "there is no network (sandbox.network.allowedDomains opens it for single hosts)"
        )
    if not held.unix_sockets and any(_NOT_PERMITTED.search(line) and _SOCKET.search(line) for line in lines):
        yield "sockets in the file system are closed (sandbox.network.allowAllUnixSockets)"


def _is_cut_off(held: ConfinedRun) -> bool:
    return not held.network and _GOES_OUT.search(held.command) is not None


def _name_paths(lines: Iterable[str], folder: str) -> list[str]:
    named = (path for line in lines for path in _find_paths(line))
    return list(dict.fromkeys(os.path.normpath(os.path.join(folder, path)) for path in named))  # noqa: PTH118 - as text


def _find_paths(line: str) -> list[str]:
    """Without the program that speaks, where the line names something else."""
    speaker = _SPEAKER.match(line)
    rest = line[speaker.end() :] if speaker else line
    found = [match[1] for match in _PATH.finditer(rest)]
    if speaker and not found and not _QUOTED.search(rest):
        return [match[1] for match in _PATH.finditer(line)]
    return found


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def _list(paths: Sequence[str]) -> str:
    more = len(paths) - _MAX_NAMED
    return ", ".join(path if path.isprintable() else ascii(path) for path in paths[:_MAX_NAMED]) + (
        f" and {more} more" if more > 0 else ""
    )

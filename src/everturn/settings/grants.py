"""Writing down what a person always allows: into the local settings of the project, in one step, and nowhere a link leads."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from everturn.core.errors import OptionError
from everturn.ports.rules import WrittenFile
from everturn.settings.files import MAX_BYTES, PRIVATE, parse_settings
from everturn.settings.places import LOCAL_NAME, OURS, find_root

IGNORE_NAME = ".gitignore"
IGNORED = f"{LOCAL_NAME}\n{IGNORE_NAME}\n"
"""What is local is nobody else's: it must not slip into a commit. The list hides itself, so that nobody need wonder at it."""
LOCK_S = 5.0
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def local_path(root: str) -> str:
    """Where the rules will stand. `root` is the repository's."""
    return f"{root}/{OURS}/{LOCAL_NAME}"


class LocalRuleFile:
    """`ports.rules.RuleFile`: the local settings of the repository that a folder is in."""

    def __init__(self, folder: str, user_home: str) -> None:
        self._folder = folder
        self._user_home = user_home

    @property
    def path(self) -> str:
        return local_path(self._root)

    def append_rules(self, rules: Sequence[str]) -> WrittenFile:
        return append_allow_rules(self._root, rules)

    def append_hosts(self, hosts: Sequence[str]) -> WrittenFile:
        return append_allowed_hosts(self._root, hosts)

    @property
    def _root(self) -> str:
        return find_root(self._folder, self._user_home)


def append_allow_rules(root: str, rules: Sequence[str]) -> WrittenFile:
    """Everything else in the file stays. Raises `OptionError`; then nothing has changed."""
    return _change(root, lambda settings, path: _with_rules(settings, rules, path))


def append_allowed_hosts(root: str, hosts: Sequence[str]) -> WrittenFile:
    """As with rules, but hosts that commands in the sandbox may reach."""
    return _change(root, lambda settings, path: _with_hosts(settings, hosts, path))


def _change(root: str, change: Callable[[dict[str, Any], str], dict[str, Any]]) -> WrittenFile:
    path = local_path(root)
    try:
        with _opened_folder(root) as folder:
            text = _load(folder, path)
            settings = parse_settings(text, path).values
            content = _render(change(settings, path))
            _replace(folder, content)
            _hide_from_git(folder)
    except OSError as error:
        raise OptionError(path, f"cannot be written: {error.strerror}") from None
    return WrittenFile(path=path, content=content)


def _with_rules(settings: dict[str, Any], rules: Sequence[str], path: str) -> dict[str, Any]:
    permissions = settings.get("permissions", {})
    allowed = permissions.get("allow", []) if isinstance(permissions, dict) else None
    if not isinstance(allowed, list):
        raise OptionError(path, "holds something else than a list in permissions.allow")
    added = [rule for rule in dict.fromkeys(rules) if rule not in allowed]
    return {**settings, "permissions": {**permissions, "allow": [*allowed, *added]}}


def _with_hosts(settings: dict[str, Any], hosts: Sequence[str], path: str) -> dict[str, Any]:
    sandbox = settings.get("sandbox", {})
    network = sandbox.get("network", {}) if isinstance(sandbox, dict) else None
    if not isinstance(network, dict) or not isinstance(allowed := network.get("allowedDomains", []), list):
        raise OptionError(path, "holds something else than a list in sandbox.network.allowedDomains")
    added = [host for host in dict.fromkeys(hosts) if host not in allowed]
    return {**settings, "sandbox": {**sandbox, "network": {**network, "allowedDomains": [*allowed, *added]}}}


def _render(settings: dict[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(settings), indent=2) + b"\n"


@contextmanager
def _opened_folder(root: str) -> Iterator[int]:
    """Ours alone while it is open: of two sessions that write at once, the second sees what the first wrote.

    What keeps the other out is a lock on the root. The folder's own is shared: while a command runs in a sandbox, the folder
    may be its placeholder, which a session holds so that no other removes it.
    """
    place = Path(root, OURS)
    with suppress(FileExistsError):
        place.mkdir()
    if place.is_symlink():
        raise OptionError(str(place), "is a link; settings are not written where it leads")
    with _locked(root, fcntl.LOCK_EX), _locked(str(place), fcntl.LOCK_SH, os.O_NOFOLLOW) as folder:
        yield folder


@contextmanager
def _locked(path: str, kind: int, flags: int = 0) -> Iterator[int]:
    """A folder. Whoever holds it for long is no session of ours: to wait for them would be to stand still."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | flags)
    until = time.monotonic() + LOCK_S
    try:
        while not _try_lock(folder, kind):
            if time.monotonic() > until:
                raise OptionError(path, "is locked by another program")
            time.sleep(0.01)
        yield folder
    finally:
        os.close(folder)


def _try_lock(folder: int, kind: int) -> bool:
    try:
        fcntl.flock(folder, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # Some network file systems know no locks.
        return True
    return True


def _load(folder: int, path: str) -> str:
    try:
        descriptor = os.open(LOCAL_NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return "{}"
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OptionError(path, f"is larger than {MAX_BYTES:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise OptionError(path, "is not UTF-8") from None


def _replace(folder: int, content: bytes) -> None:
    beside = f".{LOCAL_NAME}-{os.urandom(8).hex()}"
    try:
        mode = os.stat(LOCAL_NAME, dir_fd=folder, follow_symlinks=False).st_mode & 0o777
    except FileNotFoundError:
        mode = PRIVATE
    descriptor = os.open(beside, _NEW, PRIVATE, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        os.replace(beside, LOCAL_NAME, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=folder)
    with suppress(OSError):
        # Some file systems refuse to sync a folder; the rename itself has happened.
        os.fsync(folder)


def _hide_from_git(folder: int) -> None:
    """A list that is there already is its owner's."""
    with suppress(OSError):
        descriptor = os.open(IGNORE_NAME, _NEW, 0o644, dir_fd=folder)
        with os.fdopen(descriptor, "w") as file:
            file.write(IGNORED)

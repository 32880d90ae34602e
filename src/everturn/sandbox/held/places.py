"""What a held command may open: the working folders, the session's own outputs, and a short list of the system's places."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

PROGRAMS = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store", "/snap",
    "/run/current-system",
)  # fmt: skip
"""Programs and their libraries: read and started. No other program is, and none from a working folder."""
PREFIXES = ("/opt", "/home/linuxbrew/.linuxbrew")
"""Below these, what the PATH names: each program has a folder of its own there."""
TOOLCHAINS = (
    ".pyenv", ".rbenv", ".nodenv", ".nvm/versions", ".volta/bin", ".volta/tools", ".asdf/bin", ".asdf/shims",
    ".asdf/installs", ".local/share/mise/shims", ".local/share/mise/installs", ".local/share/uv/python", ".cargo/bin",
    ".rustup", ".sdkman/candidates", ".deno/bin", ".bun/bin", "go/bin", "miniconda3", "anaconda3", "miniforge3",
)  # fmt: skip
"""In the person's home: programs that they have installed for themselves, where the PATH leads there. No settings, no keys."""
_BESIDE = {".cargo/bin": ".rustup", ".volta/bin": ".volta/tools", ".asdf/shims": ".asdf/installs",
           ".local/share/mise/shims": ".local/share/mise/installs"}  # fmt: skip
"""What is on the PATH only leads on to these."""
SYSTEM = (
    "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload",
    "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/login.defs", "/etc/shells",
    "/etc/localtime", "/etc/timezone", "/etc/locale.conf", "/etc/locale.alias", "/etc/terminfo", "/lib/terminfo",
    "/etc/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/redhat-release", "/etc/alpine-release",
    "/etc/hostname", "/etc/magic", "/etc/magic.mime", "/etc/mime.types", "/etc/gitconfig", "/etc/gitattributes",
    "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/ca-trust", "/etc/ca-certificates",
    "/etc/crypto-policies", "/etc/services", "/etc/protocols", "/etc/DIR_COLORS",
    "/proc/cpuinfo", "/proc/filesystems", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/version",
    "/sys/devices/system/cpu",
)  # fmt: skip
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_MOST_WALKED = 20_000
"""Entries of the working folders that are looked at for files which a rule hides."""


class HeldPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Real paths."""

    folders: tuple[str, ...]
    """The working folders."""
    programs: tuple[str, ...]
    """Read, and started from."""
    readable: tuple[str, ...]
    opened: tuple[str, ...]
    """The working folders and what is readable, around what is hidden."""
    temporary: str
    hidden: tuple[str, ...] = ()
    """Inside what is readable, and not to be read: a rule says so."""


class TooManyError(Exception):
    """There is more below the working folders than could be looked through for what a rule hides."""


def find_programs(folders: tuple[str, ...], home: str, path: str) -> tuple[str, ...]:
    """Without the working folders and the home, where these lie inside. Empty where a working folder holds the system."""
    kept = [*folders, home] if home != "/" else [*folders]
    roots = {real for root in (*PROGRAMS, *_of_path(path)) if os.path.isdir(real := os.path.realpath(root))}  # noqa: PTH112
    if any(is_below(root, folder) for root in roots for folder in folders):
        return ()
    own = {real for root in _of_home(home, path) if os.path.isdir(real := os.path.realpath(root))}  # noqa: PTH112
    system = {each for root in roots for each in list_around(root, kept)}
    return tuple(sorted(system | {each for root in own for each in list_around(root, folders)}))


def _of_home(home: str, path: str) -> Iterator[str]:
    entries = [os.path.normpath(entry) for entry in path.split(os.pathsep) if entry.startswith("/")]
    for name in TOOLCHAINS:
        root = f"{home}/{name}"
        if any(is_below(entry, root) for entry in entries):
            yield root
            yield f"{home}/{_BESIDE.get(name, name)}"


def _of_path(path: str) -> Iterator[str]:
    for entry in path.split(os.pathsep):
        real = os.path.realpath(entry) if entry.startswith("/") else ""
        for prefix in PREFIXES:
            if real.startswith(f"{prefix}/"):
                yield "/".join([prefix, real.removeprefix(f"{prefix}/").partition("/")[0]])


def find_readable(places: Iterable[str]) -> tuple[str, ...]:
    """`places`: what is readable besides the system's own."""
    return (*_find_system(), *_there(places))


@lru_cache(maxsize=1)
def _find_system() -> tuple[str, ...]:
    """Once: to look for all of them takes longer than to start a command."""
    return _there(SYSTEM)


def _there(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({real for path in paths if os.path.exists(real := os.path.realpath(path))}))  # noqa: PTH110


def find_hidden(folders: Iterable[str], hides: Callable[[str], bool] | None) -> tuple[str, ...]:
    """Files and folders that a rule hides, the highest of each branch. Raises `TooManyError`."""
    if hides is None:
        return ()
    found: list[str] = []
    left = _MOST_WALKED
    waiting = list(folders)
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        raise TooManyError(folder)
                    if hides(entry.path):
                        found.append(entry.path)
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    return tuple(sorted(found))


def list_around(folder: str, without: Sequence[str]) -> Iterator[str]:
    """The folder itself, or what is in it beside what is to be left out: rules can only allow."""
    if any(is_below(folder, each) for each in without):
        return
    below = [each for each in without if is_below(each, folder)]
    if not below:
        yield folder
        return
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are all we need
    except OSError:
        return
    for name in names:
        yield from list_around(f"{folder.rstrip('/')}/{name}", below)


def is_below(path: str, folder: str) -> bool:
    """Or the same."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")

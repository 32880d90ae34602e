"""What a held command may open: the working folders, the session's own outputs, and a short list of the system's places."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice

import msgspec

PROGRAMS = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store", "/snap",
    "/run/current-system",
)  # fmt: skip
"""Programs and their libraries: read and started. No other program is, and none from a working folder."""
PREFIXES = ("/opt", "/home/linuxbrew/.linuxbrew")
"""Below these, the folders of programs that the PATH names, with what belongs to them."""
TOOLCHAINS = (
    ".pyenv", ".rbenv", ".nodenv", ".nvm/versions", ".volta", ".asdf", ".local/share/mise", ".local/share/uv/python", ".cargo/bin",
    ".rustup", ".sdkman/candidates", ".deno/bin", ".bun/bin", "go/bin", "miniconda3", "anaconda3", "miniforge3",
)  # fmt: skip
"""In the person's home: programs that they have installed for themselves, where the PATH leads there."""
_BESIDE = {".cargo/bin": ".rustup"}
"""What is on the PATH only leads on to these."""
OF_PROGRAMS = frozenset(
    {"bin", "sbin", "shims", "lib", "lib32", "lib64", "libexec", "share", "include", "jre", "completions", "plugins"}
)
"""Folders that programs are installed in: settings and keys have others (`etc`, `.npmrc`, `.condarc`)."""
_OF_VERSIONS = frozenset(
    {"versions", "installs", "toolchains", "candidates", "tools", "image", "node", "python", "ruby", "packages"}
)
"""Folders that hold installations, one beside the other."""
_CHOICES = frozenset({"version", "settings.toml", "pyenv.d", "rbenv.d", "nodenv.d"})
"""Which of them is meant."""
_MAX_DEPTH, _MAX_INSTALLED = 5, 200
SYSTEM = (
    "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload",
    "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/login.defs", "/etc/shells",
    "/etc/localtime", "/etc/timezone", "/etc/locale.conf", "/etc/locale.alias", "/etc/terminfo", "/lib/terminfo",
    "/etc/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/redhat-release", "/etc/alpine-release",
    "/etc/hostname", "/etc/magic", "/etc/magic.mime", "/etc/mime.types", "/etc/gitattributes",
    "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/ca-trust", "/etc/ca-certificates",
    "/etc/crypto-policies", "/etc/services", "/etc/protocols", "/etc/DIR_COLORS",
    "/proc/cpuinfo", "/proc/filesystems", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/version",
    "/sys/devices/system/cpu",
)  # fmt: skip
DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
ZEROS = "/dev/zero"
"""Only read: who may write it, can map it as memory that is shared without a name."""


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
    keeps_temporary: bool = False
    """The temporary folder is the session's own, and what is in it stays."""
    hidden: tuple[str, ...] = ()
    """Inside what is readable, and not to be read: a rule says so."""
    numbers: tuple[int, ...] = ()
    """By which the kernel knows what rules name (`find_numbers`): what was replaced has the same path, and another number."""

    def replaces(self, other: "HeldPlaces") -> bool:
        """They are the same places, with other files in them."""
        return self != other and (self.folders, self.readable) == (other.folders, other.readable)


def find_programs(
    folders: tuple[str, ...], home: str, path: str, prefixes: tuple[str, ...] = PREFIXES
) -> tuple[str, ...]:
    """Without the working folders and the home, where these lie inside. Empty where a working folder holds the system."""
    kept = [*folders, home] if home != "/" else [*folders]
    roots = {real for root in PROGRAMS if os.path.isdir(real := os.path.realpath(root))}  # noqa: PTH112
    if any(is_below(root, folder) for root in roots for folder in folders):
        return ()
    # A folder around a working folder is nobody's place for programs.
    installed = {os.path.realpath(root) for root in _of_path(path, prefixes) if os.path.exists(root)}  # noqa: PTH110
    roots |= {root for root in installed if not any(is_below(folder, root) for folder in folders)}
    own = {os.path.realpath(root) for root in _of_home(home, path) if os.path.exists(root)}  # noqa: PTH110
    system = {each for root in roots for each in list_around(root, kept)}
    return list_outermost(system | {each for root in own for each in list_around(root, folders)})


def _of_home(home: str, path: str) -> Iterator[str]:
    entries = [os.path.normpath(entry) for entry in path.split(os.pathsep) if entry.startswith("/")]
    for name in TOOLCHAINS:
        root = f"{home}/{name}"
        if any(is_below(entry, root) for entry in entries):
            yield from _list_installed(root)
            if name in _BESIDE:
                yield from _list_installed(f"{home}/{_BESIDE[name]}")


def _of_path(path: str, prefixes: tuple[str, ...]) -> Iterator[str]:
    for entry in path.split(os.pathsep):
        real = os.path.realpath(entry) if entry.startswith("/") else ""
        if any(real.startswith(f"{prefix}/") for prefix in prefixes):
            yield from _list_beside(real)


def _list_beside(entry: str) -> Iterator[str]:
    """The folder itself, where it is one of programs, with the others of the same installation; else only the programs in it."""
    if os.path.basename(entry) in OF_PROGRAMS:  # noqa: PTH119 - paths as text
        yield from (f"{os.path.dirname(entry)}/{name}" for name in OF_PROGRAMS)  # noqa: PTH120 - paths as text
        return
    with suppress(OSError), os.scandir(entry) as entries:
        yield from (
            each.path for each in islice(entries, _MAX_INSTALLED) if each.is_file() and os.access(each.path, os.X_OK)
        )


def _list_installed(root: str, depth: int = _MAX_DEPTH, *, holds: bool = False) -> Iterator[str]:
    """Of a manager of versions, the folders of programs of all that it has installed. `holds`: its folders are installations."""
    if os.path.basename(root) in OF_PROGRAMS:  # noqa: PTH119 - paths as text
        yield root
        return
    with suppress(OSError), os.scandir(root) as entries:
        for each in islice(entries, _MAX_INSTALLED):
            if each.name in OF_PROGRAMS or each.name in _CHOICES:
                yield each.path
            elif depth and each.is_dir(follow_symlinks=False) and (holds or each.name in _OF_VERSIONS):
                yield from _list_installed(each.path, depth - 1, holds=each.name in _OF_VERSIONS)


def find_readable(places: Iterable[str]) -> tuple[str, ...]:
    """`places`: what is readable besides the system's own."""
    return (*_find_system(), *_there(places))


@lru_cache(maxsize=1)
def _find_system() -> tuple[str, ...]:
    """Once: to look for all of them takes longer than to start a command."""
    return _there(SYSTEM)


def _there(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({real for path in paths if os.path.exists(real := os.path.realpath(path))}))  # noqa: PTH110


def find_numbers(paths: Iterable[str]) -> tuple[int, ...]:
    """Of the files and folders that have these paths now. As long as rules know one, its number is nobody else's."""
    return tuple(number for path in dict.fromkeys(paths) for number in _find_number(path))


def _find_number(path: str) -> tuple[int, int]:
    try:
        status = os.lstat(path)
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


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


def list_outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Without those that lie in another: each costs every command something."""
    kept: list[str] = []
    for path in sorted(paths, key=lambda path: path.rstrip("/") + "/"):
        # What lies in a folder follows it.
        if not kept or not is_below(path, kept[-1]):
            kept.append(path)
    return tuple(kept)


def is_below(path: str, folder: str) -> bool:
    """Or the same."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")

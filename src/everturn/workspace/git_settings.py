"""Whether a configuration of git has nothing in it that could run a program: by a list of what is harmless, line by line."""

import os

from everturn.core.git_config import Setting
from everturn.core.patterns import compile_late

MAX_BYTES = 65_536
_LINE = compile_late(r"[^\x00-\x08\x0a-\x1f\x7f]*")
_SECTION = compile_late(r'\[([A-Za-z0-9.-]+)(?: "((?:[^"\\]|\\["\\])*)")?\]')
_VALUE = compile_late(r"([A-Za-z][A-Za-z0-9-]*)(?:\s*=\s*(.*))?")
_ANY = ""
_HARMLESS = {
    "core": {
        "repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks",
        "autocrlf", "eol", "safecrlf", "sparsecheckout", "sparsecheckoutcone", "abbrev", "quotepath", "compression",
    },
    "extensions": {"objectformat", "compatobjectformat", "refstorage", "worktreeconfig"},
    "init": {"defaultbranch"},
    "user": {"name", "email"},
    "author": {"name", "email"},
    "committer": {"name", "email"},
    "pull": {"rebase", "ff"},
    "push": {"default", "autosetupremote", "followtags"},
    "fetch": {"prune", "prunetags", "writecommitgraph"},
    "merge": {"ff", "conflictstyle", "renames", "stat"},
    "rebase": {"autostash", "autosquash"},
    "branch": {"remote", "merge", "rebase", "description", "autosetuprebase", "autosetupmerge"},
    "remote": {"url", "pushurl", "fetch", "push", "tagopt", "prune", "mirror", "pushdefault"},
    "submodule": {"url", "active", "branch", "path", "recurse", "propagateblobs"},
    "gc": {"auto", "autodetach"},
    "index": {"version", "threads", "skiphash", "sparse"},
    "feature": {"manyfiles", "experimental"},
    "lfs": {"repositoryformatversion", "access"},
    "color": {"ui", "diff", "status", "branch"},
    "advice": {_ANY},
}  # fmt: skip
_OF_MODULES = {"core": {"worktree"}}
"""A submodule's own names where its files are."""
_ADDRESSES = frozenset({"url", "pushurl", "remote", "pushremote", "pushdefault"})
"""Or names of such."""
_HELPER = compile_late(r"\s*[A-Za-z0-9+.-]*::|\s*-|.*[\\\"`$;|&]")
"""`ext::sh -c …` runs a program, as does what begins like an option."""
_PLAIN = compile_late(r"(?:\.\./)*[A-Za-z0-9_./ @+-]*")


def is_known(key: str) -> bool:
    """A setting, written as git does (`remote.origin.url`), is among those that run nothing, whatever its value."""
    section, _, rest = key.partition(".")
    known: set[str] = _HARMLESS.get(section, set())
    return _ANY in known or rest.rpartition(".")[2] in known - _ADDRESSES


def is_harmless_setting(setting: Setting) -> bool:
    """As one line of a file, whatever its section's name."""
    section, _, rest = setting.key.partition(".")
    value = setting.value or ""
    return "\n" not in value and _is_harmless(section, f"{rest.rpartition('.')[2]} = {value}", "")


def is_harmless(data: bytes, *, module: str = "") -> bool:
    """What is not understood is not harmless: continued lines, odd characters, anything that is not listed.

    `module`: the folder of the submodule's repository whose settings they are.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    section = ""
    for line in text.split("\n") if len(data) <= MAX_BYTES else ["?"]:
        bare = line.strip(" \t")
        if not _LINE.fullmatch(line) or bare.endswith("\\"):
            return False
        if not bare or bare[0] in "#;":
            continue
        if (head := _SECTION.fullmatch(bare)) is not None:
            section = head[1].lower()
        elif not _is_harmless(section, bare, module):
            return False
    return True


def _is_harmless(section: str, line: str, module: str) -> bool:
    found = _VALUE.fullmatch(line)
    if found is None:
        return False
    name, value = found[1].lower(), found[2] or ""
    if module and name in _OF_MODULES.get(section, ()):
        return _PLAIN.fullmatch(value) is not None and _stays_inside(module, value)
    known: set[str] = _HARMLESS.get(section, set())
    if _ANY not in known and name not in known:
        return False
    return name not in _ADDRESSES or _HELPER.match(value) is None


def _stays_inside(module: str, value: str) -> bool:
    """Git writes a submodule's files where this says: in the working tree around its repository, with no link on the way."""
    tree = module.partition("/.git/modules/")[0]
    named = os.path.join(module, value)  # noqa: PTH118 - paths as text
    place = os.path.realpath(named)
    return (
        place.startswith(f"{tree}/")
        and "/.git/" not in f"{place[len(tree) :]}/".lower()
        and os.path.normpath(named) == place
    )

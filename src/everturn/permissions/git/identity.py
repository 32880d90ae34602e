"""The person's own git settings, copied without secrets: a confined git uses their name and address, and their files stay closed to it."""

import os
from collections.abc import Iterator
from posixpath import commonpath, dirname, join

from everturn.core.git_config import Setting, parse_config
from everturn.core.patterns import compile_late
from everturn.permissions.git.harmless import is_harmless

_MAX_BYTES = 131_072
_MAX_FILES = 20
_TRUSTED = "safe.directory"
"""Whose repositories the person trusts: harmless in their own file."""
_COPIED = compile_late(
    r"(?:user|author|committer)\.(?:name|email|useconfigonly)"
    r"|(?:color|color\..+|column)\.[a-z]+"
    r"|core\.(?:abbrev|autocrlf|checkstat|commentchar|eol|filemode|ignorecase|precomposeunicode|preloadindex|quotepath|safecrlf|symlinks|trustctime"
    r"|untrackedcache|whitespace)"
    r"|diff\.(?:algorithm|colormoved|colormovedws|context|dirstat|dstprefix|ignoresubmodules|indentheuristic|interhunkcontext|mnemonicprefix|noprefix"
    r"|relative|renamelimit|renames|srcprefix|statgraphwidth|statnamewidth|suppressblankempty|submodule|wserrorhighlight)"
    r"|(?:log|status|stash|blame|grep|i18n|versionsort|pager)\.[a-z]+|(?:branch|tag)\.sort|format\.pretty|init\.defaultbranch|merge\.conflictstyle"
)
"""What decides how git shows things, and whose name it gives. Others may hold a token, an address or a password."""
_OF_ALL = "/etc/gitconfig"
"""The machine's settings, for all of its users: a held git does not open them itself."""
_IGNORE, _ATTRIBUTES = "core.excludesfile", "core.attributesfile"


def copy_identity(home: str, place: str, *, configured: str = "", folders: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Files to be written to `place`, by name: `config` is for GIT_CONFIG_GLOBAL, and names the others.

    `configured`: where the person keeps settings (XDG_CONFIG_HOME); empty for the usual place. `folders`: what lies in these
    may be somebody else's, so that nothing said there counts.
    """
    folder = join(configured or join(home, ".config"), "git")
    named = {_IGNORE: join(folder, "ignore"), _ATTRIBUTES: join(folder, "attributes")}
    kept: list[Setting] = []
    for path, setting in _list_settings([_OF_ALL, join(folder, "config"), join(home, ".gitconfig")], home, folders):
        if setting.key in named:
            named[setting.key] = _place(setting.value or "", path, home)
        elif setting.value is not None and (setting.key == _TRUSTED or _is_plain(setting)):
            kept.append(setting)
    files = {"ignore": _read(named[_IGNORE], folders), "attributes": _read(named[_ATTRIBUTES], folders)}
    ours = [Setting(_IGNORE, join(place, "ignore")), Setting(_ATTRIBUTES, join(place, "attributes"))]
    return files | {"config": b"".join(_write(setting) for setting in (*kept, *ours))}


def _is_plain(setting: Setting) -> bool:
    return _COPIED.fullmatch(setting.key) is not None and "://" not in (setting.value or "") and is_harmless(setting)


def _list_settings(waiting: list[str], home: str, folders: tuple[str, ...]) -> Iterator[tuple[str, Setting]]:
    """Each with the file that it stands in; a file that is included comes where git reads it."""
    seen: set[str] = set()
    stack = [*reversed(waiting)]
    while stack and len(seen) < _MAX_FILES:
        path = stack.pop()
        if path in seen:
            continue
        seen.add(path)
        try:
            settings = parse_config(_read(path, folders))
        except ValueError:
            continue
        included = [setting.value for setting in settings if setting.key == "include.path" and setting.value]
        stack += [_place(value, path, home) for value in reversed(included)]
        yield from ((path, setting) for setting in settings)


def _read(path: str, folders: tuple[str, ...]) -> bytes:
    """Nothing of what is no plain file, is too long, or lies in a working folder."""
    real = os.path.realpath(path)
    try:
        if any(commonpath((real, each)) == each for each in folders) or not os.path.isfile(real):  # noqa: PTH113 - as text
            return b""
        with open(real, "rb") as file:  # noqa: PTH123 - paths as text
            data = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError):
        return b""
    return data if len(data) <= _MAX_BYTES else b""


def _write(setting: Setting) -> bytes:
    section, _, rest = setting.key.partition(".")
    inner, dot, name = rest.rpartition(".")
    quoted = inner.replace("\\", "\\\\").replace('"', '\\"')
    head = f'[{section} "{quoted}"]' if dot else f"[{section}]"
    value = (setting.value or "").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'{head}\n\t{name} = "{value}"\n'.encode(errors="surrogateescape")


def _place(value: str, path: str, home: str) -> str:
    return join(home, value[2:]) if value.startswith("~/") else join(dirname(path), value)

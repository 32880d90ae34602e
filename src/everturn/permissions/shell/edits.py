"""What the mode acceptEdits approves besides edits: small commands on files inside the working folders.

On files of the session's scratch folder every mode but plan approves the same, as far as a wall for readers lets them work.
"""

import msgspec

from everturn.permissions.judgement import FileUse
from everturn.permissions.shell.readonly.options import Globs, Table, parse_options
from everturn.permissions.shell.readonly.sed import split_sed
from everturn.permissions.shell.syntax import Word

_TABLES = {
    "mkdir": Table(short="pvm:", long="mode: parents verbose", globs=Globs.NEVER),
    "touch": Table(short="acm", long="no-create", globs=Globs.NEVER),
    "rm": Table(short="rRfvdiI", long="dir force recursive verbose", globs=Globs.NEVER),
    "rmdir": Table(short="pv", long="ignore-fail-on-non-empty parents verbose", globs=Globs.NEVER),
    "mv": Table(short="fnvuiT", long="force no-clobber update:: verbose", globs=Globs.NEVER),
    "tee": Table(short="ai", long="append ignore-interrupts", globs=Globs.NEVER),
    "cp": Table(short="rRapfnvuiLPdT", long="archive force no-clobber recursive verbose", globs=Globs.NEVER),
}


_RECURSIVE = frozenset({"-r", "-R", "-a", "--recursive", "--archive"})
_TAKING_LINKS = _RECURSIVE | {"-P", "-d"}
_SETTING_MODES: dict[str, frozenset[str]] = {
    "mkdir": frozenset({"-m", "--mode"}),
    "rm": frozenset(),
    "rmdir": frozenset(),
    "cp": frozenset({"-a", "-p", "--archive"}),
}
"""Options that set modes, owners or times, which no wall for readers lets a command do. Other commands always set some."""


class Edits(msgspec.Struct, frozen=True, kw_only=True):
    files: tuple[tuple[FileUse, str], ...]
    sources: tuple[str, ...] = ()
    """What is copied, moved or removed."""
    target: str | None = None
    """Where it goes; None where it goes nowhere."""
    recursive: bool = False
    """With all that is in folders."""
    follows: bool = False
    """Links are followed, those inside folders, too."""
    takes_links: bool = False
    """A link is taken as a link."""
    keeps_source: bool = False
    sets_nothing_else: bool = False
    """It changes what files hold and which there are, and neither modes, owners nor times."""


def judge_editing(words: tuple[Word, ...]) -> Edits | None:
    """The files that it would change or read; None when it is none of these commands, or not plainly so."""
    name = words[0].raw
    if name == "sed":
        split = split_sed(words)
        return None if split is None else Edits(files=tuple(("write", word.fixed or "") for word in split[1]))
    table = _TABLES.get(name)
    parsed = None if table is None else parse_options(table, words)
    if parsed is None or not parsed.operands:
        return None
    paths = [word.fixed or "" for word in parsed.operands]
    plain = name in _SETTING_MODES and not parsed.has(_SETTING_MODES[name])
    match name:
        case "cp":
            return Edits(
                files=(*(("read", path) for path in paths[:-1]), ("write", paths[-1])),
                sources=tuple(paths[:-1]),
                target=paths[-1],
                recursive=parsed.has(_RECURSIVE),
                follows=parsed.has(frozenset({"-L"})),
                takes_links=parsed.has(_TAKING_LINKS),
                keeps_source=True,
                sets_nothing_else=plain,
            )
        case "mv":
            return Edits(
                files=tuple(("write", path) for path in paths),
                sources=tuple(paths[:-1]),
                target=paths[-1],
                recursive=True,
                takes_links=True,
            )
        case "rm":
            return Edits(
                files=tuple(("write", path) for path in paths),
                sources=tuple(paths),
                recursive=parsed.has(_RECURSIVE),
                sets_nothing_else=plain,
            )
        case _:
            return Edits(files=tuple(("write", path) for path in paths), sets_nothing_else=plain)

"""What the mode acceptEdits approves besides edits: small commands on files inside the working folders."""

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
    "cp": Table(short="rRapfnvuiLPdT", long="archive force no-clobber recursive verbose", globs=Globs.NEVER),
}


class Edits(msgspec.Struct, frozen=True):
    files: tuple[tuple[FileUse, str], ...]


def judge_editing(words: tuple[Word, ...]) -> Edits | None:
    """The files that it would change or read; None when it is none of these commands, or not plainly so."""
    name = words[0].raw
    if name == "sed":
        split = split_sed(words)
        return None if split is None else Edits(tuple(("write", word.fixed or "") for word in split[1]))
    table = _TABLES.get(name)
    parsed = None if table is None else parse_options(table, words)
    if parsed is None or not parsed.operands:
        return None
    paths = [word.fixed or "" for word in parsed.operands]
    if name == "cp":
        return Edits((*(("read", path) for path in paths[:-1]), ("write", paths[-1])))
    return Edits(tuple(("write", path) for path in paths))

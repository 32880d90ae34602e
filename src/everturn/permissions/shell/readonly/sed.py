"""`sed`: its options, and whether it edits in place."""

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.syntax import Word
from everturn.permissions.shell.readonly.options import Globs, Table, parse_options
from everturn.permissions.shell.readonly.sed_script import is_plain_script

SED = Table(
    short="nErsuzbe:i::l:",
    long=(
        "binary debug expression: help in-place:: line-length: null-data quiet regexp-extended sandbox separate silent "
        "unbuffered version zero-terminated"
    ),
    globs=Globs.NEVER,
)
"""Without `-f`: a script in a file is not seen."""
_SCRIPTS = frozenset({"-e", "--expression"})
_IN_PLACE = frozenset({"-i", "--in-place"})
_SUFFIX = compile_late(r"[A-Za-z0-9._~-]+")
"""With a star or a slash it would name a file elsewhere."""


def split_sed(words: tuple[Word, ...]) -> tuple[bool, tuple[Word, ...], str] | None:
    """Whether it edits in place, its files, and what is put behind the name of a copy; None when options or script are not plain."""
    parsed = parse_options(SED, words)
    if parsed is None:
        return None
    files = parsed.operands
    scripts = [option.value or "" for option in parsed.options if option.name in _SCRIPTS]
    if not scripts:
        if not files:
            return None
        scripts, files = [files[0].fixed or ""], files[1:]
    in_place = [option for option in parsed.options if option.name in _IN_PLACE]
    suffixes = [option.value for option in in_place if option.value]
    if not all(_SUFFIX.fullmatch(each) for each in suffixes) or not is_plain_script("\n".join(scripts)):
        return None
    return bool(in_place), files, suffixes[-1] if suffixes else ""

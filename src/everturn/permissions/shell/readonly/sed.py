"""`sed`: its options, and whether it edits in place."""

from everturn.permissions.shell.readonly.options import Globs, Table, parse_options
from everturn.permissions.shell.readonly.sed_script import is_plain_script
from everturn.permissions.shell.syntax import Word

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


def split_sed(words: tuple[Word, ...]) -> tuple[bool, tuple[Word, ...]] | None:
    """Whether it edits in place, and its files; None when options or script are not plain."""
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
    # A suffix names a further file that is written.
    if any(option.value for option in in_place) or not is_plain_script("\n".join(scripts)):
        return None
    return bool(in_place), files

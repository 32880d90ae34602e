"""Programs that are known to open the files they are given: rules about files hold for them, too."""

from collections.abc import Iterator
from posixpath import basename

from everturn.permissions.judgement import FileUse

_READERS = frozenset({
    "cat", "head", "tail", "less", "more", "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "sed", "awk", "gawk", "mawk",
    "wc", "diff", "cmp", "comm", "sort", "uniq", "cut", "nl", "tac", "rev", "od", "xxd", "hexdump", "strings", "base64",
    "base32", "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "file", "stat", "jq", "yq", "tee", "dd", "cp",
    "mv", "ln", "tar", "zip", "gzip", "bat", "view", "vi", "vim", "nano", "source", ".", "paste", "fold", "column",
    "fmt", "iconv", "readlink", "realpath", "ls", "du", "find", "tree", "truncate", "rsync", "scp",
})  # fmt: skip
_WRITERS = frozenset({
    "rm", "rmdir", "mkdir", "touch", "tee", "truncate", "chmod", "chown", "chgrp", "unlink", "shred",
})  # fmt: skip
_TO_LAST = frozenset({
    "cp", "mv", "ln", "install", "rsync",
})  # fmt: skip
_PATTERN_FIRST = frozenset({
    "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "sed", "awk", "gawk", "mawk", "jq", "yq",
})  # fmt: skip
_PATTERN_OPTIONS = ("-e", "-f", "--regexp", "--file", "--expression")


def is_file_command(name: str) -> bool:
    base = basename(name)
    return base in _READERS or base in _WRITERS or base in _TO_LAST or base == "git"


def find_files(argv: tuple[str, ...]) -> Iterator[tuple[FileUse, str]]:
    """What it may open, by its words alone; that some are not files does no harm."""
    name = basename(argv[0])
    words = argv[1:]
    operands = [word for word in words if not word.startswith("-")]
    if name in _PATTERN_FIRST and len(operands) > 1 and not any(word.startswith(_PATTERN_OPTIONS) for word in words):
        operands = operands[1:]
    if name == "git":
        operands = [word.partition(":")[2] if ":" in word else word for word in operands[1:]]
    values = [word.partition("=")[2] for word in words if "=" in word]
    if name in _READERS or name == "git" or name in _TO_LAST:
        yield from (("read", path) for path in (*operands, *values) if path)
    if name in _WRITERS or (name == "sed" and any(word.startswith(("-i", "--in-place")) for word in words)):
        yield from (("write", path) for path in operands)
    if name in _TO_LAST:
        yield from (("write", path) for path in (operands if name == "mv" else operands[-1:]))
    if name == "dd":
        yield from (("write", word.removeprefix("of=")) for word in words if word.startswith("of="))

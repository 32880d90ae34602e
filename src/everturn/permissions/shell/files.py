"""Programs that are known to open the files they are given: rules about files hold for them, too."""

import re
from collections.abc import Iterator
from posixpath import basename

from everturn.permissions.judgement import FileUse

_READERS = frozenset({
    "cat", "head", "tail", "less", "more", "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "sed", "awk", "gawk", "mawk",
    "wc", "diff", "cmp", "comm", "sort", "uniq", "cut", "nl", "tac", "rev", "od", "xxd", "hexdump", "strings", "base64",
    "base32", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum", "sum", "file",
    "stat", "jq", "yq", "tee", "dd", "cp", "mv", "ln", "tar", "zip", "gzip", "gunzip", "bzip2", "xz", "zcat", "bzcat",
    "xzcat", "zless", "bat", "batcat", "view", "vi", "vim", "nvim", "vimdiff", "ed", "ex", "emacs", "nano", "source", ".",
    "paste", "fold", "column", "expand", "unexpand", "pr", "fmt", "shuf", "split", "csplit", "join", "look", "hd", "pv",
    "diff3", "sdiff", "iconv", "openssl", "gpg", "perl", "readlink", "realpath", "ls", "du", "find", "tree", "truncate",
    "rsync", "scp", "install", "patch", "git", "nm", "size", "readelf", "objdump", "tsort", "bc",
})  # fmt: skip
_WRITERS = frozenset({
    "rm", "rmdir", "mkdir", "touch", "tee", "truncate", "chmod", "chown", "chgrp", "unlink", "shred", "patch",
})  # fmt: skip
_TO_LAST = frozenset({
    "cp", "mv", "ln", "install", "rsync", "scp",
})  # fmt: skip
_IN_PLACE = {"sed": re.compile(r"-[A-Za-z]*i|--in-place"), "perl": re.compile(r"-[A-Za-z]*i")}
_RECURSIVE = re.compile(r"-[A-Za-z]*[rR]|--recursive")
_OUTPUTS = {
    "sort": ("-o", "--output"),
    "curl": ("-o", "--output"),
    "wget": ("-O", "--output-document"),
    "unzip": ("-d",),
    "tar": ("-C", "--directory"),
}
"""Options whose value is written to."""
_INTO = frozenset({"cp", "mv", "ln", "install"})
_GIVES_FOLDER = re.compile(r"(?:-[A-SU-Za-su-z]*t|--t[a-z-]*=?)(.*)")
"""Of these the folder that they write into: `-t x`, `-rtx`, `--target=x`."""
_ONLY_INDEX = frozenset({"--cached", "--staged", "-S"})
_PATTERN_FIRST = frozenset({
    "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "sed", "awk", "gawk", "mawk", "jq", "yq", "perl",
})  # fmt: skip
_GIVES_PATTERN = re.compile(r"-[A-Za-z]*[ef]|--(?:regexp|file|expression)")
_GIVES_FILTER = re.compile(r"-[A-Za-z]*f|--from-file")
"""Of jq, `-e` is about the exit code."""


def is_file_command(name: str) -> bool:
    base = basename(name)
    return base in _READERS or base in _WRITERS


def find_files(argv: tuple[str, ...]) -> Iterator[tuple[FileUse, str]]:
    """What it may open, by its words alone; that some are not files does no harm."""
    name = basename(argv[0])
    words = argv[1:]
    operands = _find_operands(name, words)
    if name in _READERS:
        values = [word.partition("=")[2] for word in words if "=" in word]
        yield from (("read", path) for path in (*operands, *values) if path)
    yield from (("write", path) for path in _find_written(name, words, operands))


def _find_operands(name: str, words: tuple[str, ...]) -> list[str]:
    if name == "find":
        # What follows are tests: they look at names.
        words = words[: next((at for at, word in enumerate(words) if word.startswith(("-", "(", "!"))), len(words))]
    operands = [word for word in words if not word.startswith("-")]
    if name == "git":
        return [word.partition(":")[2] if ":" in word else word for word in operands[1:]]
    given = _GIVES_FILTER if name in {"jq", "yq"} else _GIVES_PATTERN
    if name in _PATTERN_FIRST and not any(given.match(word) for word in words):
        return operands[1:]
    return operands


def _find_written(name: str, words: tuple[str, ...], operands: list[str]) -> Iterator[str]:
    if name in _WRITERS or (name in _IN_PLACE and any(_IN_PLACE[name].match(word) for word in words)):
        yield from operands
    if name in _TO_LAST and operands:
        *sources, target = operands
        yield target
        # Into a folder, if it is one.
        yield from (f"{target}/{basename(source.rstrip('/'))}" for source in sources)
    if name == "mv":
        yield from operands
    if name == "mv" or (name == "rm" and any(_RECURSIVE.match(word) for word in words)):
        # With a folder goes what is in it.
        yield from (f"{folder}/_" for folder in operands)
    if name in _INTO:
        for at, word in enumerate(words):
            found = _GIVES_FOLDER.fullmatch(word)
            if found and (folder := found[1] or "".join(words[at + 1 : at + 2])):
                yield from (folder, f"{folder}/_")
                yield from (f"{folder}/{basename(source.rstrip('/'))}" for source in operands)
    for option in _OUTPUTS.get(name, ()):
        for at, word in enumerate(words):
            if word == option:
                yield from words[at + 1 : at + 2]
                yield from (f"{folder}/_" for folder in words[at + 1 : at + 2])
            elif word.startswith(option):
                given = word.removeprefix(option).removeprefix("=")
                yield from (given, f"{given}/_")
    if name == "git":
        yield from _find_written_by_git(words)
    if name == "dd":
        yield from (word.removeprefix("of=") for word in words if word.startswith("of="))


def _find_written_by_git(words: tuple[str, ...]) -> Iterator[str]:
    """Files of the working tree that a subcommand names; what it does to the index alone changes none."""
    subcommand = words[0] if words else ""
    if not _ONLY_INDEX.isdisjoint(words):
        return
    if subcommand in {"restore", "rm", "mv"}:
        # What follows `--source` is a commit, such as HEAD.
        before = ("", *words)
        yield from (
            word
            for at, word in enumerate(words)
            if at and not word.startswith("-") and not (subcommand == "restore" and before[at] in {"-s", "--source"})
        )
    elif subcommand == "checkout" and "--" in words:
        yield from words[words.index("--") + 1 :]

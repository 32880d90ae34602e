"""Programs that are known to open the files they are given: rules about files hold for them, too."""

import re
from collections.abc import Iterator
from posixpath import basename

from everturn.core.patterns import compile_late
from everturn.permissions.judgement import FileUse
from everturn.permissions.shell.files.writers import find_written

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
_ALSO_READ = frozenset({
    "basenc", "ptx", "m4", "ul", "col", "colrm", "pg", "most", "lynx", "w3m", "pandoc", "enscript", "a2ps", "sponge", "ts", "vis", "uuencode",
    "zstd", "zstdcat", "lz4", "lz4cat", "brotli", "7z", "cpio", "ar", "xmllint", "xsltproc", "sqlite3", "gdb", "expect", "rst2html",
    "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash", "python", "python3", "node", "ruby", "php", "lua", "ack", "ugrep",
    "dotenv", "xargs", "date", "envsubst", "msgcat", "dos2unix", "unix2dos", "curl", "wget", "httpie", "http", "nc", "ncat", "socat",
})  # fmt: skip
"""They read files, too, and much else: a word of theirs that is not fixed need not be one."""
_OPEN_NOTHING = frozenset({
    "echo", "printf", "test", "[", "[[", "cd", "pushd", "popd", "pwd", "true", "false", ":", "exit", "return", "shift", "set", "shopt", "unset",
    "export", "declare", "typeset", "local", "readonly", "let", "read", "mapfile", "readarray", "getopts", "wait", "kill", "pkill", "pgrep",
    "killall", "sleep", "seq", "expr", "basename", "dirname", "realpath", "readlink", "which", "type", "command", "hash", "alias", "unalias",
    "trap", "umask", "ulimit", "jobs", "fg", "bg", "break", "continue", "mkdir", "rmdir", "mktemp", "chmod", "chown", "chgrp", "touch", "rm",
    "unlink", "shred", "truncate", "ls", "stat", "du", "df", "tree", "find", "man", "whoami", "id", "groups", "hostname", "uname", "nproc", "ps",
    "top", "uptime", "free", "lsof", "tr", "yes", "env", "printenv", "eval", "exec", "builtin", "time", "timeout", "nice", "nohup",
    "sudo", "doas", "watch", "stdbuf", "setsid", "ionice", "clear", "reset", "tput", "stty", "locale", "cal", "factor", "numfmt",
    "apt", "apt-get", "brew", "dnf", "yum", "apk", "pacman", "systemctl", "service",
})  # fmt: skip
"""None of their words is a file whose lines they show; what runners run is looked at by itself."""
_SEARCHERS = frozenset({"grep", "rgrep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ugrep", "jq", "yq"})
"""Of their words, those that are no files say what is searched for."""
_THROUGH_FOLDERS = frozenset({"rg", "rgrep", "ag", "ack", "ugrep", "tar", "zip", "7z", "rsync", "diff", "sdiff", "mv"})
"""They show what is in folders that they are given, or carry it where it has another name."""
_RECURSES = {
    **dict.fromkeys(
        ("grep", "egrep", "fgrep", "zgrep"),
        compile_late(r"-[A-Za-z0-9]*[rR][A-Za-z0-9]*|--(?:dereference-)?rec.*|-d.*|--dir.*"),
    ),
    **dict.fromkeys(("cp", "scp"), compile_late(r"-[A-Za-z]*[rRa][A-Za-z]*|--rec.*|--arc.*")),
}
_CHECKS_OUT = frozenset({
    "checkout", "restore", "stash", "reset", "pull", "merge", "switch", "cherry-pick", "revert", "rebase", "am", "apply", "worktree",
    "clone", "submodule", "checkout-index", "read-tree", "bisect",
})  # fmt: skip
_OF_HISTORY = frozenset({"hg", "sl", "jj", "svn", "bzr", "fossil", "gh", "glab"})
_TAKES_FROM_HISTORY = frozenset({
    "checkout", "co", "update", "up", "switch", "sw", "goto", "pull", "clone", "merge", "revert", "unshelve", "graft", "rebase", "edit", "new",
    "next", "prev", "restore", "undo", "patch", "import",
})  # fmt: skip
_UNPACKERS = frozenset(
    {
        "unzip",
        "pax",
        "dpkg-deb",
        "unsquashfs",
        "bsdtar",
        "7z",
        "7za",
        "cpio",
        "unar",
        "unrar",
        "rsync",
        "patch",
        "ar",
        "jar",
    }
)
_EXTRACTS = compile_late(r"-?[A-Za-z]*x[A-Za-z]*|--extract|--get")
_IN_SED = compile_late(r"(?:^|[;{}$/!\s\d])[rRwW]\s*([^\s;}]+)")
_IN_AWK = compile_late(r"""["']([^"']+)["']""")
_WRITERS = frozenset({
    "rm", "rmdir", "mkdir", "touch", "tee", "truncate", "chmod", "chown", "chgrp", "unlink", "shred", "patch",
})  # fmt: skip
_PATTERN_FIRST = frozenset({
    "grep", "rgrep", "egrep", "fgrep", "zgrep", "rg", "ag", "sed", "awk", "gawk", "mawk", "jq", "yq", "perl",
})  # fmt: skip
_GIVES_PATTERN = compile_late(r"-[A-Za-z]*[ef]|--(?:regexp|file|expression)")
_GIVES_FILTER = compile_late(r"-[A-Za-z]*f|--from-file")
"""Of jq, `-e` is about the exit code."""


def is_file_command(name: str) -> bool:
    base = basename(name)
    return base in _READERS or base in _WRITERS


def opens_nothing(name: str) -> bool:
    """Whatever its words are, it shows no lines of them as files."""
    return name in _OPEN_NOTHING


def is_searcher(name: str) -> bool:
    return name in _SEARCHERS


def takes_folders(argv: tuple[str, ...]) -> bool:
    """Of folders that it is given, it reads what is in them."""
    name = basename(argv[0])
    return name in _THROUGH_FOLDERS or (name in _RECURSES and any(_RECURSES[name].fullmatch(word) for word in argv[1:]))


def brings_files(argv: tuple[str, ...]) -> bool:
    """It makes files whose names stand somewhere else: in an archive, or in the history of a repository."""
    name = basename(argv[0])
    if name == "git":
        return not _CHECKS_OUT.isdisjoint(argv[1:])
    if name in _OF_HISTORY:
        return not _TAKES_FROM_HISTORY.isdisjoint(argv[1:])
    if name in {"tar", "gtar", "bsdtar"}:
        return any(_EXTRACTS.fullmatch(word) for word in argv[1:])
    return name in _UNPACKERS


def find_operands(argv: tuple[str, ...]) -> list[str]:
    """Words that may name files, but for those that belong to options; with the files that a script of sed or awk names."""
    name = basename(argv[0])
    operands = _find_operands(name, argv[1:])
    return [*operands, *_find_in_scripts(name, argv[1:])]


def _find_in_scripts(name: str, words: tuple[str, ...]) -> Iterator[str]:
    """`sed 'r f'`, `awk '{ getline < "f" }'`."""
    if name in {"sed", "gsed"}:
        yield from (found for word in words for found in _IN_SED.findall(word))
    elif name in {"awk", "gawk", "mawk", "nawk"}:
        yield from (found for word in words if "getline" in word or "<" in word for found in _IN_AWK.findall(word))


def find_files(argv: tuple[str, ...]) -> Iterator[tuple[FileUse, str]]:
    """What it may open, by its words alone; that some are not files does no harm."""
    name = basename(argv[0])
    words = argv[1:]
    operands = _find_operands(name, words)
    if name in _READERS or name in _ALSO_READ:
        values = [word.partition("=")[2] for word in words if "=" in word]
        found = (*operands, *values, *_find_in_scripts(name, words), *_find_joined(name, words))
        yield from (("read", path) for path in found if path)
    yield from (("write", path) for path in find_written(argv, operands) if path)


def _find_joined(name: str, words: tuple[str, ...]) -> Iterator[str]:
    """Files that stand behind a sign or an option's letter: `-d @f`, `-Tf`, `file:///f`, `-ff`."""
    if name in {"curl", "wget", "http", "httpie"}:
        for word in words:
            bare = re.sub(r"^-[A-Za-z]", "", word) if not word.startswith("--") else word.partition("=")[2]
            yield from (each.rpartition("@")[2] for each in (word, bare) if "@" in each)
            yield re.sub(r"^file://(?:localhost)?", "", word)
            yield bare
    elif name == "find":
        yield from (words[at + 1] for at, word in enumerate(words[:-1]) if word == "-files0-from")
    elif name in {"xargs", "date", "grep", "egrep", "fgrep", "sed", "awk", "gawk", "mawk", "jq"}:
        yield from (word[2:] for word in words if re.match(r"-[af][^-]", word))


def _find_operands(name: str, words: tuple[str, ...]) -> list[str]:
    if name == "find":
        # What follows are tests: they look at names.
        words = words[: next((at for at, word in enumerate(words) if word.startswith(("-", "(", "!"))), len(words))]
    operands = [word for word in words if not word.startswith("-")]
    if name == "git":
        return [path for word in operands[1:] for path in _find_paths_of_git(word)]
    given = _GIVES_FILTER if name in {"jq", "yq"} else _GIVES_PATTERN
    if name in _PATTERN_FIRST and not any(given.match(word) for word in words):
        return operands[1:]
    return operands


def _find_paths_of_git(word: str) -> Iterator[str]:
    """`HEAD:f`, `:0:f`, `HEAD@{12:00}:f`, `:(top)f`, `:/f`: what follows the last sign of git's own; and the word itself."""
    if ":" in word:
        last = word.rpartition(":")[2]
        yield from (last, last.lstrip("/!^"), last.rpartition(")")[2])
    else:
        yield word

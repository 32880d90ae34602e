"""Programs that write files which their words name: which words, in every spelling. For rules about files and for protected paths.

What is in no table may write whatever its words name: `find_possibly_written`.
"""

import re
from collections.abc import Iterator
from posixpath import basename, splitext

from everturn.core.patterns import compile_late
from everturn.permissions.shell.readonly.tables import TABLES
from everturn.permissions.shell.running.option_values import OptionNames, find_operands, find_values, has_option
from everturn.permissions.shell.running.runner_words import skip_options
from everturn.permissions.shell.running.runners import RUNNERS, SHELLS
from everturn.permissions.shell.running.scripts import is_interpreter

_ALL = frozenset({
    "rm", "rmdir", "mkdir", "touch", "tee", "truncate", "chmod", "chown", "chgrp", "unlink", "shred", "patch", "fallocate", "chattr", "setfacl",
    "mkfifo", "mknod", "mktemp", "sponge", "dos2unix", "unix2dos", "script", "strip", "ranlib",
})  # fmt: skip
"""They change all files that they are given."""
_TO_LAST = frozenset({"cp", "mv", "ln", "install", "rsync", "scp"})
_INTO = frozenset({"cp", "mv", "ln", "install"})
_GIVES_FOLDER = compile_late(r"(?:-[A-SU-Za-su-z]*t|--t[a-z-]*=?)(.*)")
"""Of these the folder that they write into: `-t x`, `-rtx`, `--target=x`."""
_MAKES_FOLDERS = OptionNames(letters="d", names=("--directory",), valued="gmotS")
_RECURSIVE = {
    "rm": OptionNames(letters="rR", names=("--recursive",)),
    **dict.fromkeys(("chmod", "chown", "chgrp", "setfacl"), OptionNames(letters="R", names=("--recursive",))),
}
_FROM_SECOND = {
    "uniq": OptionNames(valued="fsw"),
    "xxd": OptionNames(valued="cglos"),
    "objcopy": OptionNames(valued="IOBjRNKLGW"),
}
"""They read the first file and write the next."""
_TAR = OptionNames(letters="C", names=("--directory", "--one-top-level"), valued="bCfFgHIKLNTVX")
OUTPUTS = {
    "sort": OptionNames(letters="o", names=("--output",), valued="koStT"),
    "shuf": OptionNames(letters="o", names=("--output",), valued="eino"),
    "sdiff": OptionNames(letters="o", names=("--output",), valued="oIw"),
    "less": OptionNames(letters="oO", names=("--log-file", "--LOG-FILE"), valued="bhjkoOpPtTxyz"),
    "tree": OptionNames(letters="o", valued="LPIoHT"),
    "iconv": OptionNames(letters="o", names=("--output",), valued="fto"),
    "gpg": OptionNames(letters="o", names=("--output",), valued="oru"),
    "openssl": OptionNames(names=("-out", "-keyout", "-writerand")),
    "curl": OptionNames(
        letters="ocD",
        names=(
            "--output", "--output-dir", "--cookie-jar", "--dump-header", "--trace", "--trace-ascii", "--stderr", "--etag-save", "--hsts",
            "--alt-svc", "--libcurl",
        ),
        valued="AbCcdDeEFhHKmoPQrTtuUwxXyYz",
    ),
    "wget": OptionNames(
        letters="OoaP",
        names=(
            "--output-document", "--output-file", "--append-output", "--directory-prefix", "--save-cookies", "--warc-file", "--rejected-log", "--hsts-file",
        ),
        valued="aoBeiOPtTwQUlARDIX",
    ),
    "unzip": OptionNames(letters="d", valued="dP"),
    "rsync": OptionNames(
        letters="T",
        names=(
            "--backup-dir", "--partial-dir", "--temp-dir", "--log-file", "--write-batch", "--only-write-batch",
        ),
        valued="efBTM@",
    ),
    "tar": _TAR,
    "bsdtar": _TAR,
    "zip": OptionNames(letters="O", names=("--output-file",), valued="bnOtsPxi"),
    "strace": OptionNames(letters="o", names=("--output",), valued=RUNNERS["strace"].valued),
    "ltrace": OptionNames(letters="o", names=("--output",), valued=RUNNERS["ltrace"].valued),
    "time": OptionNames(letters="o", names=("--output",), valued="fo"),
    "gawk": OptionNames(letters="do", names=("--dump-variables", "--pretty-print", "--profile"), valued="Fvfeil"),
    "history": OptionNames(letters="wa"),
    "find": OptionNames(names=("-fprint", "-fprint0", "-fprintf", "-fls")),
    "split": OptionNames(),
    "csplit": OptionNames(letters="f", names=("--prefix",), valued="bfn"),
    "logsave": OptionNames(),
    "flock": OptionNames(),
}  # fmt: skip
"""Options whose value is written to, or is a folder that is."""
IN_PLACE = {
    "sed": OptionNames(letters="i", names=("--in-place",), valued="efl"),
    "gsed": OptionNames(letters="i", names=("--in-place",), valued="efl"),
    "perl": OptionNames(letters="i", valued="eEmMIFxCD"),
    "ruby": OptionNames(letters="i", valued="eCEFIrTWxK"),
    "yq": OptionNames(letters="i", names=("--inplace", "--in-place"), valued="opIP"),
    "gawk": OptionNames(letters="i", names=("--include",), valued="Fvfeil"),
}
_TO_OUTPUT = OptionNames(letters="ctl", names=("--stdout", "--to-stdout", "--test", "--list"))
_COMPRESSORS = frozenset({
    "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "lzma", "unlzma", "zstd", "unzstd", "lz4", "unlz4", "compress", "uncompress", "brotli", "pigz",
})  # fmt: skip
"""A file takes the place of another."""
_MAKES_ARCHIVE = compile_late(r"-?[A-Za-z]*[cruA][A-Za-z]*|--(?:cr|ap|up|con|cat|del).*")
_NAMED_DOWNLOAD = OptionNames(letters="O", names=("--output-document",), valued=OUTPUTS["wget"].valued)
_DOWNLOADS = OptionNames(
    letters="OJ", names=("--remote-name", "--remote-name-all", "--remote-header-name"), valued=OUTPUTS["curl"].valued
)
_SCRIPTS = OptionNames(letters="e", names=("--expression",), valued="efl")
_IN_SED = compile_late(r"(?=[wW][ \t]*([^\n]+))")
"""Whatever stands behind a `w` up to the end of its line: sed takes all of it for a name."""
_STRINGS = compile_late(r"""["']([^"'\n]+)["']""")
_AWKS = frozenset({"awk", "gawk", "mawk", "nawk"})
_SEDS = frozenset({"sed", "gsed"})
_ONLY_READ = (
    frozenset(TABLES)
    | SHELLS
    | frozenset(RUNNERS)
    | frozenset({
        "echo", "printf", "test", "[", "[[", "cd", "pushd", "popd", "set", "shift", "return", "shopt", "unset", "export", "declare", "typeset", "local",
        "readonly", "let", "read", "mapfile", "readarray", "getopts", "wait", "kill", "pkill", "pgrep", "killall", "hash", "alias", "unalias", "trap",
        "umask", "ulimit", "jobs", "fg", "bg", "source", ".", "man", "info", "df", "ps", "top", "free", "uptime", "lsof", "printenv", "clear", "reset",
        "stty", "tput", "date", "more", "zgrep", "ag", "ack", "ugrep", "zcat", "bzcat", "xzcat", "zstdcat", "lz4cat", "zless", "bat", "batcat", "look",
        "hd", "pv", "diff3", "shellcheck", "cloc", "tokei", "scc", "whereis", "git", "fd", "fdfind", "basenc", "msgcat", "envsubst", "yes", "dotenv",
    })
)  # fmt: skip
"""Whatever their words are, they write none of them. What runners run is looked at by itself."""
_KNOWN = _ONLY_READ | _ALL | _TO_LAST | _COMPRESSORS | _SEDS | _AWKS | frozenset({"uniq", "xxd", "dd"})
_PASSES_OVER = compile_late(r"--(?:exclude|ignore|skip|omit|prune)[a-z-]*|-[xE]")
"""What follows is left out: `--exclude .git`."""
_CAN_SCRIPT = frozenset({"vi", "vim", "nvim", "ex", "ed", "emacs", "sqlite3", "gdb", "expect", "m4"})
_A_SCRIPT = compile_late(r"[\w./+@~][\w./+@~-]*")
_PARTS = compile_late(r"[^\s'\"`(){};|&<>,]+")
_MAX_WORDS = 200
_ONLY_INDEX = frozenset({"--cached", "--staged", "-S"})
_GIVEN_TO_GIT = OptionNames(letters="o", names=("--output", "--output-directory"))
_CONFIG = OptionNames(letters="f", names=("--file",))
_READS_CONFIG = OptionNames(
    letters="l",
    names=("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool", "--list"),
)
_CHANGES_CONFIG = OptionNames(
    letters="e",
    names=("--edit", "--unset", "--unset-all", "--add", "--replace-all", "--rename-section", "--remove-section"),
)
_OVER_THE_TREE = OptionNames(letters="f", names=("--hard", "--merge", "--keep", "--force"))


def find_written(argv: tuple[str, ...], operands: list[str]) -> Iterator[str]:
    """Files that it would write, remove or change; of a folder, `folder/_` stands for what is in it. `operands`: words that are no options."""
    name, words = basename(argv[0]), argv[1:]
    if name in _ALL or (name in IN_PLACE and _edits_in_place(name, words)):
        yield from operands
    if name in _TO_LAST:
        yield from _find_target(name, words, operands)
    if name == "mv" or (name in _RECURSIVE and has_option(words, _RECURSIVE[name])):
        # With a folder goes what is in it.
        yield from (f"{folder}/_" for folder in operands)
    if name in _FROM_SECOND:
        yield from find_operands(words, _FROM_SECOND[name])[1:]
    if name in _COMPRESSORS and not has_option(words, _TO_OUTPUT):
        yield from (path for operand in operands for path in (operand, splitext(operand)[0]))
    if name in OUTPUTS:
        spelled = _spell_tar(words) if name.endswith("tar") else words
        for value in find_values(spelled, OUTPUTS[name]):
            yield from (value, f"{value}/_")
        yield from _find_named_otherwise(name, spelled)
    if name in _SEDS:
        from everturn.permissions.shell.readonly.sed_script import is_plain_script

        scripts = [*find_values(words, _SCRIPTS)] or _find_first_script(words)
        yield from (found for each in scripts if not is_plain_script(each) for found in _IN_SED.findall(each))
    if name in _AWKS:
        from everturn.permissions.shell.readonly.awk import is_plain_program

        programs = [word for word in words if not is_plain_program(word)]
        yield from (found for each in programs for found in _STRINGS.findall(each))
        yield from (word.partition("=")[2] for word in words if programs and "=" in word)
    if name == "git":
        yield from _find_written_by_git(words)
    if name == "dd":
        yield from (word.removeprefix("of=") for word in words if word.startswith("of="))


def find_possibly_written(argv: tuple[str, ...]) -> Iterator[str]:
    """Of a program that is not known to write, nor to write nothing: all that may name a file, in its words or in its code."""
    name, words = basename(argv[0]), argv[1:_MAX_WORDS]
    runs_code = is_interpreter(name) or name in _CAN_SCRIPT
    if name in _KNOWN or (name in OUTPUTS and not runs_code):
        return
    is_script = is_interpreter(name)
    is_left_out = False
    for word in words:
        was_left_out, is_left_out = is_left_out, False
        if _PASSES_OVER.fullmatch(word.partition("=")[0]):
            is_left_out = "=" not in word
            continue
        if was_left_out:
            continue
        if is_script and _A_SCRIPT.fullmatch(word):
            # The script that it runs, which it only reads.
            is_script = False
            continue
        yield from _list_names(word)
        if runs_code:
            yield from (part for part in _PARTS.findall(word) if part != word)


def _find_first_script(words: tuple[str, ...]) -> list[str]:
    """The script of `sed`, where no option gives it."""
    return find_operands(words, _SCRIPTS)[:1]


def _edits_in_place(name: str, words: tuple[str, ...]) -> bool:
    if name == "gawk":
        return any(value.startswith("inplace") for value in find_values(words, IN_PLACE[name]))
    return has_option(words, IN_PLACE[name])


def _find_target(name: str, words: tuple[str, ...], operands: list[str]) -> Iterator[str]:
    if operands:
        *sources, target = operands
        yield target
        # Into a folder, if it is one.
        yield from (f"{target}/{basename(source.rstrip('/'))}" for source in sources)
    if name == "mv" or (name == "install" and has_option(words, _MAKES_FOLDERS)):
        yield from operands
    for folder in find_given_folders(name, words):
        yield from (folder, f"{folder}/_")
        yield from (f"{folder}/{basename(source.rstrip('/'))}" for source in operands)


def find_given_folders(name: str, words: tuple[str, ...]) -> Iterator[str]:
    """Folders that an option names for the command to write into."""
    for at, word in enumerate(words if name in _INTO else ()):
        found = _GIVES_FOLDER.fullmatch(word)
        if found and (folder := found[1] or "".join(words[at + 1 : at + 2])):
            yield folder


def _spell_tar(words: tuple[str, ...]) -> tuple[str, ...]:
    """`tar xCf d f` is `tar -x -C d -f f`."""
    if not words or words[0].startswith("-"):
        return words
    rest = list(words[1:])
    spelled: list[str] = []
    for letter in words[0]:
        spelled.append(f"-{letter}")
        if letter in _TAR.valued and rest:
            spelled.append(rest.pop(0))
    return (*spelled, *rest)


def _find_named_otherwise(name: str, words: tuple[str, ...]) -> Iterator[str]:
    """What is written and not the value of such an option."""
    options = OUTPUTS[name]
    operands = find_operands(words, options)
    if name.endswith("tar") and any(map(_MAKES_ARCHIVE.fullmatch, words)):
        yield from find_values(
            words, OptionNames(letters="fg", names=("--file", "--listed-incremental"), valued=_TAR.valued)
        )
    elif name == "zip":
        yield from (path for operand in operands[:1] for path in (operand, f"{operand}.zip"))
    elif name in {"split", "csplit"}:
        prefixes = [*operands[-1:], *find_values(words, options)]
        ends = ["", *find_values(words, OptionNames(names=("--additional-suffix",)))]
        yield from (f"{prefix}aa{end}" for prefix in prefixes for end in ends)
    elif name in {"logsave", "flock"}:
        yield from operands[:1]
    elif name == "wget" or (name == "curl" and has_option(words, _DOWNLOADS)):
        if name == "wget" and has_option(words, _NAMED_DOWNLOAD):
            return
        folders = [".", *find_values(words, options)]
        files = [basename(re.split(r"[?#]", word)[0]) for word in operands if "/" in word]
        yield from (f"{folder}/{file}".removeprefix("./") for folder in folders for file in files if file)


def _find_written_by_git(words: tuple[str, ...]) -> Iterator[str]:
    """Files of the working tree that a subcommand names, those that options of git write, and its settings."""
    subcommand, *rest = skip_options(list(words)) or [""]
    if subcommand == "config":
        yield from _find_configured(rest)
        return
    if subcommand not in {"commit", "ls-files", "grep", "clone", "push", "merge", "pull", "fetch", "rebase"}:
        yield from find_values(rest, _GIVEN_TO_GIT)
    if subcommand == "bundle" and rest[:1] == ["create"]:
        yield from (word for word in rest[1:2] if not word.startswith("-"))
    if not _ONLY_INDEX.isdisjoint(rest) and "--worktree" not in rest:
        return
    if subcommand == "reset" and has_option(rest, _OVER_THE_TREE):
        yield "./_"
    if subcommand in {"restore", "rm", "mv", "checkout", "clean"}:
        # What follows `--source` is a commit, such as HEAD.
        if subcommand == "clean" and not has_option(rest, _OVER_THE_TREE):
            return
        operands = find_operands(rest, OptionNames(valued="sbB", valued_names=("--source", "--orphan", "--conflict")))
        yield from (path for word in operands for path in (word, f"{word}/_"))
        if subcommand == "clean" and not operands:
            yield "./_"


def _find_configured(rest: list[str]) -> Iterator[str]:
    """`git config` writes its file, unless it only asks; what it sets may run later."""
    yield from find_values(rest, _CONFIG)
    verbs = {"get", "list"}
    operands = find_operands(
        rest, OptionNames(valued="f", valued_names=("--file", "--type", "--default", "--value", "--comment"))
    )
    if operands[:1] and operands[0] in verbs:
        return
    keys = operands[1:] if operands[:1] == ["set"] else operands
    sets = len(keys) > 1 and not has_option(rest, _READS_CONFIG)
    if sets and not has_option(rest, _CONFIG) and _is_harmless(keys[0], keys[1]):
        return
    if (
        sets
        or has_option(rest, _CHANGES_CONFIG)
        or operands[:1] in (["unset"], ["edit"], ["rename-section"], ["remove-section"])
    ):
        is_global = has_option(rest, OptionNames(names=("--global",)))
        yield "~/.gitconfig" if is_global else ".git/config"


def _is_harmless(key: str, value: str) -> bool:
    from everturn.core.git_config import Setting
    from everturn.permissions.git.harmless import is_harmless

    return is_harmless(Setting(_fold_key(key), value))


def _fold_key(key: str) -> str:
    """Section and name in small letters, as git compares them."""
    section, _, rest = key.partition(".")
    middle, dot, name = rest.rpartition(".")
    return f"{section.lower()}.{middle}{dot}{name.lower()}"


def _list_names(word: str) -> Iterator[str]:
    yield word
    for sign in ("=", ":", "@"):
        if sign in word:
            yield word.partition(sign)[2]
            yield word.rpartition(sign)[2]
    if word.startswith("-") and not word.startswith("--"):
        # Joined to a letter, perhaps in a bundle.
        yield from (word[at:] for at in range(2, len(word)))

"""What `xargs` may run on a list of files that comes through a pipe: readers, on what lies in folders that may be read."""

from everturn.permissions.shell.reading.syntax import Command, Word
from everturn.permissions.shell.reading.wrappers import FROM_INPUT, strip_wrappers
from everturn.permissions.shell.readonly.judge import Reads, judge_reading
from everturn.permissions.shell.readonly.options import Globs, Table, parse_options
from everturn.permissions.shell.readonly.tables import TABLES

READERS = frozenset({
    "cat", "grep", "egrep", "fgrep", "wc", "head", "tail", "ls", "stat", "du", "md5sum", "sha1sum", "sha256sum", "sha512sum", "echo",
    "basename", "dirname", "nl", "cut", "od", "realpath", "readlink",
})  # fmt: skip
"""Whatever a file's name is, and be it that of an option: they only read."""
XARGS = Table(
    short="0rtxd:I:L:n:P:s:",
    long="delimiter: max-args: max-chars: max-procs: no-run-if-empty null verbose",
    permutes=False,
    globs=Globs.NEVER,
)
"""Its operands are the command. Without `-a`, `-p`, and letters whose value may be left out."""
_NAMES_ALONE = frozenset({"-l", "-L", "--files-with-matches", "--files-without-match", "--name-only", "--files"})
_FINDS_OTHER_TEXT = frozenset({"-printf", "-ls", "-exec"})
_LISTERS: dict[str, frozenset[str]] = {
    "ls": frozenset({"-1", "-a", "-A", "-d", "-r", "-R", "-S", "-t", "-U", "--all", "--almost-all", "--reverse", "--sort"}),
    "ls-files": frozenset({
        "-c", "-d", "-m", "-o", "-i", "-x", "-z", "--cached", "--deleted", "--modified", "--others", "--ignored", "--exclude",
        "--exclude-standard", "--full-name",
    }),
    "diff": frozenset({"-z", "--name-only", "--cached", "--staged", "--diff-filter", "--relative", "--merge-base"}),
}  # fmt: skip
"""With these options alone they print names, one by one: not where a link leads, nor a text that an option gives."""
_OTHER_TEXT = frozenset(
    {"--label", "--json", "--stats", "--type-list", "-c", "--count", "--color", "--colors", "--heading"}
)
_FILTERS = frozenset({"grep", "egrep", "fgrep", "head", "tail", "sort", "uniq"})
_PARTS_OF_LINES = frozenset({"-o", "--only-matching", "-c", "--bytes"})
_MAX_STAGES = 8
_A_FILE = Word(raw="_", value="_", template="_")


def judge_stage(words: tuple[Word, ...], before: tuple[Command, ...], home: str) -> Reads | None:
    """One command of a line, wrappers stripped. `before`: the stages of its pipe in front of it."""
    if words[-1] is FROM_INPUT:
        return judge_listed((*words[:-1], _A_FILE), before, home)
    if words[0].raw != "xargs" or len(words) == 1:
        return judge_reading(words, home)
    parsed = parse_options(XARGS, words)
    if parsed is None or not parsed.operands:
        return None
    placed = next((option.value for option in reversed(parsed.options) if option.name == "-I"), None)
    if placed is None:
        return judge_listed((*parsed.operands, _A_FILE), before, home)
    # Within another word, a name would make a word that nobody has seen; before `-n` or `-L`, versions differ.
    if any(option.name in {"-n", "-L", "--max-args"} for option in parsed.options):
        return None
    if not placed or any(placed in (word.fixed or "") and word.fixed != placed for word in parsed.operands):
        return None
    run = tuple(_A_FILE if word.fixed == placed else word for word in parsed.operands)
    behind = run[run.index(_A_FILE) + 1 :] if _A_FILE in run else ()
    # A name that is an option could take one that follows for its value.
    return None if any((word.fixed or "").startswith("-") for word in behind) else judge_listed(run, before, home)


def judge_listed(run: tuple[Word, ...], before: tuple[Command, ...], home: str) -> Reads | None:
    """`run`: the command, `_A_FILE` in the place of what was listed. None when more may be read than that."""
    name = run[0]
    reads = judge_reading(run, home) if name.plain and name.raw in READERS else None
    if reads is None or not 0 < len(before) <= _MAX_STAGES:
        return None
    lister, *filters = [strip_wrappers(stage.words) for stage in before]
    listed = judge_reading(lister, home) if _lists(lister) else None
    if listed is None or not all(_lets_pass(stage, home) for stage in filters):
        return None
    folders = (".",) if listed.of_git or not listed.paths else listed.paths
    paths = dict.fromkeys((*folders, *listed.paths, *[path for path in reads.paths if path != _A_FILE.raw]))
    return Reads(tuple(paths), recursive=reads.recursive, varies=True)


def _lists(words: tuple[Word, ...]) -> bool:
    """It prints names of files below the folders that it is given, and nothing else."""
    name, *rest = [word.raw for word in words]
    if name == "find":
        return _FINDS_OTHER_TEXT.isdisjoint(rest)
    if name == "git" and rest and words[1].plain:
        from everturn.permissions.shell.readonly.git_tables import GIT_TABLES

        words, name = words[1:], rest[0]
        given = _names_given(GIT_TABLES, words) if name in {"ls-files", "grep", "diff"} else None
    else:
        given = _names_given(TABLES, words) if name in {"ls", "grep", "egrep", "fgrep", "rg"} else None
    if given is None or (name != "ls" and any(".." in word.raw for word in words)):
        return False
    only_names = name in {"ls", "ls-files"} or not _NAMES_ALONE.isdisjoint(given)
    return only_names and (given <= _LISTERS[name] if name in _LISTERS else _OTHER_TEXT.isdisjoint(given))


def _names_given(tables: dict[str, Table], words: tuple[Word, ...]) -> frozenset[str] | None:
    """Which options a command has."""
    parsed = parse_options(tables[words[0].raw], words)
    return None if parsed is None else frozenset(option.name for option in parsed.options)


def _lets_pass(words: tuple[Word, ...], home: str) -> bool:
    """Lines come out of it as they went in, or not at all."""
    given = _names_given(TABLES, words) if words[0].raw in _FILTERS else None
    if given is None or not _PARTS_OF_LINES.isdisjoint(given):
        return False
    reads = judge_reading(words, home)
    return reads is not None and not reads.paths

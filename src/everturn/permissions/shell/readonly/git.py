"""`git`: the forms that only read, the files that they name, and whether they show what lies in files."""

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.syntax import Word
from everturn.permissions.shell.readonly.git_tables import GIT_TABLES
from everturn.permissions.shell.readonly.options import Operands, Parsed, parse_options

GLOBAL_OPTIONS = frozenset({
    "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--glob-pathspecs", "--icase-pathspecs",
    "--no-replace-objects",
})  # fmt: skip
_TWO_WORDS = frozenset({"stash", "worktree", "remote", "reflog"})
_LISTING = {"branch": frozenset({"--list"}), "tag": frozenset({"--list", "-l"})}
"""`-l` of branch made a reflog once."""
_FORMATS = frozenset({"--format", "--pretty", "--group", "--sort"})
_RUNS = compile_late(r"%[-+ ]*G|signature|trailers|describe")
"""Formats that have git verify signatures, or start another git."""
_REFLOG_VERBS = frozenset({"expire", "delete", "drop", "write", "list", "exists"})
_TOLD = compile_late(
    r"(?:user|author|committer)\.(?:name|email|signingkey|useconfigonly)"
    r"|(?:core|remote|branch|init|pull|push|fetch|merge|rebase|diff|color|column|commit|tag|log|status|submodule|gc|rerere|stash|blame"
    r"|grep|i18n|extensions|help|advice|feature|index|gpg|format|notes|pack|protocol|checkout|clean|worktree|alias|apply|am)\..+"
)
"""Settings that anybody may know. Programs keep tokens in sections of their own (`github.token`), and people in any."""
_SECRET = compile_late(r"tok[ae]n|pass|secret|auth|cookie|header|credential|\.helper$|apikey|api-key")

_ALWAYS_CONTENT = frozenset({"blame", "grep", "range-diff"})
_PATCHES = frozenset({"diff", "show", "stash show"})
"""They show patches unless told otherwise."""
_PATCH = frozenset({
    "-p", "-u", "--patch", "-U", "--unified", "--patch-with-raw", "--patch-with-stat", "-L", "-S", "-G", "-c", "-m", "--cc", "--dd",
    "--diff-merges", "--word-diff", "--word-diff-regex", "--color-words", "-W", "--function-context", "--binary", "--check",
    "--full-diff", "--find-object",
})  # fmt: skip
_NAMES = frozenset({
    "--name-only", "--name-status", "--stat", "--shortstat", "--numstat", "--raw", "--summary", "--quiet", "-q", "-s", "--no-patch",
    "--dirstat", "--compact-summary",
})  # fmt: skip
_BY_NAME = frozenset({"--no-index"})
_A_COMMIT = compile_late(r"(?:HEAD|@)(?:[~^][0-9]*)*")


class GitReads(msgspec.Struct, frozen=True):
    paths: tuple[str, ...] = ()
    """Words that may name files, revisions among them: only git can tell."""
    content: bool = False
    """It shows lines of files, from history, the index or the working tree; not only names, hashes and messages."""
    recursive: bool = False
    """It reads folders that git does not manage."""
    reaches: bool = False
    """It opens files by name (`--no-index`, files of options), or its words are patterns for the whole repository (`:/`, `:(glob)../**`)."""


def judge_git(words: tuple[Word, ...]) -> GitReads | None:
    """None when it may do more than read."""
    at = 1
    while at < len(words) and words[at].raw in GLOBAL_OPTIONS:
        at += 1
    if at >= len(words) or not words[at].plain:
        return None
    name = words[at].raw
    following = words[at + 1].raw if at + 1 < len(words) else ""
    if name in _TWO_WORDS and f"{name} {following}" in GIT_TABLES:
        at += 1
        name = f"{name} {following}"
    parsed = _parse(name, words[at:])
    if parsed is None or any(_RUNS.search(option.value or "") for option in parsed.options if option.name in _FORMATS):
        return None
    words_of_files = parsed.named + parsed.operands
    if GIT_TABLES[name].operands is Operands.PATTERN and not parsed.has(GIT_TABLES[name].patterns):
        words_of_files = parsed.named + parsed.operands[1:]
    return GitReads(
        tuple(dict.fromkeys(path for word in words_of_files for path in _paths_of(word.fixed or ""))),
        content=_shows_content(name, parsed),
        recursive=parsed.has(_BY_NAME),
        reaches=parsed.has(_BY_NAME)
        or bool(parsed.named)
        or any((word.fixed or ":").startswith(":") for word in parsed.operands),
    )


def _parse(name: str, words: tuple[Word, ...]) -> Parsed | None:
    if name in _LISTING and any(word.raw in _LISTING[name] for word in words):
        # Patterns, not names of something new.
        name = f"{name} --list"
    table = GIT_TABLES.get(name)
    parsed = None if table is None else parse_options(table, words)
    if table is None or parsed is None:
        return None
    operands = [word.fixed or "" for word in parsed.operands]
    if table.operands is Operands.NONE and operands:
        return None
    if table.most is not None and len(operands) > table.most:
        return None
    match name:
        case "branch --list" | "tag --list" if not parsed.has(_LISTING[name.split()[0]]):
            return None
        case "stash list" | "stash show" if any(word.fixed == "--" for word in words):
            # It is dropped there: what follows are options still.
            return None
        case "reflog" if not _REFLOG_VERBS.isdisjoint(operands):
            return None
        case "config" if not _asks_config(parsed, operands):
            return None
        case _:
            return parsed


def _asks_config(parsed: Parsed, operands: list[str]) -> bool:
    """One setting by its name, or all of the repository's own: other files may hold what is nobody's business."""
    names = {option.name for option in parsed.options}
    if names & {"-l", "--list"} or operands == ["list"]:
        return "--local" in names and not set(operands) - {"list"}
    keys = operands[1:] if operands[:1] == ["get"] else operands
    if len(keys) != 1 or "--get-regexp" in names:
        return len(keys) == 1 and "--local" in names
    key = keys[0].lower()
    return "--local" in names or (_TOLD.fullmatch(key) is not None and _SECRET.search(key) is None)


def _shows_content(name: str, parsed: Parsed) -> bool:
    if name in _ALWAYS_CONTENT:
        return True
    if any("raw" in (option.value or "") for option in parsed.options if option.name == "--format"):
        return name in {"for-each-ref", "branch", "tag"} or parsed.has(_PATCH)
    if name == "cat-file":
        return not parsed.has(frozenset({"-e", "-t", "-s"}))
    if name == "status":
        return parsed.has(frozenset({"-v", "--verbose"}))
    if name == "show" and any(not _A_COMMIT.fullmatch(word.fixed or "") for word in parsed.operands):
        # A blob is shown as it is, whatever the options say.
        return True
    return parsed.has(_PATCH) or (name in _PATCHES and not parsed.has(_NAMES))


def _paths_of(operand: str) -> tuple[str, ...]:
    """`HEAD:.env` names a file, too; and so may the whole of it."""
    revision, colon, path = operand.partition(":")
    return (path, operand) if colon and path and revision else (operand,)

"""`git`: the forms that only read, by subcommand and option.

Left out is what writes (`--output`), what runs programs (`-c`, `--ext-diff`, `--textconv`, `-O` of grep, `--upload-pack`,
`--show-signature`, `%G` in formats), what looks at other repositories, and what goes to the network.
"""

from everturn.permissions.shell.readonly.options import Operands, Table, parse_options
from everturn.permissions.shell.syntax import Word


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DIFF = (
    "abbrev anchored binary break-rewrites cached cc check color color-moved color-moved-ws color-words "
    "combined-all-paths compact-summary cumulative dd default-prefix diff-algorithm diff-filter diff-merges dirstat "
    "dirstat-by-file dst-prefix end-of-options exit-code find-copies find-copies-harder find-object find-renames "
    "full-index function-context histogram ignore-all-space ignore-blank-lines ignore-cr-at-eol "
    "ignore-matching-lines ignore-space-at-eol ignore-space-change ignore-submodules indent-heuristic "
    "inter-hunk-context irreversible-delete ita-invisible-in-index ita-visible-in-index line-prefix merge-base "
    "minimal name-only name-status no-color no-color-moved no-color-moved-ws no-diff-merges no-ext-diff "
    "no-indent-heuristic no-patch no-prefix no-relative no-rename-empty no-renames no-textconv numstat patch "
    "patch-with-raw patch-with-stat patience pickaxe-all pickaxe-regex quiet raw relative rename-empty rotate-to "
    "shortstat skip-to src-prefix staged stat stat-count stat-graph-width stat-name-width stat-width submodule "
    "summary text unified word-diff word-diff-regex ws-error-highlight"
)
_LOG = (
    f"{_DIFF} "
    "abbrev-commit after all all-match ancestry-path author author-date-order basic-regexp before bisect boundary "
    "branches cherry cherry-mark cherry-pick children clear-decorations committer date date-order decorate "
    "decorate-refs decorate-refs-exclude dense do-walk encoding exclude exclude-first-parent-only exclude-hidden "
    "expand-tabs extended-regexp first-parent fixed-strings follow format full-diff full-history glob graph grep "
    "grep-reflog ignore-missing in-commit-order invert-grep left-only left-right log-size mailmap max-age max-count "
    "max-parents merge merges min-age min-parents no-abbrev no-abbrev-commit no-decorate no-expand-tabs no-graph "
    "no-mailmap no-max-parents no-merges no-min-parents no-notes no-standard-notes no-use-mailmap no-walk not notes "
    "oneline parents perl-regexp pretty reflog regexp-ignore-case relative-date remotes remove-empty reverse "
    "right-only show-linear-break show-notes show-pulls simplify-by-decoration simplify-merges since "
    "since-as-filter single-worktree skip source sparse standard-notes tags topo-order unpacked until use-mailmap "
    "walk-reflogs"
)
_DIFF_TABLE = Table(flags="abpuswRWz", valued="USGlI", joined="MCBXD", number=True, long=_names(_DIFF), globs=False)
_LOG_TABLE = Table(
    flags="abpuswcmgiqEFPRWztr", valued="USGlLnI", joined="MCBXD", number=True, long=_names(_LOG), globs=False
)
_BARE = Table(operands=Operands.NONE, globs=False)

TABLES: dict[str, Table] = {
    "status": Table(
        flags="sbvz",
        joined="u",
        long=_names(
            "ahead-behind branch column find-renames ignore-submodules ignored long no-ahead-behind no-column no-renames "
            "null porcelain renames short show-stash untracked-files verbose"
        ),
        globs=False,
    ),
    "log": _LOG_TABLE,
    "show": _LOG_TABLE,
    "diff": _DIFF_TABLE,
    "diff-tree": _LOG_TABLE,
    "shortlog": Table(flags="nsec", valued="w", long=_names(f"{_LOG} numbered summary email group"), globs=False),
    "whatchanged": _LOG_TABLE,
    "blame": Table(
        flags="bcefklnpstw",
        valued="LS",
        joined="MC",
        long=_names(
            "abbrev color-by-age color-lines date encoding first-parent ignore-rev incremental line-porcelain minimal "
            "no-progress porcelain progress reverse root score-debug show-email show-name show-number show-stats since"
        ),
        globs=False,
    ),
    "rev-parse": Table(
        flags="q",
        long=_names(
            "abbrev-ref absolute-git-dir all branches disambiguate exclude flags git-common-dir git-dir git-path glob is-bare-repository "
            "is-inside-git-dir is-inside-work-tree is-shallow-repository local-env-vars no-flags no-revs not path-format quiet remotes "
            "revs-only shared-index-path short show-cdup show-object-format show-prefix show-ref-format since sq until after before "
            "show-superproject-working-tree show-toplevel symbolic symbolic-full-name tags verify"
        ),
        globs=False,
    ),
    "rev-list": Table(flags="n", valued="n", number=True, long=_names(f"{_LOG} count objects"), globs=False),
    "ls-files": Table(
        flags="cdmosuiktvzf",
        valued="x",
        long=_names(
            "abbrev cached debug deduplicate deleted directory empty-directory eol error-unmatch exclude exclude-standard format "
            "full-name ignored killed modified no-empty-directory others resolve-undo sparse stage unmerged"
        ),
        globs=False,
    ),
    "ls-tree": Table(
        flags="drtlz", long=_names("abbrev full-name full-tree long name-only name-status object-only"), globs=False
    ),
    "cat-file": Table(flags="pts", operands=Operands.FILES, globs=False),
    "describe": Table(
        long=_names("abbrev all always contains dirty exact-match first-parent long match tags"), globs=False
    ),
    "merge-base": Table(flags="a", long=_names("all fork-point is-ancestor octopus"), globs=False),
    "name-rev": Table(long=_names("all always name-only tags"), globs=False),
    "branch": Table(
        flags="arv",
        operands=Operands.NONE,
        long=_names("all color list no-color remotes show-current sort verbose"),
        globs=False,
    ),
    "tag": Table(flags="l", operands=Operands.NONE, long=_names("list sort"), globs=False),
    "remote": Table(flags="v", operands=Operands.NONE, long=_names("verbose"), globs=False),
    "grep": Table(
        flags="EFGPivwcLlqonhHzaIp",
        valued="emABC",
        long=_names(
            "after-context all-match and before-context cached color context count extended-regexp files-with-matches "
            "files-without-match fixed-strings full-name heading ignore-case invert-match line-number max-depth name-only "
            "no-color only-matching or perl-regexp quiet show-function untracked word-regexp"
        ),
        globs=False,
    ),
    "stash list": _BARE,
    "worktree list": Table(operands=Operands.NONE, long=_names("porcelain"), globs=False),
    "version": _BARE,
}
_GLOBAL = frozenset({"--no-pager", "--no-optional-locks", "--literal-pathspecs"})
_FORMATS = ("--format", "--pretty", "--group")


def find_git_paths(words: tuple[Word, ...]) -> tuple[str, ...] | None:
    """What it may show the content of, when it only reads; else None. Revisions are among them: only git can tell."""
    at = 1
    while at < len(words) and words[at].raw in _GLOBAL:
        at += 1
    if at >= len(words):
        return None
    name = words[at].raw
    if name in {"stash", "worktree"} and at + 1 < len(words):
        at += 1
        name = f"{name} {words[at].raw}"
    if words[at].raw == "--version" and len(words) == at + 1:
        return ()
    table = TABLES.get(name)
    if table is None:
        return None
    parsed = parse_options(table, words[at:])
    if parsed is None or (table.operands is Operands.NONE and parsed.operands):
        return None
    if any("%G" in word.template for word in words if word.template.startswith(_FORMATS)):
        return None
    return tuple(_path_of(word.fixed or "") for word in parsed.operands)


def _path_of(operand: str) -> str:
    """`HEAD:.env` is a file, too."""
    revision, colon, path = operand.partition(":")
    return path if colon and path and revision else operand

"""Tables of git's subcommands that only read.

Left out is what writes (`--output`), what runs programs (`-c`, `--ext-diff`, `--textconv`, `-O` of grep, `--upload-pack`,
`--show-signature`), what looks at other repositories, and what goes to the network. Of long options with a value, most
want it behind `=`: git's own versions differ about the next word.
"""

from everturn.permissions.shell.readonly.options import Globs, Operands, Table

_DIFF_SHORT = "abpuswRWzDU::S:G:l:I:M::C::B::X::"
_DIFF_LONG = (
    "abbrev:: anchored= binary break-rewrites:: cached cc check color:: color-moved:: color-moved-ws= color-words:: "
    "combined-all-paths compact-summary cumulative dd default-prefix diff-algorithm= diff-filter= dirstat:: "
    "dirstat-by-file:: dst-prefix= exit-code find-copies:: find-copies-harder find-object= find-renames:: "
    "full-index function-context histogram ignore-all-space ignore-blank-lines ignore-cr-at-eol "
    "ignore-matching-lines= ignore-space-at-eol ignore-space-change ignore-submodules:: indent-heuristic "
    "inter-hunk-context= irreversible-delete ita-invisible-in-index ita-visible-in-index line-prefix= merge-base "
    "minimal name-only name-status no-color no-color-moved no-color-moved-ws no-diff-merges no-ext-diff "
    "no-indent-heuristic no-patch no-prefix no-relative no-rename-empty no-renames no-textconv numstat patch "
    "patch-with-raw patch-with-stat patience pickaxe-all pickaxe-regex quiet raw relative:: rename-empty rotate-to= "
    "shortstat skip-to= src-prefix= staged stat:: stat-count= stat-graph-width= stat-name-width= stat-width= "
    "summary text unified:: word-diff:: word-diff-regex= ws-error-highlight="
)
_LOG_LONG = (
    f"{_DIFF_LONG} "
    "abbrev-commit after: all all-match ancestry-path:: author: author-date-order basic-regexp before: bisect boundary "
    "branches:: cherry cherry-mark cherry-pick children clear-decorations committer: date: date-order decorate:: "
    "decorate-refs= decorate-refs-exclude= dense do-walk encoding= exclude= exclude-first-parent-only exclude-hidden= "
    "expand-tabs:: extended-regexp first-parent fixed-strings follow format= full-diff full-history glob= graph grep: "
    "grep-reflog= ignore-missing in-commit-order invert-grep left-only left-right log-size mailmap max-age= max-count: "
    "max-parents= merge merges min-age= min-parents= no-abbrev no-abbrev-commit no-decorate no-expand-tabs no-graph "
    "no-mailmap no-max-parents no-merges no-min-parents no-notes no-standard-notes no-use-mailmap no-walk:: not notes:: "
    "oneline parents perl-regexp pretty:: reflog regexp-ignore-case relative-date remotes:: remove-empty reverse "
    "right-only show-linear-break:: show-notes:: show-pulls simplify-by-decoration simplify-merges since: "
    "since-as-filter= single-worktree skip: source sparse standard-notes tags:: topo-order unpacked until: use-mailmap "
    "walk-reflogs"
)
_DIFF = Table(
    short=_DIFF_SHORT, long=f"{_DIFF_LONG} no-index", number=True, clusters=False, globs=Globs.NEVER
)  # fmt: skip
_LOG = Table(
    short=f"{_DIFF_SHORT}cmgiqEFPtrL:n:", long=_LOG_LONG, number=True, clusters=False, globs=Globs.NEVER
)  # fmt: skip
_LISTED = (
    "color:: column:: contains:? format: ignore-case merged:? no-color no-column no-contains:? no-merged:? points-at:? "
    "sort:"
)
_BARE = Table(operands=Operands.NONE, globs=Globs.NEVER)

GIT_TABLES: dict[str, Table] = {
    "status": Table(
        short="sbvzu::",
        long=(
            "ahead-behind branch column:: find-renames:: ignore-submodules:: ignored:: long no-ahead-behind no-column "
            "no-renames null porcelain:: renames short show-stash untracked-files:: verbose"
        ),
        globs=Globs.NEVER,
    ),
    "log": _LOG,
    "show": _LOG,
    "whatchanged": _LOG,
    "diff-tree": Table(
        short=f"{_DIFF_SHORT}cmtr",
        long=f"{_DIFF_LONG} always format= merge-base no-commit-id pretty:: root",
        clusters=False,
        globs=Globs.NEVER,
    ),
    "reflog": _LOG,
    "reflog show": _LOG,
    "stash list": _LOG,
    "diff": _DIFF,
    "diff-files": _DIFF,
    "diff-index": Table(
        short=f"{_DIFF_SHORT}m", long=_DIFF_LONG, number=True, clusters=False, globs=Globs.NEVER
    ),
    "stash show": Table(
        short=_DIFF_SHORT, long=f"{_DIFF_LONG} include-untracked only-untracked", clusters=False, globs=Globs.NEVER
    ),
    "range-diff": Table(
        short=_DIFF_SHORT,
        long=f"{_DIFF_LONG} creation-factor= left-only no-dual-color notes:: right-only",
        clusters=False,
        globs=Globs.NEVER,
    ),
    "shortlog": Table(
        short="nsecw::",
        words=frozenset({"-sn", "-ns", "-sne", "-nse"}),
        long=f"{_LOG_LONG} committer email group= numbered summary",
        number=True,
        clusters=False,
        globs=Globs.NEVER,
    ),
    "rev-list": Table(
        short="n:", long=f"{_LOG_LONG} count objects", number=True, clusters=False, globs=Globs.NEVER
    ),
    "blame": Table(
        short="bcefklnpstwC::M::L:S:",
        long=(
            "abbrev:: color-by-age color-lines contents: date= encoding= first-parent ignore-rev: ignore-revs-file: "
            "incremental line-porcelain minimal no-progress porcelain progress reverse root score-debug show-email "
            "show-name show-number show-stats since="
        ),
        paths=frozenset({"-S", "--contents", "--ignore-revs-file"}),
        globs=Globs.NEVER,
    ),
    "rev-parse": Table(
        short="q",
        long=(
            "abbrev-ref:: absolute-git-dir after= all before= branches:: disambiguate= exclude= flags git-common-dir "
            "git-dir git-path: glob= is-bare-repository is-inside-git-dir is-inside-work-tree is-shallow-repository "
            "local-env-vars no-flags no-revs not path-format= quiet remotes:: revs-only shared-index-path short:: "
            "show-cdup show-object-format:: show-prefix show-ref-format show-toplevel "
            "since= sq symbolic symbolic-full-name tags:: until= verify"
        ),
        clusters=False,
        globs=Globs.NEVER,
    ),
    "ls-files": Table(
        short="cdmosuiktvzfx:X:",
        long=(
            "abbrev:: cached debug deduplicate deleted directory empty-directory eol error-unmatch exclude: "
            "exclude-from: exclude-standard format= full-name ignored killed modified no-empty-directory others "
            "resolve-undo sparse stage unmerged"
        ),
        paths=frozenset({"-X", "--exclude-from"}),
        globs=Globs.NEVER,
    ),
    "ls-tree": Table(
        short="drtlz",
        long="abbrev:: format= full-name full-tree long name-only name-status object-only",
        globs=Globs.NEVER,
    ),
    "cat-file": Table(short="epts", globs=Globs.NEVER),
    "describe": Table(
        long=(
            "abbrev:: all always candidates= contains dirty:: exact-match exclude= first-parent long match: no-exclude "
            "no-match tags"
        ),
        globs=Globs.NEVER,
    ),
    "merge-base": Table(short="a", long="all fork-point independent is-ancestor octopus", globs=Globs.NEVER),
    "name-rev": Table(long="all always exclude= name-only no-undefined refs= tags", globs=Globs.NEVER),
    "branch": Table(
        short="arvi",
        long=f"{_LISTED} abbrev:: all list no-abbrev remotes show-current verbose",
        operands=Operands.NONE,
        globs=Globs.NEVER,
    ),
    "branch --list": Table(
        short="arvi",
        long=f"{_LISTED} abbrev:: all list no-abbrev remotes verbose",
        globs=Globs.NEVER,
    ),
    "tag": Table(short="iln::", long=f"{_LISTED} list", operands=Operands.NONE, globs=Globs.NEVER),
    "tag --list": Table(short="iln::", long=f"{_LISTED} list", globs=Globs.NEVER),
    "for-each-ref": Table(
        short="ps",
        long=f"{_LISTED} count: exclude= omit-empty perl python shell tcl",
        globs=Globs.NEVER,
    ),
    "show-ref": Table(
        short="dqs::",
        long="abbrev:: dereference exists hash:: head heads quiet tags verify",
        globs=Globs.NEVER,
    ),
    "symbolic-ref": Table(short="q", long="no-recurse quiet recurse short", most=1, globs=Globs.NEVER),
    "remote": Table(short="v", long="verbose", operands=Operands.NONE, globs=Globs.NEVER),
    "remote get-url": Table(long="all push", globs=Globs.NEVER),
    "worktree list": Table(short="vz", long="porcelain verbose", operands=Operands.NONE, globs=Globs.NEVER),
    "count-objects": Table(short="vH", long="human-readable verbose", operands=Operands.NONE, globs=Globs.NEVER),
    "check-ignore": Table(short="qvnz", long="no-index non-matching quiet verbose", globs=Globs.NEVER),
    "check-attr": Table(short="az", long="all cached source=", globs=Globs.NEVER),
    "cherry": Table(short="v", long="abbrev:: verbose", globs=Globs.NEVER),
    "verify-pack": Table(short="vs", long="stat-only verbose", globs=Globs.NEVER),
    "var": Table(most=1, globs=Globs.NEVER),
    "config": Table(
        short="zl",
        long=(
            "bool default= get get-all get-regexp global includes int list local name-only no-includes null path "
            "show-origin show-scope system type= worktree"
        ),
        globs=Globs.NEVER,
    ),
    "grep": Table(
        short="EFGPivwcLlqonhHzaIpWre:f:m:A:B:C:",
        long=(
            "after-context: all-match and basic-regexp before-context: break cached color:: column context: count "
            "exclude-standard extended-regexp files-with-matches files-without-match fixed-strings full-name "
            "function-context heading ignore-case invert-match line-number max-count: max-depth: name-only no-color "
            "no-index not null only-matching or perl-regexp quiet recursive show-function text threads: untracked "
            "word-regexp"
        ),
        number=True,
        paths=frozenset({"-f"}),
        operands=Operands.PATTERN,
        patterns=frozenset({"-e", "-f"}),
        globs=Globs.NEVER,
    ),
    "version": _BARE,
    "--version": _BARE,
}  # fmt: skip

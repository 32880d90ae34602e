"""Tables of the options with which git's subcommands show no line of any file, in the form of `readonly.git_tables`."""

from everturn.permissions.shell.readonly.git_tables import GIT_TABLES
from everturn.permissions.shell.readonly.options import Table

SILENT_SUBCOMMANDS = frozenset({
    "branch", "check-attr", "check-ignore", "check-ref-format", "cherry", "cherry-pick", "clean", "count-objects", "describe", "fetch", "fsck",
    "gc", "help", "hash-object", "init", "ls-files", "ls-remote", "ls-tree", "maintenance", "merge", "merge-base", "mv", "name-rev",
    "pack-refs", "prune", "pull", "push", "remote", "repack", "revert", "rev-parse", "rm", "show-branch", "show-ref", "sparse-checkout",
    "switch", "symbolic-ref", "update-index", "update-ref", "var", "verify-pack", "version", "write-tree",
})  # fmt: skip
"""No option of theirs shows a line of a file."""
LOGS = frozenset(
    {"log", "reflog", "shortlog", "rev-list", "diff-tree", "diff-index", "diff-files", "whatchanged", "stash list"}
)
DIFFS = frozenset({"diff", "show", "stash show"})
SILENT_TABLES: dict[str, Table] = {
    **{name: GIT_TABLES[name] for name in (*LOGS, *DIFFS, "status", "cat-file", "grep", "blame")},
    "add": Table(
        short="nvfuAN",
        long=(
            "all chmod= dry-run force ignore-errors ignore-missing ignore-removal intent-to-add no-all no-ignore-removal refresh renormalize "
            "sparse update verbose"
        ),
    ),
    "am": Table(short="3skqb", long="3way abort continue keep keep-cr quiet quit resolved signoff skip"),
    "apply": Table(
        short="3Rp:C:", long="3way cached check index numstat reverse stat summary unidiff-zero whitespace="
    ),
    "bisect": Table(long="first-parent no-checkout term-bad: term-good: term-new: term-old:"),
    "checkout": Table(
        short="b:B:fqlmtd",
        long=(
            "conflict= detach force guess ignore-other-worktrees ignore-skip-worktree-bits merge no-guess no-overlay no-progress no-track orphan: "
            "ours overlay progress quiet recurse-submodules:: theirs track::"
        ),
    ),
    "commit": Table(
        short="anqszoim:C:c:S::u::F:t:",
        long=(
            "all allow-empty allow-empty-message amend author: branch cleanup: date: dry-run edit file: fixup: gpg-sign:: include long message: "
            "no-edit no-gpg-sign no-post-rewrite no-signoff no-status no-verify null only porcelain quiet reedit-message: reset-author "
            "reuse-message: short signoff squash: status template: trailer: untracked-files:: verify"
        ),
    ),
    "config": Table(
        short="zlf:",
        long=(
            "add all bool bool-or-int default= file: fixed-value get get-all get-regexp get-urlmatch global includes int list local name-only "
            "no-includes null path regexp rename-section remove-section replace-all show-names show-origin show-scope system type= unset unset-all "
            "value= worktree"
        ),
    ),
    "for-each-ref": GIT_TABLES["for-each-ref"],
    "rebase": Table(
        short="imqvnfkrs:X:x:S::",
        long=(
            "abort allow-empty-message apply autosquash autostash committer-date-is-author-date continue edit-todo empty= exec: force-rebase "
            "fork-point gpg-sign:: ignore-date ignore-whitespace interactive keep-base keep-empty merge no-autosquash no-autostash no-ff "
            "no-fork-point no-gpg-sign no-keep-empty no-reapply-cherry-picks no-stat no-update-refs no-verify onto: quiet quit "
            "reapply-cherry-picks rebase-merges:: rerere-autoupdate reset-author-date root signoff skip stat strategy-option: strategy: "
            "update-refs verbose verify whitespace="
        ),
    ),
    "reset": Table(
        short="qN",
        long="hard intent-to-add keep merge mixed no-quiet no-recurse-submodules no-refresh quiet recurse-submodules refresh soft",
    ),
    "restore": Table(
        short="s:SWqm",
        long=(
            "conflict= ignore-skip-worktree-bits ignore-unmerged merge no-overlay no-progress ours overlay progress quiet recurse-submodules:: "
            "source: staged theirs worktree"
        ),
    ),
    "stash": Table(short="kuaqSm:", long="all include-untracked index keep-index message: no-keep-index quiet staged"),
    "tag": Table(
        short="asdfliu:m:F:n::",
        long=(
            "annotate cleanup= color:: column:: contains:? create-reflog delete file: force format: ignore-case list local-user: merged:? "
            "message: no-color no-column no-contains:? no-merged:? no-sign points-at:? sign sort:"
        ),
    ),
    "lfs": Table(short="adflosn", long="all dry-run force include= exclude= local name-only skip-smudge verify-remote"),
    "notes": Table(short="fm:F:", long="file: force message: ref="),
    "submodule": Table(
        short="qfN",
        long="cached depth= files force init jobs= merge no-fetch no-recommend-shallow quiet rebase recursive remote summary-limit=",
    ),
    "worktree": Table(short="fvz", long="force porcelain reason= verbose expire="),
}
FIRST_WORDS: dict[str, frozenset[str]] = {
    "bisect": frozenset(
        {"start", "good", "bad", "new", "old", "skip", "reset", "log", "terms", "replay", "run", "help"}
    ),
    "notes": frozenset({"", "list", "show", "add", "append", "remove", "prune", "get-ref", "merge"}),
    "lfs": frozenset(
        {
            "checkout",
            "env",
            "fetch",
            "fsck",
            "install",
            "ls-files",
            "lock",
            "locks",
            "prune",
            "pull",
            "push",
            "status",
            "track",
            "untrack",
        }
    ),
    "stash": frozenset({"", "push", "save", "pop", "apply", "drop", "branch", "clear", "create", "store"}),
    "submodule": frozenset({"", "status", "init", "deinit", "update", "summary", "sync", "absorbgitdirs", "foreach"}),
    "worktree": frozenset({"list", "lock", "unlock", "prune", "remove", "repair"}),
}
"""Of these the first word decides. A new working tree holds the same files by other names."""

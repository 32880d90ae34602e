"""Tables of the programs that search and compare."""

from everturn.permissions.shell.readonly.options import Globs, Operands, Table

_GREP = Table(
    short="EFGPiyvwxcLlqsonHhbUuzaIRrTZVe:f:m:A:B:C:D:d:",
    long=(
        "after-context: basic-regexp before-context: binary binary-files: byte-offset color:: colour:: context: count "
        "dereference-recursive devices: directories: exclude: exclude-dir: exclude-from: extended-regexp file: "
        "files-with-matches files-without-match fixed-strings group-separator: help ignore-case include: initial-tab "
        "invert-match label: line-buffered line-number line-regexp max-count: no-filename no-group-separator "
        "no-ignore-case no-messages null null-data only-matching perl-regexp quiet recursive regexp: silent text version "
        "with-filename word-regexp"
    ),
    paths=frozenset({"-f", "--file", "--exclude-from"}),
    number=True,
    operands=Operands.PATTERN,
    patterns=frozenset({"-e", "--regexp", "-f", "--file"}),
    recursive=frozenset({"-R", "-r", "--recursive", "--dereference-recursive", "-d", "--directories"}),
)
_RG = Table(
    short="FSilLnNHIcowvxsuUPq0apb.VA:B:C:E:M:T:d:e:f:g:j:m:r:t:",
    long=(
        "after-context: before-context: binary byte-offset case-sensitive color: colors: column context: "
        "context-separator: count count-matches crlf encoding: engine: field-context-separator: field-match-separator: "
        "file: files files-with-matches files-without-match fixed-strings follow glob: glob-case-insensitive heading "
        "hidden iglob: ignore-case ignore-file: include-zero invert-match json line-buffered line-number line-regexp "
        "max-columns: max-columns-preview max-count: max-depth: max-filesize: multiline multiline-dotall no-config "
        "no-filename no-heading no-ignore no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global "
        "no-ignore-parent no-ignore-vcs no-line-number no-messages no-require-git null null-data one-file-system "
        "only-matching passthru pcre2 pretty quiet regexp: replace: smart-case sort: sortr: stats text threads: trim "
        "type: type-list type-not: unrestricted version vimgrep with-filename word-regexp"
    ),
    paths=frozenset({"-f", "--file", "--ignore-file"}),
    dashed=frozenset({"-e", "--regexp"}),
    operands=Operands.PATTERN,
    patterns=frozenset({"-e", "--regexp", "-f", "--file", "--files", "--type-list"}),
    recursive=frozenset({"*"}),
    globs=Globs.NEVER,
)
_DIFF = Table(
    short="qrsuNabBwiEZycdetTpnvU:C:W:x:I:L:F:S:X:",
    long=(
        "brief color:: context:: ed exclude: exclude-from: expand-tabs from-file: help horizon-lines: ignore-all-space "
        "ignore-blank-lines ignore-case ignore-file-name-case ignore-matching-lines: ignore-space-change "
        "ignore-tab-expansion ignore-trailing-space initial-tab label: left-column minimal new-file no-dereference "
        "no-ignore-file-name-case normal palette: rcs recursive report-identical-files show-c-function "
        "show-function-line: side-by-side speed-large-files starting-file: strip-trailing-cr suppress-common-lines "
        "tabsize: text to-file: unidirectional-new-file unified:: version width:"
    ),
    paths=frozenset({"-X", "--exclude-from", "--from-file", "--to-file"}),
    number=True,
    recursive=frozenset({"-r", "--recursive"}),
)

SEARCH_TABLES: dict[str, Table] = {
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": _RG,
    "diff": _DIFF,
    "cmp": Table(
        short="blsi:n:", long="bytes: help ignore-initial: print-bytes quiet silent verbose version"
    ),
    "comm": Table(
        short="123z", long="check-order help nocheck-order output-delimiter: total version zero-terminated"
    ),
    "jq": Table(
        short="rcnseCMSajRhV",
        long=(
            "arg:2 argjson:2 ascii-output color-output compact-output exit-status help indent: join-output "
            "monochrome-output null-input raw-input raw-output raw-output0 slurp sort-keys stream tab unbuffered version"
        ),
        operands=Operands.PATTERN,
        globs=Globs.NEVER,
    ),
}  # fmt: skip
"""Left out: what runs programs (`--pre`, `-z` of rg, `-l` of diff), and jq's files and modules (`-f`, `-L`, `--slurpfile`)."""

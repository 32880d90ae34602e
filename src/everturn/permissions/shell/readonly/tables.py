"""The table of commands that only read. Options that write, run programs, wait for ever or take file names from files are left out."""

from everturn.permissions.shell.readonly.options import Operands, Table


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SUMS = Table(flags="btz", long=_names("binary text tag zero"))

TABLES: dict[str, Table] = {
    "ls": Table(
        flags="aAbBcCdfFgGhHiklLmnNopqQrRsStTuUvxXZ1",
        valued="Iw",
        long=_names(
            "all almost-all author block-size classify color context dereference dereference-command-line directory escape file-type "
            "format full-time group-directories-first help hide hide-control-chars hyperlink kibibytes show-control-chars tabsize zero "
            "human-readable ignore indicator-style inode literal no-group numeric-uid-gid quote-name recursive reverse "
            "si size sort time time-style version width"
        ),
    ),
    "cat": Table(
        flags="AbeEnstTuv",
        long=_names("help number number-nonblank show-all show-ends show-nonprinting show-tabs squeeze-blank version"),
    ),
    "head": Table(
        flags="qvz",
        valued="nc",
        number=True,
        long=_names("bytes help lines quiet silent verbose version zero-terminated"),
    ),
    "tail": Table(
        flags="qvz",
        valued="nc",
        number=True,
        long=_names("bytes help lines quiet silent verbose version zero-terminated"),
    ),
    "wc": Table(flags="clmwL", long=_names("bytes chars help lines max-line-length total version words")),
    "nl": Table(flags="p", valued="bdfhilnsvw"),
    "tac": Table(flags="br", valued="s"),
    "rev": Table(),
    "cut": Table(
        flags="sz",
        valued="bcdf",
        long=_names("bytes characters complement delimiter fields only-delimited output-delimiter"),
    ),
    "paste": Table(flags="sz", valued="d"),
    "fold": Table(flags="bs", valued="w"),
    "expand": Table(flags="i", valued="t"),
    "comm": Table(flags="123z", long=_names("check-order nocheck-order total output-delimiter")),
    "cmp": Table(flags="bls", valued="in"),
    "od": Table(flags="abcdfhiloxsv", valued="ANjtwS"),
    "strings": Table(flags="af", valued="net"),
    "md5sum": _SUMS,
    "sha1sum": _SUMS,
    "sha256sum": _SUMS,
    "sha512sum": _SUMS,
    "cksum": Table(),
    "base64": Table(flags="di", valued="w", long=_names("decode wrap ignore-garbage"), most=1),
    "file": Table(flags="bhiLkNnprs0", long=_names("brief mime mime-type mime-encoding dereference")),
    "stat": Table(
        flags="Lft", valued="c", long=_names("cached dereference file-system format help printf terse version")
    ),
    "du": Table(
        flags="abchHkLlmPsSx0D",
        valued="dBt",
        long=_names(
            "all apparent-size block-size bytes count-links dereference dereference-args exclude help human-readable inodes max-depth "
            "no-dereference null one-file-system separate-dirs si summarize threshold time time-style total version"
        ),
    ),
    "tree": Table(flags="adfishpugDFCnQqN", valued="LIP", long=_names("dirsfirst noreport gitignore prune du")),
    "realpath": Table(
        flags="emLPqsz", long=_names("canonicalize-existing canonicalize-missing relative-to relative-base")
    ),
    "readlink": Table(flags="femnqsvz"),
    "grep": Table(
        flags="EFGPiyvwxcLlqsonHhbUuzaIRrTZV",
        valued="emABCDd",
        number=True,
        operands=Operands.PATTERN,
        recursive="Rrd",
        long=_names(
            "after-context basic-regexp before-context binary binary-files byte-offset color colour context count "
            "dereference-recursive exclude exclude-dir extended-regexp files-with-matches files-without-match "
            "fixed-strings group-separator help ignore-case include initial-tab invert-match label line-buffered line-number line-regexp "
            "max-count no-filename no-group-separator version "
            "no-ignore-case no-messages null null-data only-matching perl-regexp quiet recursive regexp silent text "
            "with-filename word-regexp"
        ),
    ),
    "rg": Table(
        flags="FSilLnNHIcowvxsuUPq0ap.",
        valued="egtTABCmMjd",
        operands=Operands.PATTERN,
        recursive="*",
        globs=False,
        long=_names(
            "after-context before-context color column context count count-matches files files-with-matches "
            "files-without-match fixed-strings glob heading hidden iglob ignore-case invert-match json line-number "
            "max-columns max-count max-depth multiline no-filename no-heading no-ignore no-line-number only-matching "
            "pcre2 regexp smart-case sort stats trim type type-list type-not unrestricted vimgrep with-filename "
            "word-regexp"
        ),
    ),
    "diff": Table(
        flags="qrsuNabBwiEZycdetTpnv",
        valued="UCWxILF",
        recursive="r",
        long=_names(
            "brief color context ed exclude expand-tabs help horizon-lines ignore-all-space ignore-blank-lines ignore-case "
            "ignore-file-name-case ignore-matching-lines ignore-space-change ignore-tab-expansion ignore-trailing-space initial-tab "
            "label left-column minimal new-file no-ignore-file-name-case palette rcs show-c-function show-function-line "
            "speed-large-files tabsize unidirectional-new-file version "
            "no-dereference normal recursive report-identical-files side-by-side strip-trailing-cr suppress-common-lines "
            "text unified width"
        ),
    ),
    "sort": Table(
        flags="bdfgiMhnRrVcCmsuz",
        valued="kt",
        globs=False,
        long=_names(
            "check dictionary-order field-separator general-numeric-sort human-numeric-sort ignore-case "
            "ignore-leading-blanks key merge month-sort numeric-sort reverse stable unique version-sort zero-terminated"
        ),
    ),
    "uniq": Table(
        flags="cdDiuz", valued="fsw", most=1, globs=False, long=_names("all-repeated count ignore-case repeated unique")
    ),
    "tr": Table(flags="cCdst", operands=Operands.TEXT, long=_names("complement delete squeeze-repeats truncate-set1")),
    "jq": Table(
        flags="rcnseCMSaj",
        operands=Operands.PATTERN,
        globs=False,
        long=_names(
            "compact-output exit-status join-output monochrome-output null-input raw-input raw-output slurp sort-keys tab"
        ),
    ),
    "which": Table(
        flags="as", operands=Operands.TEXT, long=_names("all skip-alias skip-dot skip-tilde skip-functions")
    ),
    "type": Table(flags="afptP", operands=Operands.TEXT),
    "basename": Table(flags="az", valued="s", operands=Operands.TEXT),
    "dirname": Table(flags="z", operands=Operands.TEXT),
    "seq": Table(flags="w", valued="fs", operands=Operands.TEXT, globs=False),
    "pwd": Table(flags="LP", operands=Operands.NONE, long=_names("logical physical")),
    "true": Table(operands=Operands.TEXT),
    "false": Table(operands=Operands.TEXT),
    ":": Table(operands=Operands.TEXT),
    "break": Table(operands=Operands.NONE),
    "continue": Table(operands=Operands.NONE),
    "exit": Table(operands=Operands.TEXT, globs=False, most=1),
}

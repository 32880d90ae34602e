"""Tables of the programs that show, cut and count text."""

from everturn.permissions.shell.readonly.options import Globs, Operands, Table

_SUM = Table(short="btz", long="binary help tag text version zero")

TEXT_TABLES: dict[str, Table] = {
    "cat": Table(
        short="AbeEnstTuv",
        long="help number number-nonblank show-all show-ends show-nonprinting show-tabs squeeze-blank version",
    ),
    "head": Table(
        short="qvzn:c:", long="bytes: help lines: quiet silent verbose version zero-terminated", number=True
    ),
    "tail": Table(
        short="qvzn:c:", long="bytes: help lines: quiet silent verbose version zero-terminated", number=True
    ),
    "wc": Table(short="clmwL", long="bytes chars help lines max-line-length total: version words"),
    "nl": Table(
        short="pb:d:f:h:i:l:n:s:v:w:",
        long=(
            "body-numbering: footer-numbering: header-numbering: help join-blank-lines: line-increment: no-renumber "
            "number-format: number-separator: number-width: section-delimiter: starting-line-number: version"
        ),
    ),
    "tac": Table(short="brs:", long="before help regex separator: version"),
    "rev": Table(short="hV", long="help version"),
    "cut": Table(
        short="nszb:c:d:f:",
        long=(
            "bytes: characters: complement delimiter: fields: help only-delimited output-delimiter: version "
            "zero-terminated"
        ),
    ),
    "paste": Table(short="szd:", long="delimiters: help serial version zero-terminated"),
    "fold": Table(short="bsw:", long="bytes help spaces version width:"),
    "expand": Table(short="it:", long="help initial tabs: version"),
    "unexpand": Table(short="at:", long="all first-only help tabs: version"),
    "fmt": Table(
        short="cstuw:g:p:",
        long="crown-margin goal: help prefix: split-only tagged-paragraph uniform-spacing version width:",
        number=True,
    ),
    "pr": Table(
        short="acdfFJmrtTvD:e::h:i::l:n::N:o:s::S::w:W:",
        long=(
            "across columns: date-format: double-space expand-tabs:: first-line-number: form-feed header: help indent: "
            "join-lines length: merge no-file-warnings number-lines:: omit-header omit-pagination output-tabs:: "
            "page-width: pages: sep-string:: separator:: show-control-chars show-nonprinting version width:"
        ),
        number=True,
    ),
    "column": Table(
        short="tdeJLxhVc:H:N:o:O:R:s:T:W:",
        long=(
            "fillrows help json keep-empty-lines output-separator: output-width: separator: table table-columns: "
            "table-header-repeat table-hide: table-noheadings table-order: table-right: table-truncate: table-wrap: "
            "version"
        ),
    ),
    "join": Table(
        short="iz1:2:a:e:j:o:t:v:", long="check-order header help ignore-case nocheck-order version zero-terminated"
    ),
    "tsort": Table(long="help version"),
    "shuf": Table(
        short="ezi:n:", long="echo head-count: help input-range: version zero-terminated", globs=Globs.NAMED
    ),
    "sort": Table(
        short="bdfgiMhnRrVcCmsuzk:t:",
        long=(
            "check:: debug dictionary-order field-separator: general-numeric-sort help human-numeric-sort ignore-case "
            "ignore-leading-blanks ignore-nonprinting key: merge month-sort numeric-sort random-sort reverse sort: stable "
            "unique version version-sort zero-terminated"
        ),
        globs=Globs.NEVER,
    ),
    "uniq": Table(
        short="cdDiuzf:s:w:",
        long=(
            "all-repeated:: check-chars: count group:: help ignore-case repeated skip-chars: skip-fields: unique version "
            "zero-terminated"
        ),
        most=1,
        globs=Globs.NEVER,
    ),
    "tr": Table(
        short="cCdst",
        long="complement delete help squeeze-repeats truncate-set1 version",
        permutes=False,
        operands=Operands.TEXT,
    ),
    "od": Table(
        short="abcdfhiloxsvA:j:N:S:t:w::",
        long=(
            "address-radix: endian: format: help output-duplicates read-bytes: skip-bytes: strings:: version width::"
        ),
    ),
    "hexdump": Table(
        short="bcCdoxvhVL::e:n:s:",
        long=(
            "canonical color:: format: help length: no-squeezing one-byte-char one-byte-octal skip: two-bytes-decimal "
            "two-bytes-hex two-bytes-octal version"
        ),
    ),
    "xxd": Table(
        short="abeEipruvc:g:l:n:o:s:",
        words=frozenset({"-ps", "-plain", "-postscript", "-bits", "-include", "-autoskip", "-upper", "-uppercase"}),
        most=1,
        permutes=False,
        clusters=False,
        globs=Globs.NEVER,
    ),
    "strings": Table(
        short="afwn:e:t:",
        long="all bytes: data encoding: help include-all-whitespace print-file-name radix: version",
        responds=True,
        globs=Globs.NAMED,
    ),
    "md5sum": _SUM,
    "sha1sum": _SUM,
    "sha224sum": _SUM,
    "sha256sum": _SUM,
    "sha384sum": _SUM,
    "sha512sum": _SUM,
    "b2sum": Table(short="btzl:", long="binary help length: tag text version zero"),
    "sum": Table(short="rs", long="help sysv version"),
    "cksum": Table(long="help version"),
    "base64": Table(short="diw:", long="decode help ignore-garbage version wrap:", most=1),
    "base32": Table(short="diw:", long="decode help ignore-garbage version wrap:", most=1),
    "numfmt": Table(
        short="d:z",
        long=(
            "debug delimiter: field: format: from: from-unit: grouping header:: help invalid: padding: round: suffix: to: "
            "to-unit: version zero-terminated"
        ),
        operands=Operands.TEXT,
    ),
    "bc": Table(short="hlqsvw", long="help mathlib quiet standard version warn"),
}  # fmt: skip
"""Left out: what writes (`-o`), runs programs (`--compress-program` of sort), never ends (`tail -f`, `shuf -r`), or takes names of files
from files (`--files0-from`, `-c` of the sums)."""

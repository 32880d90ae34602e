"""Tables of the programs that tell about files, names and the machine, and of the shell's own."""

from everturn.permissions.shell.readonly.options import Globs, Operands, Table

_TEXT = Table(operands=Operands.TEXT)
_NOTHING = Table(operands=Operands.NONE, long="help version")

SYSTEM_TABLES: dict[str, Table] = {
    "ls": Table(
        short="aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1I:T:w:",
        long=(
            "all almost-all author block-size: classify:: color:: context dereference dereference-command-line "
            "dereference-command-line-symlink-to-dir directory escape file-type format: full-time group-directories-first "
            "help hide: hide-control-chars human-readable hyperlink:: ignore: ignore-backups indicator-style: inode "
            "kibibytes literal no-group numeric-uid-gid quote-name quoting-style: recursive reverse show-control-chars si "
            "size sort: tabsize: time: time-style: version width: zero"
        ),
    ),
    "file": Table(
        short="bhiLkNnrs0vF:",
        long="brief dereference keep-going mime mime-encoding mime-type no-dereference no-pad raw separator: version",
        globs=Globs.NAMED,
    ),
    "stat": Table(short="Lftc:", long="cached: dereference file-system format: help printf: terse version"),
    "du": Table(
        short="abchHkLlmPsSx0DB:d:t:X:",
        long=(
            "all apparent-size block-size: bytes count-links dereference dereference-args exclude: exclude-from: help "
            "human-readable inodes max-depth: no-dereference null one-file-system separate-dirs si summarize threshold: "
            "time:: time-style: total version"
        ),
        paths=frozenset({"-X", "--exclude-from"}),
    ),
    "tree": Table(
        short="adfishpugDFCnQqNL:I:P:", long="dirsfirst du gitignore noreport prune version", glued=False
    ),
    "realpath": Table(
        short="eEmLPqsz",
        long=(
            "canonicalize canonicalize-existing canonicalize-missing help logical no-symlinks physical quiet "
            "relative-base: relative-to: strip version zero"
        ),
        paths=frozenset({"--relative-base", "--relative-to"}),
    ),
    "readlink": Table(
        short="femnqsvz",
        long=(
            "canonicalize canonicalize-existing canonicalize-missing help no-newline quiet silent verbose version zero"
        ),
    ),
    "nm": Table(
        short="aABCDgnopPrSuvVf:t:",
        long=(
            "debug-syms defined-only demangle:: dynamic extern-only format: line-numbers no-demangle no-sort "
            "numeric-sort portability print-armap print-file-name print-size radix: reverse-sort size-sort special-syms "
            "undefined-only version without-symbol-versions"
        ),
        responds=True,
        globs=Globs.NAMED,
    ),
    "size": Table(short="ABdoxtGV", long="common format: radix: totals version", responds=True, globs=Globs.NAMED),
    "readelf": Table(
        short="aAcdDeghIlLnrsStTuvVWp:x:",
        long=(
            "all arch-specific archive-index dynamic file-header headers histogram notes program-headers "
            "relocs section-details section-groups section-headers sections segments string-dump: syms symbols "
            "unwind use-dynamic version version-info wide hex-dump: dyn-syms"
        ),
        responds=True,
        globs=Globs.NAMED,
    ),
    "objdump": Table(
        short="aCdDfFghHprRstTvwxzj:M:",
        long=(
            "all-headers archive-headers demangle:: disassemble:: disassemble-all disassemble-zeroes "
            "disassembler-options: dynamic-reloc dynamic-syms file-headers full-contents headers line-numbers "
            "no-addresses no-show-raw-insn private-headers reloc section: section-headers show-raw-insn "
            "start-address: stop-address: syms version wide"
        ),
        responds=True,
        globs=Globs.NAMED,
    ),
    "which": Table(
        short="as", long="all skip-alias skip-dot skip-functions skip-tilde", operands=Operands.TEXT
    ),
    "type": Table(short="afptP", permutes=False, operands=Operands.TEXT),
    "basename": Table(
        short="azs:", long="help multiple suffix: version zero", permutes=False, operands=Operands.TEXT
    ),
    "dirname": Table(short="z", long="help version zero", permutes=False, operands=Operands.TEXT),
    "seq": Table(
        short="wf:s:",
        long="equal-width format: help separator: version",
        number=True,
        permutes=False,
        operands=Operands.TEXT,
        globs=Globs.NEVER,
    ),
    "expr": Table(long="help version", permutes=False, operands=Operands.TEXT),
    "factor": Table(short="h", long="exponents help version", operands=Operands.TEXT),
    "sleep": Table(long="help version", operands=Operands.TEXT),
    "id": Table(
        short="agGnruzZ", long="context group groups help name real user version zero", operands=Operands.TEXT
    ),
    "groups": Table(long="help version", operands=Operands.TEXT),
    "whoami": _NOTHING,
    "logname": _NOTHING,
    "arch": _NOTHING,
    "tty": Table(short="s", long="help quiet silent version", operands=Operands.NONE),
    "nproc": Table(long="all help ignore: version", operands=Operands.NONE),
    "uname": Table(
        short="amnoprsvi",
        long=(
            "all hardware-platform help kernel-name kernel-release kernel-version machine nodename operating-system "
            "processor version"
        ),
        operands=Operands.NONE,
    ),
    "hostname": Table(short="sI", long="all-ip-addresses short", operands=Operands.NONE),
    "getconf": Table(short="a", permutes=False, clusters=False, operands=Operands.FILES),
    "locale": Table(short="ack", long="all-locales category-name keyword-name", operands=Operands.TEXT),
    "cal": Table(short="13jmsy", operands=Operands.TEXT),
    "pwd": Table(short="LP", operands=Operands.NONE),
    "true": _TEXT,
    "false": _TEXT,
    ":": _TEXT,
    "break": Table(operands=Operands.NONE),
    "continue": Table(operands=Operands.NONE),
    "exit": Table(operands=Operands.TEXT, globs=Globs.NEVER, most=1),
}  # fmt: skip
"""Left out: what writes (`-o` of tree, `-C` and `-p` of file), reads files that a file names (`-S` of objdump), runs programs (`-z` of file, `-v` of getconf, `-m` of locale, plugins), asks the network
(`-f` of hostname), or takes names of files from files."""

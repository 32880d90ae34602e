"""Scripts where nobody looks for one: in an option of a program, and in programs of other languages. For deny rules alone."""

import re
from collections.abc import Iterator

from everturn.core.patterns import compile_late
from everturn.permissions.shell.option_values import Options, find_options
from everturn.permissions.shell.runner_words import MOST_WORDS, skip_options
from everturn.permissions.shell.runners import INTERPRETERS
from everturn.permissions.shell.stream_code import find_run_by_awk, find_run_by_sed

_REMOTE = Options(letters="u", names=("--upload-pack", "--receive-pack", "--exec"), valued="ucobj")
_COPY = Options(letters="oS", valued="cDFiJloPSXBbRs")
_EDITOR = Options(letters="c", names=("--cmd",), valued="cSswWTuUi")
_COMPILER = Options(names=("-wrapper",))
_OF_NPM = Options(
    names=("--script-shell", "--shell", "--editor", "--viewer", "--browser", "--git", "--node-gyp", "--call", "--init-module")
)  # fmt: skip
_OPTIONS: dict[str, Options] = {
    "tar": Options(
        letters="IF",
        names=(
            "--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command", "--rmt-command", "--info-script",
            "--new-volume-script",
        ),
        valued="bCfFgHIKLNTVX",
    ),
    "rsync": Options(letters="e", names=("--rsh", "--rsync-path"), valued="eBfMT"),
    "ssh": Options(letters="o", valued="BbcDEeFIiJLlmOopQRSWw"),
    "scp": _COPY,
    "sftp": _COPY,
    "sort": Options(names=("--compress-program",)),
    "rg": Options(names=("--pre", "--hostname-bin")),
    "man": Options(letters="PH", names=("--pager", "--html"), valued="CRLmMSserpTXHP"),
    "make": Options(letters="E", names=("--eval",), valued="CEfIoW"),
    "zip": Options(names=("--unzip-command",)),
    "nc": Options(letters="ce", valued="ceIiMmOPpqsTVwXx"),
    "ncat": Options(letters="ce", names=("--sh-exec", "--exec", "--lua-exec"), valued="ceidgGmopsw"),
    "entr": Options(letters="s", valued="s"),
    "nodemon": Options(letters="x", names=("--exec",), valued="xewid"),
    "split": Options(names=("--filter",)),
    "install": Options(names=("--strip-program",)),
    "wget": Options(names=("--use-askpass",)),
    "mysql": Options(names=("--pager",)),
    "dpkg": Options(names=("--pre-invoke", "--post-invoke")),
    "apt": Options(letters="o", names=("--option",), valued="octa"),
    "cargo": Options(names=("--config",)),
    "just": Options(names=("--shell",)),
    "coreutils": Options(names=("--coreutils-prog", "--coreutils-prog-shebang")),
    "capsh": Options(names=("--shell",)),
    "git rebase": Options(letters="x", names=("--exec",), valued="xsXC"),
    "git difftool": Options(letters="x", names=("--extcmd",), valued="xt"),
    "git grep": Options(letters="O", names=("--open-files-in-pager",), valued="OefABCm"),
    "git filter-branch": Options(
        names=(
            "--setup", "--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter", "--parent-filter",
            "--tag-name-filter",
        ),
    ),
    "git send-email": Options(
        names=("--sendmail-cmd", "--smtp-server", "--to-cmd", "--cc-cmd", "--header-cmd"),
    ),
    "git instaweb": Options(letters="db", names=("--httpd", "--browser"), valued="dbmp"),
    "git daemon": Options(names=("--access-hook",)),
    **dict.fromkeys(("vi", "vim", "nvim", "ex", "view", "vimdiff"), _EDITOR),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), _COMPILER),
    **dict.fromkeys(("npm", "npx", "pnpm", "yarn"), _OF_NPM),
    **dict.fromkeys((f"git {each}" for each in ("fetch", "pull", "push", "clone", "ls-remote", "archive", "fetch-pack", "send-pack")), _REMOTE),
}  # fmt: skip
"""Options whose value runs, by the program, or by the program and its subcommand. They are recognised in every spelling."""
_OPTIONS["apt-get"] = _OPTIONS["apt-cache"] = _OPTIONS["apt"]
_HAVE_SUBCOMMANDS = frozenset(name.partition(" ")[0] for name in _OPTIONS if " " in name)
_IN_VALUE = {
    "--checkpoint-action": re.compile(r"exec=(?P<script>.*)", re.DOTALL),
    **dict.fromkeys(
        ("ssh", "scp", "sftp"),
        re.compile(
            r"[ \t\"]*(?:Proxy|Local|KnownHosts|AuthorizedKeys|Remote)Command[\s=]+\"?(?P<script>.*)|(?P<program>[^=\s]+)$",
            re.DOTALL | re.IGNORECASE,
        ),
    ),
    **dict.fromkeys(("-c", "--cmd"), re.compile(r".*?!(?P<script>.*)", re.DOTALL)),
    **dict.fromkeys(("apt", "apt-get", "apt-cache"), re.compile(r".*(?:Invoke|Install-Pkgs|Command|Exec|Program|Script)[^=]*=(?P<script>.*)", re.DOTALL)),
    "cargo": re.compile(r"[^=]*(?:runner|wrapper|linker|rustc|rustdoc|credential|process)[^=]*=(?P<script>.*)", re.DOTALL),
}  # fmt: skip
"""Where only some values of the option run, by the option or by the program."""
_LISTED = compile_late(r"[\[\]\"',]+")
_OLD_STYLE = compile_late(r"[A-Za-z]*[IF][A-Za-z]*")
_VALUED_BY_TAR = frozenset("bfFgHIKLNTVX")
_TEST = compile_late(r"-[A-Za-z]*TT(?P<script>.*)", re.DOTALL)
"""Of `zip`: a test by another program."""
_CHANNEL = compile_late(r"(?:EXEC|SYSTEM|SHELL):(?P<script>.*)", re.DOTALL | re.IGNORECASE)
_SED, _AWK = frozenset({"sed", "gsed"}), frozenset({"awk", "gawk", "mawk", "nawk", "original-awk", "goawk"})
_HAVE_SCRIPTS = frozenset(name.partition(" ")[0] for name in _OPTIONS) | _SED | _AWK | {"socat"}
_ALSO_CODE = frozenset({"expect", "m4"})
_VERSION = compile_late(r"[\d.]+$")


def is_interpreter(name: str) -> bool:
    """Also by a name with a version: `python3.12`."""
    return (
        name in INTERPRETERS
        or name in _ALSO_CODE
        or name in _SED
        or name in _AWK
        or _VERSION.sub("", name) in INTERPRETERS
    )


def find_option_scripts(name: str, rest: list[str]) -> Iterator[str]:
    if name not in _HAVE_SCRIPTS:
        return
    words = rest[:MOST_WORDS]
    if name in _SED:
        yield from find_run_by_sed(words)
    elif name in _AWK:
        yield from find_run_by_awk(words)
    elif name == "tar":
        yield from _find_old_style(words)
    elif name == "zip":
        tests = (
            (found["script"], words[at + 1 :][:1]) for at, word in enumerate(words) if (found := _TEST.match(word))
        )
        yield from (joined or " ".join(following) for joined, following in tests)
    elif name == "socat":
        yield from (found["script"].partition(",")[0] for word in words if (found := _CHANNEL.match(word)))
    options = _OPTIONS.get(name)
    if options is None and name in _HAVE_SUBCOMMANDS and (subcommand := skip_options(rest)):
        options = _OPTIONS.get(f"{name} {subcommand[0]}")
    for option, value in find_options(words, options) if options else ():
        yield from _find_in_value(name, option, value)


def _find_in_value(name: str, option: str, value: str) -> Iterator[str]:
    if (pattern := _IN_VALUE.get(option if option in _IN_VALUE and name not in {"nc", "ncat"} else name)) is not None:
        found = pattern.match(value)
        value = next((text for text in found.groupdict().values() if text), "") if found else ""
    if name == "cargo" or option == "-wrapper":
        value = _LISTED.sub(" ", value).strip()
    if value:
        yield value


def _find_old_style(words: list[str]) -> Iterator[str]:
    """`tar cIf 'rm x' a.tar`: letters without a dash, and then their values."""
    if words and _OLD_STYLE.fullmatch(words[0]):
        count = sum(letter in _VALUED_BY_TAR for letter in words[0])
        yield from words[1 : 1 + count]

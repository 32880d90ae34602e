"""Scripts in unusual places: in an option of a program, or inside a program of another language. For deny rules only."""

import re
from collections.abc import Iterator

from everturn.core.patterns import compile_late
from everturn.permissions.shell.running.option_values import OptionNames, find_options
from everturn.permissions.shell.running.runner_words import MAX_WORDS, skip_options
from everturn.permissions.shell.running.runners import INTERPRETERS

_REMOTE = OptionNames(letters="u", names=("--upload-pack", "--receive-pack", "--exec"), valued="ucobj")
_COPY = OptionNames(letters="oS", valued="cDFiJloPSXBbRs")
_EDITOR = OptionNames(letters="c", names=("--cmd",), valued="cSswWTuUi")
_COMPILER = OptionNames(names=("-wrapper",))
_OF_NPM = OptionNames(
    names=("--script-shell", "--shell", "--editor", "--viewer", "--browser", "--git", "--node-gyp", "--call", "--init-module")
)  # fmt: skip
_OPTIONS: dict[str, OptionNames] = {
    "tar": OptionNames(
        letters="IF",
        names=(
            "--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command", "--rmt-command", "--info-script",
            "--new-volume-script",
        ),
        valued="bCfFgHIKLNTVX",
    ),
    "rsync": OptionNames(letters="e", names=("--rsh", "--rsync-path"), valued="eBfMT"),
    "ssh": OptionNames(letters="o", valued="BbcDEeFIiJLlmOopQRSWw"),
    "scp": _COPY,
    "sftp": _COPY,
    "sort": OptionNames(names=("--compress-program",)),
    "rg": OptionNames(names=("--pre", "--hostname-bin")),
    "man": OptionNames(letters="PH", names=("--pager", "--html"), valued="CRLmMSserpTXHP"),
    "make": OptionNames(letters="E", names=("--eval",), valued="CEfIoW"),
    "zip": OptionNames(names=("--unzip-command",)),
    "nc": OptionNames(letters="ce", valued="ceIiMmOPpqsTVwXx"),
    "ncat": OptionNames(letters="ce", names=("--sh-exec", "--exec", "--lua-exec"), valued="ceidgGmopsw"),
    "entr": OptionNames(letters="s", valued="s"),
    "nodemon": OptionNames(letters="x", names=("--exec",), valued="xewid"),
    "split": OptionNames(names=("--filter",)),
    "install": OptionNames(names=("--strip-program",)),
    "wget": OptionNames(names=("--use-askpass",)),
    "mysql": OptionNames(names=("--pager",)),
    "dpkg": OptionNames(names=("--pre-invoke", "--post-invoke")),
    "apt": OptionNames(letters="o", names=("--option",), valued="octa"),
    "cargo": OptionNames(names=("--config",)),
    "just": OptionNames(names=("--shell",)),
    "coreutils": OptionNames(names=("--coreutils-prog", "--coreutils-prog-shebang")),
    "capsh": OptionNames(names=("--shell",)),
    "git rebase": OptionNames(letters="x", names=("--exec",), valued="xsXC"),
    "git difftool": OptionNames(letters="x", names=("--extcmd",), valued="xt"),
    "git grep": OptionNames(letters="O", names=("--open-files-in-pager",), valued="OefABCm"),
    "git filter-branch": OptionNames(
        names=(
            "--setup", "--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter", "--parent-filter",
            "--tag-name-filter",
        ),
    ),
    "git send-email": OptionNames(
        names=("--sendmail-cmd", "--smtp-server", "--to-cmd", "--cc-cmd", "--header-cmd"),
    ),
    "git instaweb": OptionNames(letters="db", names=("--httpd", "--browser"), valued="dbmp"),
    "git daemon": OptionNames(names=("--access-hook",)),
    **dict.fromkeys(("vi", "vim", "nvim", "ex", "view", "vimdiff"), _EDITOR),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), _COMPILER),
    **dict.fromkeys(("npm", "npx", "pnpm", "yarn"), _OF_NPM),
    **dict.fromkeys((f"git {each}" for each in ("fetch", "pull", "push", "clone", "ls-remote", "archive", "fetch-pack", "send-pack")), _REMOTE),
}  # fmt: skip
"""Options whose value runs, by the program, or by the program and its subcommand. They are recognised in every spelling."""
_OPTIONS["apt-get"] = _OPTIONS["apt-cache"] = _OPTIONS["apt"]
_HAVE_SUBCOMMANDS = frozenset(name.partition(" ")[0] for name in _OPTIONS if " " in name)
_IN_VALUE = {
    "--checkpoint-action": compile_late(r"exec=(?P<script>.*)", re.DOTALL),
    **dict.fromkeys(
        ("ssh", "scp", "sftp"),
        compile_late(
            r"[ \t\"]*(?:Proxy|Local|KnownHosts|AuthorizedKeys|Remote)Command[\s=]+\"?(?P<script>.*)|(?P<program>[^=\s]+)$",
            re.DOTALL | re.IGNORECASE,
        ),
    ),
    **dict.fromkeys(("-c", "--cmd"), compile_late(r".*?!(?P<script>.*)", re.DOTALL)),
    **dict.fromkeys(("apt", "apt-get", "apt-cache"), compile_late(r".*(?:Invoke|Install-Pkgs|Command|Exec|Program|Script)[^=]*=(?P<script>.*)", re.DOTALL)),
    "cargo": compile_late(r"[^=]*(?:runner|wrapper|linker|rustc|rustdoc|credential|process)[^=]*=(?P<script>.*)", re.DOTALL),
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
    words = rest[:MAX_WORDS]
    if name in _SED:
        from everturn.permissions.shell.running.stream_code import find_run_by_sed

        yield from find_run_by_sed(words)
    elif name in _AWK:
        from everturn.permissions.shell.running.stream_code import find_run_by_awk

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

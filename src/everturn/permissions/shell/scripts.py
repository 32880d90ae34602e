"""Scripts where nobody looks for one: in an option of a program, and in code of another language. For deny rules alone."""

import re
from collections.abc import Iterator
from itertools import islice, pairwise

from everturn.permissions.shell.runner_words import MOST_WORDS, skip_options
from everturn.permissions.shell.runners import INTERPRETERS

_EDITORS = frozenset({"vi", "vim", "nvim", "ex", "view", "vimdiff"})
_REMOTE = ("--upload-pack", "--receive-pack", "--exec")
_OPTIONS: dict[str, tuple[str, ...]] = {
    "tar": ("--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command", "--info-script", "-I", "-F"),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "ssh": ("-o",),
    "scp": ("-o", "-S"),
    "sftp": ("-o", "-S"),
    "sort": ("--compress-program",),
    "rg": ("--pre", "--hostname-bin"),
    "man": ("-P", "--pager", "--html", "-H"),
    "make": ("--eval",),
    "zip": ("-TT", "--unzip-command"),
    "nc": ("-c", "-e"),
    "ncat": ("-c", "-e", "--sh-exec", "--exec"),
    "entr": ("-s",),
    "nodemon": ("-x", "--exec"),
    "split": ("--filter",),
    "git rebase": ("-x", "--exec"),
    "git difftool": ("-x", "--extcmd"),
    "git grep": ("-O", "--open-files-in-pager"),
    "git filter-branch": (
        "--setup", "--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter", "--parent-filter",
        "--tag-name-filter",
    ),
    **dict.fromkeys(_EDITORS, ("-c", "--cmd")),
    **dict.fromkeys(("git fetch", "git pull", "git push", "git clone", "git ls-remote", "git archive"), _REMOTE),
}  # fmt: skip
"""Options whose value runs, by the program, or by the program and its subcommand."""
_HAVE_SUBCOMMANDS = frozenset(name.partition(" ")[0] for name in _OPTIONS if " " in name)
_IN_VALUE = re.compile(
    r"(?:exec=|ProxyCommand[= ]|LocalCommand[= ]|KnownHostsCommand[= ]|:?!)(?P<script>.*)", re.DOTALL
)
"""Where only some values of the option run."""
_ALSO_CODE = frozenset({"sed", "gsed", "expect", "m4"})
_VERSION = re.compile(r"[\d.]+$")
_CALLS = re.compile(
    r"""\b(?:system|popen\d?|Popen|exec\w*|spawn\w*|shell_exec|passthru|proc_open|check_call|check_output|getoutput|getstatusoutput"""
    r"""|call|run|fork|do_shell_script|do\ shell\ script)\b[\s(]*(?:\[[^]]{0,200}\]|(?P<quote>["'`])(?P<said>.{0,2000}?)(?P=quote))"""
    r"""|`(?P<ticks>[^`]*)`|\bqx\W(?P<qx>[^)}\]/|!]*)|\bspawn\s+(?P<spawned>[^\n;"'(]+)|(?:^|[;{\n])[\d,$/! ]*e\s+(?P<sed>[^\n]+)""",
    re.DOTALL,
)
_STRINGS = re.compile(r"""(["'])(.*?)\1""", re.DOTALL)
_MOST_CALLS = 8
_LONGEST_CODE = 5_000


def is_interpreter(name: str) -> bool:
    """Also by a name with a version: `python3.12`."""
    return name in INTERPRETERS or name in _ALSO_CODE or _VERSION.sub("", name) in INTERPRETERS


def find_option_scripts(name: str, rest: list[str]) -> Iterator[str]:
    options = _OPTIONS.get(name)
    if options is None and name in _HAVE_SUBCOMMANDS and (subcommand := skip_options(rest)):
        options = _OPTIONS.get(f"{name} {subcommand[0]}")
    if options is None:
        return
    for word, following in pairwise([*rest[:MOST_WORDS], ""]):
        option, equals, value = word.partition("=")
        if option in options:
            value = value if equals else following
        elif (option := word[:2]) in options and not word.startswith("--"):
            value = word[2:]
        else:
            continue
        if name in _EDITORS or option in {"--checkpoint-action", "-o"}:
            found = _IN_VALUE.match(value)
            value = found["script"] if found else ""
        if value:
            yield value


def find_shell_calls(code: str) -> Iterator[str]:
    """What code hands to a shell, or starts: `os.system("rm x")`, `subprocess.run(["rm", "x"])`, backticks."""
    for call in islice(_CALLS.finditer(code[:_LONGEST_CODE]), _MOST_CALLS):
        said = next((text for text in call.groupdict().values() if text not in {None, '"', "'", "`"}), None)
        if said is None:
            said = " ".join(text for _, text in _STRINGS.findall(call[0]))
        if said.strip():
            yield said

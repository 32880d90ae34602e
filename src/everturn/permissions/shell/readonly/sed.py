"""`sed`: scripts that only print or replace. All others may write files (`w`) or run commands (`e`)."""

import re

from everturn.permissions.shell.syntax import Word

_ADDRESS = r"(?:[0-9]+|\$)(?:,(?:\+?[0-9]+|\$))?"
_PRINT = re.compile(rf"{_ADDRESS}[pdq=]?(?:;{_ADDRESS}[pdq=])*")
_REPLACE = re.compile(
    rf"(?:{_ADDRESS})?s([/|,#:@])(?:(?!\1)[^\\\n;{{}}]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiI0-9]*"
)


def is_plain_script(script: str) -> bool:
    """One `s` command, or line numbers with `p`, `d`, `q` and `=`."""
    return bool(_PRINT.fullmatch(script) or _REPLACE.fullmatch(script))


def split_sed(words: tuple[Word, ...]) -> tuple[bool, tuple[Word, ...]] | None:
    """Whether it edits in place, and its files; None when options or script are not plain."""
    in_place, scripts = False, 0
    files: list[Word] = []
    at = 1
    while at < len(words):
        text = words[at].fixed
        if text is None:
            return None
        at += 1
        if text in {
            "-n",
            "-E",
            "-r",
            "-s",
            "-u",
            "-z",
            "--quiet",
            "--silent",
            "--regexp-extended",
            "-nE",
            "-nr",
            "-En",
        }:
            continue
        if text in {"-i", "--in-place"}:
            in_place = True
        elif text in {"-e", "--expression"}:
            if at >= len(words) or not is_plain_script(words[at].fixed or ""):
                return None
            scripts += 1
            at += 1
        elif text.startswith("-"):
            return None
        else:
            files.append(words[at - 1])
    if not scripts:
        if not files or not is_plain_script(files[0].fixed or ""):
            return None
        files.pop(0)
    return in_place, tuple(files)

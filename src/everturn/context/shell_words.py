"""What a shell command is about, as far as its words tell: a test, a search, a file that is opened."""

import re
from functools import lru_cache
from typing import NamedTuple

RUNNERS = (
    r"ava|bats|behave|busted|ctest|cypress|doctest|jest|karma|mocha|nextest|nosetests|nox|pest|phpunit|playwright|prove|"
    r"py\.test|pytest|rspec|tap|tox|unittest|vitest"
)
WORDS = frozenset({"test", "tests", "check", "verify", "--test"})
"""As the task of a build tool: `make test`, `gradle :app:test`, `npm run test:unit`."""
SCRIPT = r"(?:.*[/_.-])?tests?(?:[_.-][\w.-]*)?\.(?:bash|js|mjs|php|pl|ps1|py|rb|sh|ts)"
SEARCHERS = frozenset({"ack", "ag", "egrep", "fd", "fdfind", "fgrep", "find", "git grep", "git ls-files", "grep", "rg"})
SHOWERS = frozenset({"awk", "bat", "batcat", "cat", "head", "less", "more", "nl", "sed", "tail"})
OTHERS = (
    r"\[|apt|brew|cd|chmod|code|cp|curl|diff|echo|export|git|ln|ls|mkdir|mv|nano|pip3?|printf|rm|rmdir|test|touch|vim?|wc|"
    r"wget|which"
)
"""They may well name a test, and run none."""
INSTALLING = frozenset({"add", "i", "install", "remove", "uninstall"})
FAILURES = r"\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|\b(?:FAILED|FAILURES?|AssertionError)\b|^\s*(?:--- )?FAIL\b|^not ok \d"
_SEPARATORS = r"&&|\|\||[;|&\n]"
_REDIRECTION = r"\s*\d?>>?\s*(?:&\d|\S+)"


class ShellTest(NamedTuple):
    test: str
    """What is run, whatever becomes of its output; the same test always has the same name. Empty where there is none."""
    is_last: bool = True
    """The command's exit code is the test's."""


@lru_cache(maxsize=1_000)
def find_test(command: str) -> ShellTest:
    plain = re.sub(_REDIRECTION, "", command)
    end = 0
    for part in re.split(f"({_SEPARATORS})", plain):
        end += len(part)
        if _is_test(part.split()):
            return ShellTest(" ".join(plain[:end].split()), re.match(r"\s*(?:&&|$)", plain[end:]) is not None)
    return ShellTest("")


def says_failed(output: str) -> bool:
    """For a test whose exit code nobody learns (`pytest | tail`)."""
    return re.search(FAILURES, output, re.MULTILINE) is not None


@lru_cache(maxsize=1_000)
def is_search(command: str) -> bool:
    for part in re.split(_SEPARATORS, command):
        if (program := _program(part.split())) and program != "cd":
            return program in SEARCHERS
    return False


def list_opened(command: str) -> list[str]:
    """Names of files, without their folders, that it shows."""
    parts = [part.split() for part in re.split(_SEPARATORS, command)]
    shown = [word.strip("'\"") for words in parts if _program(words) in SHOWERS for word in words[1:]]
    return [word.rpartition("/")[2] for word in shown if not word.startswith("-") and re.search(r"[./]\w", word)]


def _program(words: list[str]) -> str:
    """Without its folder, and without variables that are set for it; of git, with what it is to do."""
    while words and re.match(r"\w+=", words[0]):
        words = words[1:]
    if not words:
        return ""
    name = words[0].rpartition("/")[2]
    return f"git {words[1]}" if name == "git" and len(words) > 1 else name


def _is_test(words: list[str]) -> bool:
    program = _program(words)
    if (
        re.fullmatch(OTHERS, program.partition(" ")[0])
        or program in SEARCHERS | SHOWERS
        or INSTALLING.intersection(words[1:3])
    ):
        return False
    if words == ["npm", "t"]:
        return True
    if any(re.fullmatch(RUNNERS, word.rpartition("/")[2]) or re.fullmatch(SCRIPT, word) for word in words):
        return True
    return any(WORDS.intersection(word.split(":")) for word in words[1:])

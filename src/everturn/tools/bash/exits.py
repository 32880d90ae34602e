"""What a command's exit code means: for some programs 1 is an answer, not a failure."""

import re
import signal

_ANSWERS = {
    "grep": "nothing matched",
    "egrep": "nothing matched",
    "fgrep": "nothing matched",
    "rg": "nothing matched",
    "git grep": "nothing matched",
    "find": "some places could not be searched",
    "diff": "the files differ",
    "git diff": "there are differences",
    "test": "the condition is false",
    "[": "the condition is false",
    "[[": "the condition is false",
}
_SEPARATORS = frozenset(";|&\n")


def judge_exit(command: str, code: int) -> str | None:
    """The meaning of exit code 1 where it is a normal answer of the last program, else None."""
    if code != 1:
        return None
    words = _last_command(command)
    if words[:1] == ["git"] and len(words) > 1:
        return _ANSWERS.get(f"git {words[1]}")
    return _ANSWERS.get(words[0].rpartition("/")[2]) if words else None


def render_exit(code: int) -> str:
    """A signal reads as a shell would say it: 128 and its number."""
    if code >= 0:
        return f"Exit code {code}"
    return f"Exit code {128 - code} ({name_signal(code)})"


def name_signal(code: int) -> str:
    """Of a negative exit code. Real-time signals have numbers only."""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def may_go_on(command: str) -> bool:
    """When its time is up, in the background. Not what only waits, what holds a repository's lock, or what we cannot read."""
    tokens = _split(command)
    return bool(tokens) and tokens[0] != "sleep" and not any(token.rpartition("/")[2] == "git" for token in tokens)


def _split(command: str) -> list[str]:
    """Words and operators; none where the text cannot be read."""
    from shlex import shlex

    lexer = shlex(command, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return []


def _last_command(command: str) -> list[str]:
    """The words of the last simple command, its assignments left out; empty where the text cannot be read."""
    tokens = _split(command)
    while tokens and _SEPARATORS.issuperset(tokens[-1]):
        tokens.pop()
    last = next((at for at in range(len(tokens), 0, -1) if _SEPARATORS.issuperset(tokens[at - 1])), 0)
    words = [token for token in tokens[last:] if token.strip("()")]
    while words and re.match(r"\w+=", words[0]):
        words.pop(0)
    return words

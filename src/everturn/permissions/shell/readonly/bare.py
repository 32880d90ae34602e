"""Commands that run unasked where nothing confines commands: a dozen programs with fixed arguments, and builtins of the shell."""

import re

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.syntax import Word
from everturn.permissions.shell.readonly.judge import Reads

OF_THE_SHELL = frozenset(
    {":", "[", "[[", "break", "cd", "continue", "echo", "exit", "false", "printf", "pwd", "set", "test", "true"}
)
"""It opens no file and starts nothing for them, whatever their words become, globs aside: what these run is judged by itself."""
_OPTIONS = {
    "cat": r"-[An]",
    "cut": r"-d.|-[cf][0-9,-]+",
    "date": r"-u",
    "grep": r"-[EFHchilnoqsvwx]+|-[ABCm][0-9]+",
    "head": r"-[0-9]+|-n[0-9]+|-c[0-9]+",
    "ls": r"-[1AFRSTahlrst]+",
    "sleep": r"",
    "sort": r"-[bfnru]+",
    "tee": r"-a",
    "tail": r"-[0-9]+|-n\+?[0-9]+|-c[0-9]+",
    "tr": r"-[Ccdst]+",
    "uniq": r"-[cdiu]+",
    "wc": r"-[Lclmw]+",
    "whoami": r"",
}
"""Each word that begins with a dash must be one of these."""
_NUMBERED = {"head": frozenset({"-n"}), "tail": frozenset({"-n"}), "grep": frozenset({"-A", "-B", "-C", "-m"})}
"""`-n 20`, in two words."""
_NUMBER = compile_late(r"\+?[0-9]+")
_NO_FILES = {"date": r"\+[^`$]*", "sleep": r"[0-9.]+[smh]?", "whoami": r"(?!)"}
"""What else they are given."""
_GIT = compile_late(
    r"git (?:status(?: (?:-s|-sb|--short|--porcelain))?|log --oneline(?: -[0-9]+)?|diff(?: (?:--stat|--name-only|--cached|--staged)){0,2}"
    r"|branch(?: --show-current)?|rev-parse (?:--short )?HEAD)"
)


def judge_bare(words: tuple[Word, ...], reads: Reads, *, runs_git: bool) -> bool:
    """`reads`: what it was found to read. Every word of a program must be known: it may be an option, or any file.

    `runs_git`: git may be among them, which does what its repository says.
    """
    name = words[0].raw
    if not words[0].plain:
        return False
    if name in OF_THE_SHELL:
        return all(is_settled(word) for word in words[1:])
    if reads.recursive or reads.varies or any(word.fixed is None for word in words):
        return False
    if name == "git":
        return runs_git and _GIT.fullmatch(" ".join(word.fixed or "" for word in words)) is not None
    options = _OPTIONS.get(name)
    return options is not None and _is_plain(name, [word.fixed or "" for word in words[1:]], options)


def is_settled(word: Word) -> bool:
    """It becomes what it says, names of the present folder, or the value of a variable; what a command printed stays quoted.

    A glob in another folder tells the names of what lies there, by a link maybe outside.
    """
    if word.brace or (word.tilde and word.raw != "~" and not word.raw.startswith("~/")):
        return False
    if word.glob:
        return word.value is not None and "/" not in word.value
    if word.value is not None:
        return True
    return bool(word.parts) and all(
        isinstance(part, str) or part.quoted or part.number or (bool(part.name) and not part.operator)
        for part in word.parts
    )


def _is_plain(name: str, texts: list[str], options: str) -> bool:
    operands: list[str] = []
    at = 0
    while at < len(texts):
        text = texts[at]
        at += 1
        if text in _NUMBERED.get(name, ()) and at < len(texts) and _NUMBER.fullmatch(texts[at]):
            at += 1
        elif text.startswith("-"):
            if operands or not re.fullmatch(options, text):
                return False
        else:
            operands.append(text)
    if name in _NO_FILES:
        return len(operands) <= 1 and all(re.fullmatch(_NO_FILES[name], each) for each in operands)
    return bool(operands) if name == "grep" else name != "uniq" or len(operands) <= 1

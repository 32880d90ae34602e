"""`awk`: programs that compute and print. Others may write files, run commands, or read files and the environment."""

import re

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.syntax import Word
from everturn.permissions.shell.readonly.options import Globs, Operands, Parsed, Table, parse_options

AWK = Table(short="F:v:", permutes=False, operands=Operands.PATTERN, globs=Globs.ANY, clusters=False)
_TOKEN = compile_late(
    r"""(?P<blank>[ \t\n;]+)
    |(?P<text>"(?:[^"\\\n]|\\[^\n])*+")
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<number>[0-9]+(?:\.[0-9]+)?|\.[0-9]+)
    |(?P<sign>\+\+|--|&&|\|\||!~|[=!<>]=|[+*%^-]=|[-$+*%^!~?:,=<>(){}\[\]/])""",
    re.VERBOSE,
)
_REGEX = compile_late(r"/(?:[^/\\\n\[]|\\[^\n]|\[\^?\]?(?:\[:[a-z]+:\]|\[(?![:.=])|[^\[\]/\\\n])*+\])++/")
"""A slash in a bracket expression ends it for some, and not for others."""
_STATEMENTS = frozenset({"print", "printf", "if", "else", "for", "while", "in", "next", "exit", "BEGIN", "END"})
_CALLS = frozenset({
    "length", "substr", "index", "split", "sub", "gsub", "match", "sprintf", "tolower", "toupper", "int", "sqrt",
})  # fmt: skip
_SET_BY_AWK = frozenset(
    {"NF", "NR", "FNR", "FS", "OFS", "RS", "ORS", "FILENAME", "SUBSEP", "OFMT", "RSTART", "RLENGTH"}
)
_NEVER = frozenset({
    "getline", "system", "close", "fflush", "function", "func", "nextfile", "delete", "do", "return", "switch", "case",
    "default", "namespace", "include", "load",
})  # fmt: skip
_ASSIGNED = compile_late(r"(?:[a-z_][a-z0-9_]*|FS|OFS|RS|ORS)=[^\n]*")


def find_awk_files(words: tuple[Word, ...]) -> tuple[Word, ...] | None:
    """What it reads; None when options or program are not plain."""
    parsed = parse_options(AWK, words)
    if parsed is None or not parsed.operands or not _are_plain(parsed):
        return None
    program = parsed.operands[0].fixed
    return parsed.operands[1:] if program is not None and is_plain_program(program) else None


def _are_plain(parsed: Parsed) -> bool:
    values = [option.value or "" for option in parsed.options if option.name == "-v"]
    return all(_ASSIGNED.fullmatch(value) for value in values)


def is_plain_program(program: str) -> bool:
    """Fields, variables, arithmetic, conditions, loops and `print` to the output; nothing else."""
    at, parentheses, braces = 0, 0, 0
    before = ""
    divided = False
    while at < len(program):
        regex = _REGEX.match(program, at) if program[at] == "/" and _expects_value(before) else None
        token = regex or _TOKEN.match(program, at)
        if token is None:
            return False
        text = token.group()
        at = token.end()
        kind = "regex" if regex else token.lastgroup
        if kind == "blank":
            before = ";" if text.strip(" \t") else before
            continue
        if kind == "name" and not _is_plain_name(text, follows=program[at : at + 1]):
            return False
        if kind == "sign":
            parentheses += (text == "(") - (text == ")")
            braces += (text == "{") - (text == "}")
            if min(parentheses, braces) < 0 or (text == ">" and braces and not parentheses):
                return False
            if text == "/":
                if _expects_value(before):
                    return False
                divided = True
        elif divided and (kind == "regex" or "/" in text):
            # Whoever takes that division for a pattern would see other words than we.
            return False
        before = text
    return parentheses == braces == 0


def _expects_value(before: str) -> bool:
    """No value stands before it: a slash begins a pattern, and divides nothing."""
    return before in {"", ";", "{", "}", "(", ",", "!", "~", "!~", "&&", "||"}


def _is_plain_name(name: str, *, follows: str) -> bool:
    if name in _STATEMENTS or name in _SET_BY_AWK or name in _CALLS:
        return True
    # A call of something else; other words in capitals are awk's own (ENVIRON, ARGV).
    return name not in _NEVER and name == name.lower() and follows != "("

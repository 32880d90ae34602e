"""Expansions that can be told from their text alone to run nothing: `${x:-default}`, `${#x}`, `$((x + 1))`."""

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.syntax import Expansion

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_PLAIN = r"[A-Za-z0-9_./,:@%+=-]*"
_PATTERN = r"[A-Za-z0-9_./,:@%+=*?-]*"
_PART = r"[A-Za-z0-9_.,:@%+=*?-]*"
_OPERATOR = compile_late(
    rf"\$\{{(?:#(?P<counted>{_NAME})|(?P<name>{_NAME})"
    rf"(?P<operator>:?[-+]{_PLAIN}|%%?{_PATTERN}|##?{_PATTERN}|//?{_PART}(?:/{_PLAIN})?|\^\^?|,,?|:[0-9]+(?::[0-9]+)?))\}}"
)
"""Without quotes, expansions and braces inside; those that assign (`:=`), look elsewhere (`!`) or evaluate (`@P`) are left out."""
_NUMBER = r"[0-9]+"
_TERM = rf"(?:\$?{_NAME}|\$\{{#?{_NAME}\}}|{_NUMBER})"
_ARITHMETIC = compile_late(rf"(?:{_TERM}|[ +*/%()<>=!&|?:,~^-])*")
"""Numbers, names and operators; no subscripts, which are evaluated once more."""
_NAMES = compile_late(rf"(?<![#A-Za-z0-9_]){_NAME}")
_TAME = compile_late(
    rf"\$\{{#?(?:{_NAME}(?:\[(?:[@*]|-?[0-9]+)\])?|[0-9@*#?$!-])"
    rf"(?:(?::?[-+=?]|%%?|##?|//?|\^\^?|,,?)(?:[^{{}}`$]|\$(?![\[({{]))*|: ?-?[0-9]+(?::-?[0-9]+)?|@Q)?\}}"
)
_SUM = compile_late(r"\$\(\(")


def is_tame(text: str) -> bool:
    """No expansion in it evaluates text once more: neither `${x@P}`, `${!x}` and `${a[x]}`, nor arithmetic that is not plain."""
    rest = _TAME.sub("", text)
    sums = list(_SUM.finditer(rest))
    plain = [
        end for each in sums if (end := find_sum_end(rest, each.end())) and find_names(rest[each.end() : end]) == ()
    ]
    return "${" not in rest and "$[" not in rest and len(plain) == len(sums)


def match_operator(text: str, at: int, *, quoted: bool) -> tuple[Expansion, int] | None:
    """The expansion that begins here, and where it ends."""
    found = _OPERATOR.match(text, at)
    if found is None:
        return None
    if counted := found.group("counted"):
        return Expansion(name=counted, quoted=quoted, number=True), found.end()
    return Expansion(name=found.group("name"), operator=found.group("operator"), quoted=quoted), found.end()


def match_sum(text: str, at: int, *, quoted: bool) -> tuple[Expansion, int] | None:
    """`$((...))`: the names in it must hold numbers, since bash evaluates what they hold."""
    if not _SUM.match(text, at):
        return None
    end = find_sum_end(text, at + len("$(("))
    if end is None:
        return None
    names = find_names(text[at + len("$((") : end])
    return None if names is None else (Expansion(names=names, quoted=quoted, number=True), end + len("))"))


def find_sum_end(text: str, at: int) -> int | None:
    """Where the brackets close that were opened before `at`."""
    depth = 0
    for position in range(at, len(text)):
        if text[position] == "(":
            depth += 1
        elif text[position] == ")":
            if depth == 0:
                return position if text.startswith("))", position) else None
            depth -= 1
    return None


def find_names(arithmetic: str) -> tuple[str, ...] | None:
    """The variables of plain arithmetic; None when it is not plain."""
    if not _ARITHMETIC.fullmatch(arithmetic):
        return None
    return tuple(dict.fromkeys(_NAMES.findall(arithmetic)))

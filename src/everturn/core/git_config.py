"""Git's configuration files, parsed as git itself does; `git config --list --file` is the measure (git-config(1), "Syntax")."""

import re
from typing import NamedTuple

from everturn.core.patterns import compile_late

MAX_CONFIG = 131_072
"""Bytes of one file: some thousand branches."""

_BOM = b"\xef\xbb\xbf"
_GAP = compile_late(rb"(?:[ \t\r\n]++|[#;][^\n]*+)*+")
_SECTION = compile_late(rb'\[([A-Za-z0-9.-]*+)(?:[ \t\r]++"((?:[^"\\\n]++|\\[^\n])*+)")?+\]')
_NAME = compile_late(rb"([A-Za-z][A-Za-z0-9-]*+)[ \t]*+([=\n])")
_ESCAPED = compile_late(rb"\\(.)", re.DOTALL)
_BLANKS = compile_late(rb"[ \t\r]++")
_BARE_TEXT = compile_late(rb'[^ \t\r\n"\\#;]++')
_QUOTED_TEXT = compile_late(rb'[^\n"\\]++')
_ESCAPES = {b"\n": b"", b"t": b"\t", b"b": b"\b", b"n": b"\n", b"\\": b"\\", b'"': b'"'}


class UnclearError(ValueError):
    """What git would do with this cannot be told. The text names the file, for people."""


class Setting(NamedTuple):
    key: str
    """As git writes it: section and name in small letters, what is between them as it stands. Bytes that are no UTF-8 are kept as surrogates."""
    value: str | None
    """None where the name stands alone, which git takes for true. Blanks inside are kept, where some versions of git make them spaces."""

    @property
    def pattern(self) -> str:
        """`remote.*.url` for `remote.origin.url`: a subsection may have any name."""
        section, _, rest = self.key.partition(".")
        _, dot, name = rest.rpartition(".")
        return f"{section}.*.{name}" if dot else self.key


def parse_config(data: bytes) -> list[Setting]:
    """Every setting of a file, in order. Raises `UnclearError` where git would refuse the file, and for NUL bytes, which cut a value short for git."""
    if b"\0" in data or len(data) > MAX_CONFIG:
        raise UnclearError("NUL" if b"\0" in data else "too long")
    # The end of the file ends a line, too, and after a backslash it does so twice.
    text = data.removeprefix(_BOM).replace(b"\r\n", b"\n") + b"\n\n"
    settings: list[Setting] = []
    section = b""
    at = _skip(text, 0)
    while at < len(text):
        if text[at : at + 1] == b"[":
            section, at = _parse_section(text, at)
        else:
            setting, at = _parse_setting(text, at, section)
            settings.append(setting)
        at = _skip(text, at)
    return settings


def _skip(text: bytes, at: int) -> int:
    gap = _GAP.match(text, at)
    return at if gap is None else gap.end()


def _parse_section(text: bytes, at: int) -> tuple[bytes, int]:
    """With the dot at its end."""
    found = _SECTION.match(text, at)
    if found is None:
        raise UnclearError(f"a section at byte {at}")
    section, subsection = found[1].lower(), found[2]
    if subsection is not None:
        return b"%s.%s." % (section, _ESCAPED.sub(rb"\1", subsection)), found.end()
    if not section:
        raise UnclearError(f"a section at byte {at}")
    return section + b".", found.end()


def _parse_setting(text: bytes, at: int, section: bytes) -> tuple[Setting, int]:
    found = _NAME.match(text, at)
    if found is None:
        raise UnclearError(f"a setting at byte {at}")
    key = _decode(section + found[1].lower())
    if found[2] == b"\n":
        return Setting(key, None), found.end()
    value, at = _parse_value(text, found.end())
    return Setting(key, _decode(value)), at


def _parse_value(text: bytes, at: int) -> tuple[bytes, int]:
    value = bytearray()
    blanks = b""
    quoted = False
    while (char := text[at : at + 1]) != b"\n":
        if not quoted and (found := _BLANKS.match(text, at)):
            # Those at both ends are no part of the value.
            blanks += found[0] if value else b""
            at = found.end()
            continue
        if not quoted and char in b"#;":
            at = text.index(b"\n", at)
            break
        value += blanks
        blanks = b""
        if char == b"\\":
            if (escaped := _ESCAPES.get(text[at + 1 : at + 2])) is None:
                raise UnclearError(f"an escape at byte {at}")
            value += escaped
            at += 2
        elif char == b'"':
            quoted = not quoted
            at += 1
        elif found := (_QUOTED_TEXT if quoted else _BARE_TEXT).match(text, at):
            value += found[0]
            at = found.end()
    if quoted:
        raise UnclearError(f"a quote at byte {at}")
    return bytes(value), at + 1


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")

"""Characters that a reader takes for a letter or an opening bracket though they are others. Pure; used by `core.marks`."""

from functools import cache

BRACKETS = "<\uff1c\ufe64\u2039\u3008\u2329\u27e8\u276e\u276c\u2770\u1438\u02c2\u29fc\u226e\u227a\u00ab\u300a\u27ea\u226a\u2989\u2991\u2aa1\u22d6\U0001d236"
"""Taken for the opening bracket of a tag. Not `&lt;`, `\\u003c` and `%3C`: those are how a tag is written as text."""
SCRIPTS = (
    "\u00c0-\u02e4\u0370-\u058f\u10d0-\u10ff\u13a0-\u13f5\u15ea\u1d00-\u1d6a\u1e00-\u1eff\u2070-\u209c\u2100-\u218f\u249c-\u24e9\u2c80-\u2cff\ua4d0-\ua4f7\ua720-\ua7ff\uab70-\uabbf"
    "\u3371-\u33df\ufb00-\ufb06\uff21-\uff5a\U0001d400-\U0001d6a3\U0001f110-\U0001f189\U0001f1e6-\U0001f1ff"
)
"""For a class of a regular expression: where the letters are that a word of ours can be written in."""
HIDDEN = "\U000e0020-\U000e007e"
"""For a class of a regular expression: tag characters. They stand for those of ASCII, one for one; nobody sees them, and models read them.

Variation selectors stand for nothing: what somebody has hidden in them only a program finds. They are passed over, like other invisible ones.
"""
_PLANE, _ROW = 0x0E, 0x00
"""The upper bytes of tag characters."""
_LETTERS = "acdegilmnoprstuy"
"""Those that our tags have."""
_DIGITS = {"a": "4", "e": "3", "i": "lI1", "l": "iI1", "o": "0", "s": "5", "t": "7"}
_DRAWN = {
    "a": "\u0430\u0410\u03b1\u0391\u0251\u1d00\ua4ee\u13aa",
    "c": "\u0441\u0421\u03f2\u1d04\ua4da\u2ca5\u13df",
    "d": "\u0434\u0414\u0501\u0500\u056a\u15ea\u1d05\ua4d3\u0257\u13a0",
    "e": "\u0435\u0415\u0454\u0404\u03b5\u0395\u04bd\u212e\u1d07\ua4f0\u13ac",
    "g": "\u0261\u0581\u0262\ua4d6\u13c0",
    "i": "\u0456\u0406\u03b9\u0399\u0131\u04cf\u04c0\u026a\ua4f2\u2c92",
    "l": "\u04cf\u04c0\u03b9\u029f\ua4e1\u13de",
    "m": "\u043c\u041c\u039c\u1d0d\ua4df\u13b7\u2c98",
    "n": "\u043f\u03b7\u039d\u0578\u0274\ua4e0\u2c9a",
    "o": "\u043e\u041e\u03bf\u039f\u0585\u03c3\u1d0f\ua4f3\u2c9e\u2c9f",
    "p": "\u0440\u0420\u03c1\u03a1\u1d18\ua4d1\u13e2\u2ca2\u2ca3",
    "r": "\u0433\u1d26\u027e\u0280\ua4e3\u13a1",
    "s": "\u0455\u0405\u01bd\ua731\ua4e2\u13da\uabaa\u054f\u2ca5",
    "t": "\u0442\u0422\u03c4\u03a4\u1d1b\ua4d4\u13a2\u2ca6",
    "u": "\u03c5\u057d\u028b\u1d1c\ua4f4\u054d",
    "y": "\u0443\u0423\u03b3\u03a5\u04af\u04ae\u10e7\u028f\ua4ec\u1eff\u13a9\u2ca8",
}
"""In other scripts, and as small capitals."""
_ALPHABETS = (
    0x249C,
    0x24B6,
    0x24D0,
    0x1F110,
    0x1F130,
    0x1F150,
    0x1F170,
    0x1F1E6,
    0xFF21,
    0xFF41,
    *range(0x1D400, 0x1D6A4, 26),
)
"""Where alphabets begin that are circled, bracketed, squared, wide, or bold, slanted, written and double-struck."""
_COMPOSED = (
    *range(0xC0, 0x250),
    *range(0x2B0, 0x2E5),
    *range(0x1D2C, 0x1D6B),
    *range(0x1E00, 0x1F00),
    *range(0x2070, 0x2190),
)
"""Among these are the letters with an accent, and the raised and lowered ones."""
_JOINED = (
    *range(0x132, 0x134),
    *range(0x1C4, 0x1F4),
    *range(0x2100, 0x2180),
    *range(0x3371, 0x33E0),
    *range(0xFB00, 0xFB07),
)
"""Among these are ligatures and signs of units: several letters in one character."""


def reveal(text: str) -> str:
    """The text with what its tag characters stand for, each in its place. By whole columns of bytes, since a text may be long."""
    data = bytearray(text.encode("utf-32-le", "surrogatepass"))
    planes = int.from_bytes(data[2::4], "little")
    in_plane = int.from_bytes(data[2::4].translate(_mark(_PLANE)), "little")
    in_row = int.from_bytes(data[1::4].translate(_mark(_ROW)), "little")
    data[2::4] = (planes ^ (planes & in_plane & in_row)).to_bytes(len(text), "little")
    return data.decode("utf-32-le", "surrogatepass")


@cache
def _mark(byte: int) -> bytes:
    """For `bytes.translate`: all bits of this byte, and none of the others."""
    return bytes(0xFF if each == byte else 0 for each in range(256))


def letters_like(letter: str) -> str:
    """Letters and digits of ASCII that are taken for this one, which is among them."""
    return letter + letter.upper() + _DIGITS.get(letter, "")


def all_letters_like(letter: str) -> str:
    """The same in all of Unicode."""
    place = ord(letter) - ord("a")
    return (
        letters_like(letter)
        + _DRAWN[letter]
        + "".join(chr(start + place) for start in _ALPHABETS)
        + _find_composed()[letter]
    )


@cache
def find_joined() -> dict[str, str]:
    """By two or more letters, the characters that are all of them at once."""
    from unicodedata import normalize

    found: dict[str, str] = {}
    for character in map(chr, _JOINED):
        letters = normalize("NFKC", character).lower()
        if len(letters) > 1 and letters.isascii() and letters.isalpha():
            found[letters] = found.get(letters, "") + character
    return found


@cache
def _find_composed() -> dict[str, str]:
    from unicodedata import normalize

    found = dict.fromkeys(_LETTERS, "")
    for character in map(chr, _COMPOSED):
        letter = normalize("NFKD", character)[0].lower()
        if letter in found:
            found[letter] += character
    return found

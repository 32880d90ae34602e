"""Characters that a reader takes for a letter or an opening bracket though they are others. Pure; used by `core.marks`."""

import re
from collections.abc import Iterator
from functools import cache

BRACKETS = "<\uff1c\ufe64\u2039\u3008\u2329\u27e8\u276e\u276c\u2770\u1438\u02c2\u29fc\u226e\u227a\u00ab\u300a\u27ea\u226a\u2989\u2991\u2aa1\u22d6\U0001d236"
"""Taken for the opening bracket of a tag. Not `&lt;`, `\\u003c` and `%3C`: those are how a tag is written as text."""
SCRIPTS = (
    "\u00c0-\u02e4\u0370-\u058f\u10d0-\u10ff\u13a0-\u13f5\u15ea\u1d00-\u1d6a\u1e00-\u1eff\u2070-\u209c\u2100-\u218f\u249c-\u24e9\u2c80-\u2cff\ua4d0-\ua4f7\ua720-\ua7ff\uab70-\uabbf"
    "\u20a8\u221e\u3371-\u33df\ua698-\ua699\ufb00-\ufb06\uff21-\uff5a\U0001d400-\U0001d6a3\U0001f110-\U0001f189\U0001f1e6-\U0001f1ff"
)
"""For a class of a regular expression: where the letters are that a word of ours can be written in."""
HIDDEN = "\U000e0020-\U000e007e"
"""For a class of a regular expression: tag characters. They stand for those of ASCII, one for one; nobody sees them, and models read them.

Variation selectors stand for nothing: what somebody has hidden in them only a program finds. They are passed over, like other invisible ones.
"""
_FIRST_PLANE = 0x10000
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
_CONFUSABLE = {
    "a": (
        "386 3ac 4d0-4d3 13ce 15c5 1f00-1f0f 1f70-1f71 1f80-1f8f 1fb0-1fb4 1fb6-1fbc 2376 237a 102a0 118af "
        "16f40 1d6a8 1d6c2 1d6e2 1d6fc 1d71c 1d736 1d756 1d770 1d790 1d7aa 1d7d2 1d7dc 1d7e6 1d7f0 1d7fa "
        "1fbf4"
    ),
    "c": "a2 23c 3f9 4aa-4ab 20a1 2ca4 abaf 102a2 10302 10415 1043d 1051c 118e9 118f2 1f74c",
    "d": "d0 110-111 189 18c 256 13e7 146f 15de 20ab a4d2",
    "e": (
        "1b7 1ee 21c 246-247 388 400-401 417 450-451 498 4bf 4d6-4d7 4de 4e0 1f18-1f1d 1fc8-1fc9 22ff 2ccc "
        "2d39 a76a a7ab ab32 10286 118a6 118ae 118ca 16f3b 1d206 1d6ac 1d6e6 1d720 1d75a 1d794 1d7d1 1d7db "
        "1d7e5 1d7ef 1d7f9 1fbf3"
    ),
    "g": "18d 1e4-1e5 260 50c 13f3 1d83",
    "il": (
        "141-142 196-197 19a 1c0 268-269 26b 26d 2db 37a 38a 390 3aa 3af 3ca 407 457 5c0 5d5 5df 622-623 625 "
        "627 661 673 6f1 7ca 13a5 14aa 16c1 1d7b-1d7c 1f30-1f3f 1f76-1f77 1fbe 1fd0-1fd3 1fd6-1fdb 2223-2224 "
        "2373 2378 23fd 2cd0 2d4f a647 ab75 fb35 fb4b fd3c-fd3d fe87-fe88 fe8d-fe8e ffe8 1028a 10309 10320 "
        "1041b 10526 118a3 118b2 118c3 16f16 16f28 1d22a 1d6a4 1d6b0 1d6ca 1d6ea 1d704 1d724 1d73e 1d75e "
        "1d778 1d798 1d7b2 1d7cf 1d7d9 1d7e3 1d7ed 1d7f7 1e8c7 1ee00 1ee80 1fbf1"
    ),
    "m": "271 3fa 4cd 15f0 16d6 1d6f 20a5 102b0 10311 11700 118e3 1d6b3 1d6ed 1d727 1d761 1d79b",
    "n": (
        "19d-19e 273 3ae 57c 1d70 1f20-1f27 1f74-1f75 1f90-1f97 1fc2-1fc4 1fc6-1fc7 1018e 10513 1d6b4 1d6c8 "
        "1d6ee 1d702 1d728 1d73c 1d762 1d776 1d79c 1d7b0"
    ),
    "o": (
        "d8 f8 19f 1fe-1ff 275 38c 398 3b8 3cc 3d1 3f4 472-473 4e6-4eb 555 5e1 647 665 6be 6c0-6c2 6d5 6f5 "
        "6ff 7c0 966 9e6 a66 ae6 b20 b66 be6 c02 c66 c82 ce6 d02 d20 d66 d82 e50 ed0 101d 1040 10ff 12d0 13be "
        "13eb 1d11 1f40-1f45 1f48-1f4d 1f78-1f79 1ff8-1ff9 2296 229d 236c 2d31 2d41 2d54 3007 a74a-a74b "
        "ab3d-ab3e ab74 ab8e abbb fb41 fba6-fbad fcd9 fee9-feec 10292 102ab 10404 1042c 104c2 104ea 10516 "
        "114d0 118b5 118c8 118d7 118e0 1d21a 1d6af 1d6b6 1d6b9 1d6c9 1d6d0 1d6d4 1d6dd 1d6e9 1d6f0 1d6f3 "
        "1d703 1d70a 1d70e 1d717 1d723 1d72a 1d72d 1d73d 1d744 1d748 1d751 1d75d 1d764 1d767 1d777 1d77e "
        "1d782 1d78b 1d797 1d79e 1d7a1 1d7b1 1d7b8 1d7bc 1d7c5 1d7ce 1d7d8 1d7e2 1d7ec 1d7f6 1ee24 1ee64 "
        "1ee84 1f714 1fbf0"
    ),
    "p": (
        "1a5 3f1 146d 1d7d 1fe4-1fe5 1fec 2374 10295 1d6b8 1d6d2 1d6e0 1d6f2 1d70c 1d71a 1d72c 1d746 1d754 "
        "1d766 1d780 1d78e 1d7a0 1d7ba 1d7c8"
    ),
    "r": "1a6 24d 27c-27d 453 493 13d2 1587 1d72 2c85 ab47-ab48 ab81 104b4 16f35 1d216",
    "s": "1bc 282 13d5 1d74 10296 10420 10448 118bb 118c1 16f3a 1d7d3 1d7dd 1d7e7 1d7f1 1d7fb 1fbf5",
    "t": (
        "166-167 1ad-1ae 23e 4ac 1d75 20ae 22a4 2361 27d9 10297 102b1 10315 104d2 118bc 118c6 16f0a 1d212 "
        "1d6bb 1d6f5 1d72f 1d769 1d7a3 1d7d5 1d7df 1d7e9 1d7f3 1d7fd 1f768 1fbf7"
    ),
    "u": (
        "244 3b0 3cb 3cd 1200 13cc 144c 1d7e 1f50-1f57 1f7a-1f7b 1fe0-1fe3 1fe6-1fe7 222a 22c3 a79f ab4e ab52 "
        "ab9c 104ce 104f6 118b8 118d8 16f42 1d6d6 1d710 1d74a 1d784 1d7be"
    ),
    "y": (
        "a5 1b4 24e-24f 263 38e 3ab 3d2-3d4 40e 45e 4b0-4b1 4ee-4f3 13bd 1d8c 1f59 1f5b 1f5d 1f5f 1fe8-1feb "
        "213d ab5a 102b2 118a4 118dc 16f43 1d6bc 1d6c4 1d6f6 1d6fe 1d730 1d738 1d76a 1d772 1d7a4 1d7ac"
    ),
}
"""By letter, or by those that look like each other: what else Unicode 15 lists as confusable with it (`confusables.txt`), in hexadecimal.

`tests/core/confusables.txt` has the whole list. Characters of `SCRIPTS` may stand beside those of the same word that are no letters of ours; all
others count as no letter first, and then, in a second reading of the whole text, as this one (`reveal`).
"""
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
_PAIRS = {"oo": "\u221e\ua698\ua699\ua74e\ua74f"}
"""More of these."""


def has_hidden(text: str) -> bool:
    """Whether `reveal` may change it."""
    return not text.isascii() and _find_hidden().search(text) is not None


def reveal(text: str) -> str:
    """The text with the letters that tag characters and letters outside of `SCRIPTS` stand for, each in its place.

    By whole columns of bytes, since a text may be long.
    """
    text = text.translate(find_foreign())
    data = bytearray(text.encode("utf-32-le", "surrogatepass"))
    planes = int.from_bytes(data[2::4], "little")
    in_plane = int.from_bytes(data[2::4].translate(_mark(_PLANE)), "little")
    in_row = int.from_bytes(data[1::4].translate(_mark(_ROW)), "little")
    data[2::4] = (planes ^ (planes & in_plane & in_row)).to_bytes(len(text), "little")
    return data.decode("utf-32-le", "surrogatepass")


@cache
def _find_hidden() -> re.Pattern[str]:
    """Beyond the first plane by ranges: to look for each of them would take long."""
    near = "".join(chr(code) for code in find_foreign() if code < _FIRST_PLANE)
    return re.compile(
        f"[{HIDDEN}{near}\U00010000-\U0001d3ff\U0001d6a4-\U0001f0ff\U0001f700-\U0001f77f\U0001fbf0-\U0001fbff]"
    )


@cache
def find_foreign() -> dict[int, str]:
    """By its number, what stands outside of `SCRIPTS` for a letter of ASCII."""
    ours = re.compile(f"[{SCRIPTS}]")
    return {
        ord(each): letters[-1] for letters in _CONFUSABLE for each in _list_confusable(letters) if not ours.match(each)
    }


def _list_confusable(letters: str) -> Iterator[str]:
    for piece in _CONFUSABLE[letters].split():
        first, _, last = piece.partition("-")
        yield from map(chr, range(int(first, 16), int(last or first, 16) + 1))


@cache
def _mark(byte: int) -> bytes:
    """For `bytes.translate`: all bits of this byte, and none of the others."""
    return bytes(0xFF if each == byte else 0 for each in range(256))


def letters_like(letter: str) -> str:
    """Letters and digits of ASCII that are taken for this one, which is among them."""
    return letter + letter.upper() + _DIGITS.get(letter, "")


def all_letters_like(letter: str) -> str:
    """The same in `SCRIPTS`."""
    letters = next(letters for letters in _CONFUSABLE if letter in letters)
    return "".join(map(_all_like, letters)) + _find_near()[letters]


def _all_like(letter: str) -> str:
    place = ord(letter) - ord("a")
    return (
        letters_like(letter)
        + _DRAWN[letter]
        + "".join(chr(start + place) for start in _ALPHABETS)
        + _find_composed()[letter]
    )


@cache
def _find_near() -> dict[str, str]:
    foreign = find_foreign()
    return {
        letters: "".join(each for each in _list_confusable(letters) if ord(each) not in foreign)
        for letters in _CONFUSABLE
    }


@cache
def find_joined() -> dict[str, str]:
    """By two or more letters, the characters that are all of them at once."""
    from unicodedata import normalize

    found = dict(_PAIRS)
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

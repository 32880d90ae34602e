"""What a terminal can do, and how text is painted on it."""

from collections.abc import Mapping

import msgspec

BOLD = "1"
DIM = "2"
ITALIC = "3"
UNDERLINED = "4"
RED = "31"
YELLOW = "33"
CYAN = "36"
GREEN = "32"
STRUCK = "2;9"


class Style(msgspec.Struct, frozen=True, kw_only=True):
    colour: bool = True
    """Also bold and dim; off with NO_COLOR."""
    control: bool = True
    """The cursor can be moved and lines erased; off on a dumb terminal."""

    def paint(self, text: str, codes: str) -> str:
        return f"\x1b[{codes}m{text}\x1b[0m" if self.colour and codes and text else text


def choose_style(env: Mapping[str, str]) -> Style:
    control = env.get("TERM", "") not in {"", "dumb"}
    return Style(colour=control and not env.get("NO_COLOR"), control=control)

"""A dialogue with the person at a terminal: rows are shown, one key chooses, and silence is never a yes."""

import asyncio
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

import msgspec

from everturn.frontends.ansi import BOLD, CYAN, DIM, YELLOW, Style
from everturn.frontends.asking.keyboard import END, Keyboard
from everturn.frontends.asking.visible import make_visible, wrap_visible
from everturn.frontends.harmless import make_line

ARMING_S = 0.25
"""A key pressed sooner after a question came up was meant for something else."""
MIN_COLUMNS = 8
GUTTER = "│ "
"""Before each row of foreign text, so that none of it can pass for our own words."""
MARK = "> "
"""From here on keys count."""
NO = "n"
MARKDOWN = "markdown"
_AS_NO = frozenset({"\r", "\n", "\x1b"})
_CTRL_D = "\x04"


Row = tuple[str, str]
"""A row of foreign text, made harmless, and its colour."""


class Shown(msgspec.Struct, frozen=True):
    """Foreign text as it came; it is made harmless when it is laid out."""

    text: str
    codes: str = ""
    language: str = ""
    """Of code, for terminals that show it in colours; `MARKDOWN` for words that they lay out."""


class Dialogue:
    can_edit = False
    """A line can be changed in place (`edit_line`), which is then offered."""

    def __init__(
        self,
        keyboard: Keyboard,
        *,
        write: Callable[[str], None],
        style: Style,
        size: Callable[[], tuple[int, int]],
        timeout_s: float | None = None,
        folder: str = "",
    ) -> None:
        """`folder`: the working folder, which is left out of paths. `timeout_s`: how long an answer is waited for; then it is as if nobody were there."""
        self.keyboard = keyboard
        self.folder = folder
        self._send = write
        self._drawn: list[str] = []
        """Of the question that is open."""
        self._style = style
        self._size = size
        self._timeout_s = timeout_s

    def open(self, title: str) -> None:
        self._drawn.clear()
        self._write("\n")
        self.say(f"? {title}", BOLD)

    def redraw(self) -> None:
        """All of the question that is open, once more: a shell has written below it. Keys that came before are no answer."""
        drawn = "".join(self._drawn)
        words = drawn.removesuffix(MARK)
        self._send(words)
        self.keyboard.drop_typed()
        self._send(drawn[len(words) :])

    def leave(self) -> None:
        """However the question ended, what follows begins on a line of its own."""
        if self._drawn and not self._drawn[-1].endswith("\n"):
            self._send("\n")
        self._drawn.clear()

    def _write(self, text: str) -> None:
        self._drawn.append(text)
        self._send(text)

    def say(self, text: str, codes: str = "", *, indent: str = "") -> None:
        """Our own words. What they quote is made visible, too."""
        for row in textwrap.wrap(make_visible(text), self._columns - len(indent), break_on_hyphens=False):
            self._write(f"{indent}{self._style.paint(row, codes)}\n")

    def show(self, texts: Sequence[Shown], *, most: int = 0) -> None:
        """Every character of foreign texts. Of more than `most` rows the middle is left out: nobody consents to these."""
        rows = self.lay_out(texts)
        left_out = max(len(rows) - most, 0) if most else 0
        head = most - most // 3 if left_out else len(rows)
        self.put(rows[:head])
        if left_out:
            self.say(f"┊ {left_out:,} more rows here: [e] shows them all", YELLOW)
            self.put(rows[head + left_out :])

    def lay_out(self, texts: Sequence[Shown]) -> list[Row]:
        """Every character of foreign texts, as the rows that they take."""
        return [(row, text.codes) for text in texts for row in wrap_visible(text.text, self._columns - len(GUTTER))]

    def put(self, rows: Sequence[Row]) -> None:
        for row, codes in rows:
            self._write(f"{self._style.paint(GUTTER, DIM)}{self._style.paint(row, codes)}\n")

    async def show_more(self, title: str, rows: Sequence[Row], left: Sequence[Row], *, most: int) -> list[Row]:  # noqa: ARG002 (of other dialogues)
        """What is still not shown of the `left` ones of all rows."""
        self.put(left[:most])
        return list(left[most:])

    async def choose(self, choices: Mapping[str, str], *, steps: Collection[str] = ()) -> str:  # noqa: ARG002 (of other dialogues)
        """The key that was pressed; `END` where nobody answers. Enter and Escape are `n` where that is a choice.

        `steps`: keys on the way to an answer. A dialogue that draws its choices again need not keep them on the screen.
        """
        await asyncio.sleep(ARMING_S)
        for key, meaning in choices.items():
            first, *others = textwrap.wrap(make_visible(meaning), self._columns - 4, break_on_hyphens=False)
            self._write(f"{self._style.paint(f'[{key}]', CYAN)} {first}\n")
            for row in others:
                self._write(f"    {row}\n")
        # As late as can be: after our words, before the mark that says whose turn it is.
        self.keyboard.drop_typed()
        self._write(MARK)
        key = await self._wait_for_key(choices)
        self._write(f"{key}\n")
        return key

    async def ask_line(self, prompt: str) -> str:
        """The person's own words; empty where they said nothing."""
        line: str | None = None
        with self.keyboard.edited(), suppress(TimeoutError):
            self.keyboard.drop_typed()
            self._write(f"{prompt} {MARK}")
            async with asyncio.timeout(self._timeout_s):
                line = await self.keyboard.read_line()
        # The terminal itself has shown what was typed, and the end of the line.
        self._drawn.append(f"{make_line(line)}\n" if line else "\n")
        if line is None:
            self._send("\n")
        return make_line(line or "")

    async def edit_line(self, prompt: str, text: str) -> str:
        """A text as the person changed it; empty where they left it. Here they type it anew."""
        self.show((Shown(text, CYAN),))
        return await self.ask_line(prompt)

    async def _wait_for_key(self, choices: Mapping[str, str]) -> str:
        try:
            async with asyncio.timeout(self._timeout_s):
                while True:
                    typed = await self.keyboard.read_key()
                    # A paste or an arrow key comes in one piece, and is no key of the list.
                    key = typed.rstrip("\r\n") or typed[:1]
                    if key in choices:
                        return key
                    if key in {END, _CTRL_D}:
                        return END
                    if key in _AS_NO and NO in choices:
                        return NO
                    self._write(f"\nOne key, please: {' '.join(choices)}\n{MARK}")
        except TimeoutError:
            return END

    @property
    def _columns(self) -> int:
        return max(self._size()[0] - 1, MIN_COLUMNS)

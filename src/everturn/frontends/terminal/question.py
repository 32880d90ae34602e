"""A question to the person, in place of the prompt: what is asked stands above as text, the choices in the live area.

`LiveDialogue` is the dialogue of `frontends.asking` with another end: keys come from the program's own reader. A key that was pressed
before the choices were seen is no answer; it stays in the prompt.
"""

import asyncio
import textwrap
from collections.abc import Awaitable, Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from everturn.frontends.ansi import BOLD, CYAN, DIM, Style
from everturn.frontends.asking.dialogue import ARMING_S, GUTTER, MARKDOWN, NO, Dialogue, Row, Shown
from everturn.frontends.asking.keyboard import END
from everturn.frontends.asking.visible import make_visible
from everturn.frontends.commands import paint_markdown
from everturn.frontends.flow import cut_line
from everturn.frontends.harmless import make_line
from everturn.frontends.terminal.code_rows import lay_code
from everturn.frontends.terminal.inputs import Input, Key, Paste
from everturn.frontends.terminal.live_screen import SEQUENCE
from everturn.frontends.terminal.palette import Palette
from everturn.frontends.terminal.prompt_area import lay_prompt
from everturn.frontends.terminal.results import Details

if TYPE_CHECKING:
    from everturn.frontends.terminal.editor import PromptEditor

MAX_CHOICE_ROWS = 4
MAX_ROWS = 6
"""Of words that are typed in answer."""


class Choosing:
    """One key, or a row that is gone to with the arrows and taken with Enter."""

    def __init__(self, choices: Mapping[str, str], answer: asyncio.Future[str], *, at: str = "") -> None:
        """`at`: the key of the row that is gone to at first."""
        self.choices = dict(choices)
        self._answer = answer
        self._at = list(choices).index(at) if at in choices else None
        self._is_wrong = False

    def receive(self, given: Input) -> None:
        if self._answer.done() or not isinstance(given, Key):
            return
        keys = list(self.choices)
        match given:
            case Key(name="up" | "down" as name):
                step = -1 if name == "up" else 1
                start = (0 if step > 0 else len(keys) - 1) if self._at is None else self._at + step
                self._at = start % len(keys)
            case Key(name="enter") if self._at is not None:
                self._answer.set_result(keys[self._at])
            case Key(name="escape") | Key(name="c", ctrl=True):
                self._answer.set_result(NO if NO in self.choices else END)
            case Key(name="d", ctrl=True):
                self._answer.set_result(END)
            case Key(text=text) if text.lower() in self.choices:
                self._answer.set_result(text.lower())
            case _:
                self._is_wrong = True

    @property
    def at(self) -> str:
        """The key of the row that was gone to; empty where none was."""
        return "" if self._at is None else list(self.choices)[self._at]

    def end(self) -> None:
        """Nobody is there any more."""
        if not self._answer.done():
            self._answer.set_result(END)

    def lay(self, style: Style, columns: int, room: int) -> tuple[list[str], tuple[int, int] | None]:  # noqa: ARG002 (as its kin)
        rows = []
        for number, (key, meaning) in enumerate(self.choices.items()):
            is_at = number == self._at
            mark = style.paint("▸ ", CYAN) if is_at else "  "
            first, *others = wrap_choice(meaning, max(columns - 8, 4))
            rows.append(f"{mark}{style.paint(f'[{key}]', CYAN)} {style.paint(first, BOLD if is_at else '')}")
            rows += [f"      {style.paint(row, BOLD if is_at else '')}" for row in others]
        hint = f"one key, please: {' '.join(self.choices)}" if self._is_wrong else "a key, or ↑ ↓ and Enter"
        rows.append(style.paint(cut_line(f"  {hint}", columns - 1), DIM))
        return rows, None


def wrap_choice(meaning: str, columns: int) -> list[str]:
    """What a yes would allow is read before it is given: it is wrapped, and cut only where it is very long."""
    rows = textwrap.wrap(make_visible(meaning), columns, break_on_hyphens=False) or [""]
    if len(rows) > MAX_CHOICE_ROWS:
        rows[MAX_CHOICE_ROWS - 1 :] = [" ".join(rows[MAX_CHOICE_ROWS - 1 :])]
    # Wide characters take more room than they are counted with.
    return [cut_line(row, columns) for row in rows]


class Typing:
    """Words in answer; Enter ends them, Escape takes them back."""

    def __init__(self, prompt: str, editor: "PromptEditor", answer: asyncio.Future[str]) -> None:
        self._prompt = prompt
        self._editor = editor
        self._answer = answer

    def receive(self, given: Input) -> None:
        if self._answer.done():
            return
        match given:
            case Paste(text=text):
                self._editor.insert(make_line(text))
            case Key(name="enter"):
                self._answer.set_result(self._editor.text)
            case Key(name="escape") if self._editor.is_inserting:
                self._answer.set_result("")
            case Key(name="c" | "d", ctrl=True):
                self._answer.set_result("")
            case Key():
                self._editor.press(given)

    def end(self) -> None:
        if not self._answer.done():
            self._answer.set_result("")

    def lay(self, style: Style, columns: int, room: int) -> tuple[list[str], tuple[int, int] | None]:
        laid = lay_prompt(self._editor.text, self._editor.cursor, columns=columns, most=min(room, MAX_ROWS))
        told = style.paint(cut_line(make_visible(self._prompt), columns - 1), BOLD)
        return [told, *laid.rows], (laid.row + 1, laid.column)


Question = Choosing | Typing


class LiveKeyboard:
    """In place of `asking.keyboard.Keyboard`: the program holds the terminal all the time."""

    @contextmanager
    def held(self, redraw: Callable[[], None]) -> Generator[None]:  # noqa: ARG002 (the program draws again by itself)
        yield


class LiveDialogue(Dialogue):
    can_edit = True

    def __init__(
        self,
        *,
        write: Callable[[str], None],
        style: Style,
        size: Callable[[], tuple[int, int]],
        ask: Callable[[Question | None], None],
        make_editor: Callable[[], "PromptEditor"],
        read: Callable[[Details], Awaitable[None]],
        palette: Callable[[], Palette],
        folder: str = "",
    ) -> None:
        """`ask` puts a question in place of the prompt, and None takes it away. `read` returns when a long text was looked at. `palette`: the colours of now."""
        self._palette = palette
        self._read = read
        self._at = ""
        """Row of the choice before, where that was a step on the way."""
        super().__init__(LiveKeyboard(), write=write, style=style, size=size, folder=folder)  # type: ignore[arg-type]  # what of it is used
        self._ask = ask
        self._make_editor = make_editor

    def lay_out(self, texts: Sequence[Shown]) -> list[Row]:
        """Markdown as an answer is laid out; code in colours, every character of it, as of all other texts."""
        rows: list[Row] = []
        for text in texts:
            if text.language == MARKDOWN:
                laid_out = paint_markdown(text.text, self._style, self._columns - len(GUTTER))
                rows += [(row, "") for row in laid_out.rstrip("\n").split("\n")]
                continue
            if not text.language:
                rows += super().lay_out([text])
                continue
            laid = lay_code(text.text, text.language, self._columns - len(GUTTER), palette=self._palette())
            rows += [("".join(self._style.paint(piece.text, piece.codes) for piece in row), "") for row in laid]
        return rows

    def leave(self) -> None:
        self._ask(None)
        self._drawn.clear()

    async def choose(self, choices: Mapping[str, str], *, steps: Collection[str] = ()) -> str:
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        await asyncio.sleep(ARMING_S)
        choosing = Choosing(choices, answer, at=self._at)
        self._ask(choosing)
        try:
            key = await answer
        finally:
            self._ask(None)
        self._at = choosing.at if key in steps else ""
        if key in choices and key not in steps:
            self.say(f"→ {choices[key]}", DIM)
        return key

    async def show_more(self, title: str, rows: Sequence[Row], left: Sequence[Row], *, most: int) -> list[Row]:  # noqa: ARG002 (as its kin)
        """All of it at once, as a pager shows it."""
        await self._read(Details(title, tuple((SEQUENCE.sub("", row), codes) for row, codes in rows)))
        return []

    async def edit_line(self, prompt: str, text: str) -> str:
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        editor = self._make_editor()
        editor.set(text)
        self._ask(Typing(prompt, editor, answer))
        try:
            edited = (await answer).strip()
        finally:
            self._ask(None)
        if edited:
            self.show([Shown(edited, CYAN, "bash")])
        return edited

    async def ask_line(self, prompt: str) -> str:
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._ask(Typing(prompt, self._make_editor(), answer))
        try:
            line = make_line(await answer)
        finally:
            self._ask(None)
        if line:
            self.say(f"→ {line}", DIM)
        return line

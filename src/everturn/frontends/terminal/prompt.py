"""The prompt: keys become text, a menu of completions or earlier prompts stands below it, Enter hands the text on."""

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from everturn.frontends.ansi import DIM, Style
from everturn.frontends.flow import cut_line
from everturn.frontends.harmless import make_line
from everturn.frontends.terminal.editor import PromptEditor
from everturn.frontends.terminal.history import PromptHistory
from everturn.frontends.terminal.inputs import Input, Key, Paste
from everturn.frontends.terminal.menu import Menu, MenuItem
from everturn.frontends.terminal.prompt_area import lay_prompt

MAX_PASTE_LINES = 8
MAX_PASTE = 1_000
"""Characters; a larger paste stands as one word in the prompt."""
MAX_FOUND = 50
"""Earlier prompts in the menu."""
MARKER = "> "
_MENTION = re.compile(r"(?:^|\s)@(\S*)$")
_ARGUMENT = re.compile(r"/([A-Za-z][\w:-]*) +(\S.*)")
_COMMAND = re.compile(r"/([A-Za-z][\w:-]*)?$")


class Completer(Protocol):
    def complete_file(self, typed: str) -> Sequence[MenuItem]: ...

    def complete_command(self, typed: str) -> Sequence[MenuItem]: ...

    def complete_argument(self, name: str, typed: str) -> Sequence[MenuItem]: ...


class Prompt:
    def __init__(
        self,
        editor: PromptEditor,
        *,
        past: PromptHistory,
        completions: Completer,
        submit: Callable[[str], None],
        take_back: Callable[[], str],
    ) -> None:
        """`submit` gets what was typed, pastes in full. `take_back` gives back what was queued last, or nothing."""
        self.editor = editor
        self._menu: Menu | None = None
        self.suggestion = ""
        """Stands greyed in an empty prompt."""
        self._past = past
        self._completions = completions
        self._submit = submit
        self._take_back = take_back
        self._pastes: dict[str, str] = {}
        self._number = 0
        self._shown_past: list[str] = []
        self._at_past = -1
        self._draft = ""
        self._find: Callable[[str], Sequence[MenuItem]] | None = None
        """What the menu offers for the words that are typed: then they look for something, and are no prompt."""
        self._no_menu_for = ""
        """The text whose menu was closed."""

    @property
    def menu(self) -> Menu | None:
        return self._menu

    @menu.setter
    def menu(self, menu: Menu | None) -> None:
        before, self._menu = self._menu, menu
        if before is not None and before is not menu:
            before.close()

    @property
    def text(self) -> str:
        return self.editor.text

    @property
    def is_empty(self) -> bool:
        return not self.text

    def receive(self, given: Input) -> None:
        match given:
            case Paste(text=text):
                self._paste(text)
            case Key() if not self._press_menu(given):
                self._press(given)
        self._complete()

    def send(self) -> None:
        """Enter: takes what the menu offers, else hands the text on; after a backslash it is a new line."""
        editor, menu = self.editor, self.menu
        if self._find is not None and menu is not None:
            if menu.item is not None:
                self._pick(menu, menu.item)
        elif menu is not None and menu.item is not None and menu.item.value.rstrip() != self.text:
            self._pick(menu, menu.item)
            if _COMMAND.fullmatch(self.text):
                self._hand_over()
        elif editor.text[: editor.cursor].endswith("\\") and editor.is_inserting:
            editor.replace(editor.cursor - 1, editor.cursor, "\n")
        else:
            self.menu = None
            self._hand_over()
        self._complete()

    def accept(self) -> None:
        """Tab: takes what the menu offers, or the suggested prompt, or asks for a menu."""
        if self.menu is not None and self.menu.item is not None:
            self._pick(self.menu, self.menu.item)
        elif self.suggestion and self.is_empty:
            self.set(self.suggestion)
        else:
            self._no_menu_for = ""
            self._complete()

    def complete_again(self) -> None:
        """What may follow has changed: names of files have come."""
        if self._find is None:
            self._complete()

    def begin_line(self) -> None:
        self.editor.insert("\n")

    def set(self, text: str) -> None:
        self.editor.set(text)
        self._leave_past()

    def clear(self) -> None:
        self.editor.clear()
        self._pastes.clear()
        self.menu, self._find = None, None
        self._leave_past()

    def close_menu(self) -> bool:
        """Whether there was one."""
        if self.menu is None:
            return False
        if self._find is not None:
            self.set(self._draft)
        self.menu, self._find = None, None
        self._no_menu_for = self.text
        return True

    def open_menu(self, menu: Menu) -> None:
        """Something else than a completion is to be picked, such as a model."""
        items = tuple(menu.items)
        self._draft = self.text
        self.editor.clear()
        self.menu, self._find = menu, lambda words: find_items(items, words)

    def search_past(self) -> None:
        """What is typed from here on looks for an earlier prompt."""
        if self._find is not None and self.menu is not None:
            self.menu.move(1)
            return
        self._draft, self._find = self.text, self._find_past
        self.menu = Menu(
            (), pick=lambda item: self.set(item.value), title="earlier prompts; Enter takes one, Esc leaves"
        )
        self._complete()

    def lay(self, style: Style, columns: int, room: int) -> tuple[list[str], tuple[int, int]]:
        text, cursor = self.editor.text, self.editor.cursor
        marker = "search: " if self._find is not None else MARKER
        laid = lay_prompt(text, cursor, columns=columns, most=max(room, 1), first=marker, further=" " * len(marker))
        rows = laid.rows
        if not text and self.suggestion and self._find is None:
            rows = [
                marker + style.paint(cut_line(f"{make_line(self.suggestion)}  (Tab)", columns - len(marker) - 1), DIM)
            ]
        if self.menu is not None:
            rows = rows + self.menu.lay(style, columns, room - len(rows))
        return rows, (laid.row, laid.column)

    def _press_menu(self, key: Key) -> bool:
        menu = self.menu
        if menu is None:
            return False
        match key:
            case Key(name="up") | Key(name="p", ctrl=True):
                menu.move(-1)
            case Key(name="down") | Key(name="n", ctrl=True):
                menu.move(1)
            case _:
                return False
        return True

    def _pick(self, menu: Menu, item: MenuItem) -> None:
        if self._find is not None:
            self.editor.set(self._draft)
        self._menu, self._find = None, None
        menu.pick(item)
        self._no_menu_for = self.text

    def _press(self, key: Key) -> None:
        editor = self.editor
        match key:
            case Key(name="enter"):
                editor.insert("\n")
            case Key(name="up") if not editor.text and (queued := self._take_back()):
                self.set(queued)
            case Key(name="up") if editor.is_on_first_row:
                self._go_back(1)
            case Key(name="down") if editor.is_on_last_row and self._at_past >= 0:
                self._go_back(-1)
            case _:
                editor.press(key)

    def _hand_over(self) -> None:
        text = self.text
        for word, pasted in self._pastes.items():
            text = text.replace(word, pasted)
        if not text.strip():
            return
        self._past.add(text)
        self.clear()
        self._submit(text)

    def _paste(self, text: str) -> None:
        editor = self.editor
        lines = text.count("\n") + 1
        if lines <= MAX_PASTE_LINES and len(text) <= MAX_PASTE:
            editor.insert(text)
            return
        self._number += 1
        word = f"[pasted text {self._number}: {lines:,} lines, {len(text):,} characters]"
        self._pastes[word] = text
        editor.insert(word)

    def _go_back(self, by: int) -> None:
        if self._at_past < 0:
            self._draft = self.text
            self._shown_past = [prompt.text for prompt in self._past.prompts()]
        at = self._at_past + by
        if at >= len(self._shown_past):
            return
        text = self._draft if at < 0 else self._shown_past[at]
        self.editor.set(text)
        self._at_past = max(at, -1)
        self._no_menu_for = text

    def _leave_past(self) -> None:
        self._at_past = -1

    def _complete(self) -> None:
        """The menu that fits what stands before the cursor."""
        editor = self.editor
        if self._find is not None and self.menu is not None:
            self.menu.replace(self._find(self.text))
            return
        if editor.text == self._no_menu_for:
            return
        self._no_menu_for = ""
        before = editor.text[: editor.cursor]
        if command := _COMMAND.fullmatch(before):
            self._offer(self._completions.complete_command(command[1] or ""), self._put_command)
        elif mention := _MENTION.search(before):
            start = mention.start(1)
            self._offer(self._completions.complete_file(mention[1]), lambda item: self._put_file(item, start))
        elif argument := _ARGUMENT.fullmatch(before):
            self._offer(self._completions.complete_argument(argument[1], argument[2]), self._put_command)
        else:
            self.menu = None

    def _offer(self, items: Sequence[MenuItem], pick: Callable[[MenuItem], None]) -> None:
        if not items:
            self.menu = None
        elif self.menu is None:
            self.menu = Menu(items, pick=pick)
        else:
            self.menu.replace(items)
            self.menu.pick = pick

    def _put_command(self, item: MenuItem) -> None:
        self.set(item.value)

    def _put_file(self, item: MenuItem, start: int) -> None:
        self.editor.replace(start, self.editor.cursor, f"{item.value} ")

    def _find_past(self, words: str) -> list[MenuItem]:
        return [MenuItem(past.text, past.text) for past in self._past.search(words)[:MAX_FOUND]]


def find_items(items: Sequence[MenuItem], words: str) -> list[MenuItem]:
    """Those that hold each of the words, in any case."""
    parts = words.casefold().split()
    return [item for item in items if all(part in f"{item.label} {item.detail}".casefold() for part in parts)]

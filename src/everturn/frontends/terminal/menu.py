"""A list under the prompt from which one thing is picked: completions, earlier prompts, models, sessions. Pure."""

from collections.abc import Callable, Sequence

import msgspec

from everturn.frontends.ansi import BOLD, CYAN, DIM, Style
from everturn.frontends.flow import cut_line, width_of
from everturn.frontends.harmless import make_line

MAX_ROWS = 8


class MenuItem(msgspec.Struct, frozen=True):
    value: str
    """What is put in place, or handed on."""
    label: str
    detail: str = ""


class Menu:
    def __init__(
        self,
        items: Sequence[MenuItem],
        *,
        pick: Callable[[MenuItem], None],
        close: Callable[[], None] = lambda: None,
        title: str = "",
        chosen: int = 0,
    ) -> None:
        """`close` is called where the menu goes and nothing was picked."""
        self.items = list(items)
        self.pick = pick
        self.close = close
        self.title = title
        self.chosen = min(max(chosen, 0), max(len(self.items) - 1, 0))

    @property
    def item(self) -> MenuItem | None:
        return self.items[self.chosen] if self.items else None

    def move(self, by: int) -> None:
        if self.items:
            self.chosen = (self.chosen + by) % len(self.items)

    def replace(self, items: Sequence[MenuItem]) -> None:
        """Another list; the same thing stays chosen where it is in it."""
        before = self.item
        self.items = list(items)
        values = [item.value for item in self.items]
        self.chosen = values.index(before.value) if before is not None and before.value in values else 0

    def lay(self, style: Style, columns: int, room: int = MAX_ROWS) -> list[str]:
        room = max(min(room, MAX_ROWS), 1)
        first = min(max(self.chosen - room + 1, 0), max(len(self.items) - room, 0))
        shown = self.items[first : first + room]
        labels = [cut_line(make_line(item.label), max(columns - 4, 1)) for item in shown]
        wide = min(max(map(width_of, labels), default=0), columns // 2)
        title = self.title if self.items or not self.title else f"nothing fits; {self.title}"
        rows = [style.paint(cut_line(f"  {title}", columns - 1), DIM)] if title else []
        for number, (item, label) in enumerate(zip(shown, labels, strict=True), first):
            is_chosen = number == self.chosen
            mark = style.paint("▸ ", CYAN) if is_chosen else "  "
            gap = " " * max(wide - width_of(label), 0)
            room_for_detail = columns - 5 - max(wide, width_of(label))
            detail = cut_line(make_line(item.detail), room_for_detail) if item.detail and room_for_detail > 3 else ""  # noqa: PLR2004
            painted = style.paint(label, f"{BOLD};{CYAN}" if is_chosen else "")
            rows.append(f"{mark}{painted}{gap}{style.paint(f'  {detail}', DIM) if detail else ''}")
        if len(self.items) > room:
            rows.append(style.paint(f"  {self.chosen + 1} of {len(self.items)}", DIM))
        return rows

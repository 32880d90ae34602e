"""The manual's picture of the loop: six columns, one for each action, filled from the decisions that the walk saw."""

from collections.abc import Iterable, Iterator
from html import escape
from typing import NamedTuple

from everturn.core.actions import Action, AdmitPrompt, CallModel, CompactNow, DrainCollapses, RunStopPhase, RunTools
from everturn.core.decide import Continue, Do, members
from everturn.core.outcomes import EVERY_ACTION
from everturn.core.state import Reason, Transition
from everturn.testing.explore import Edge, is_tool_round

COLUMNS: tuple[type[Action], ...] = (
    CallModel,
    RunTools,
    DrainCollapses,
    CompactNow,
    RunStopPhase,
    AdmitPrompt,
)
CAPTIONS = {
    AdmitPrompt: "first of all: hooks may refuse it",
    CallModel: "prepare the context, send it, fold the stream",
    RunTools: "run what was asked for",
    DrainCollapses: "commit staged collapses",
    CompactNow: "summarise, or drop media",
    RunStopPhase: "hooks, and the rest",
}
MARGIN, COLUMN, PILL, ROW = 44, 238, 186, 46
BAR_TOP, BAR, BOX, LANE_TOP = 92, 62, 56, 196
LEFT_ARM, RIGHT_ARM, END_LINE = -92, 14, -108
"""Of an arrow, from the middle of its column."""

STYLE = """
.card { fill: #ffffff; stroke: #d0d7de }
.ends { fill: #f6f8fa }
text { font: 13px system-ui, -apple-system, "Segoe UI", "Inter", "DejaVu Sans", sans-serif; fill: #1f2328 }
.title { font-size: 21px; font-weight: 650 }
.name { font-size: 15px; font-weight: 650 }
.quiet { fill: #59636e; font-size: 12px }
.halo { stroke: #ffffff; stroke-width: 5; paint-order: stroke; stroke-linejoin: round }
.rule { stroke: #d0d7de }
.code { font: 11px ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace }
.action { fill: #ddf4ff; stroke: #0969da; stroke-width: 1.3 }
.do, .on, .for-ever, .end { fill: none; stroke-width: 1.6 }
.do { stroke: #0969da }
.on { stroke: #1a7f37 }
.for-ever { stroke: #1a7f37; stroke-width: 3 }
.end { stroke: #bc4c00; stroke-dasharray: 4 4 }
.head-do { fill: #0969da }
.head-on { fill: #1a7f37 }
.head-end { fill: #bc4c00 }
.pill-on { fill: #dafbe1; stroke: #1a7f37 }
.pill-for-ever { fill: #1a7f37; stroke: #1a7f37 }
.pill-end { fill: #fff1e5; stroke: #bc4c00 }
.inverse { fill: #ffffff; font-weight: 700 }
@media (prefers-color-scheme: dark) {
  .card { fill: #0d1117; stroke: #3d444d }
  .ends { fill: #151b23 }
  text { fill: #f0f6fc }
  .quiet { fill: #9198a1 }
  .halo { stroke: #0d1117 }
  .rule { stroke: #3d444d }
  .action { fill: #121d2f; stroke: #4493f8 }
  .do { stroke: #4493f8 }
  .on, .for-ever { stroke: #3fb950 }
  .end { stroke: #db6d28 }
  .head-do { fill: #4493f8 }
  .head-on { fill: #3fb950 }
  .head-end { fill: #db6d28 }
  .pill-on { fill: #12261e; stroke: #3fb950 }
  .pill-for-ever { fill: #3fb950; stroke: #3fb950 }
  .pill-end { fill: #221a14; stroke: #db6d28 }
  .inverse { fill: #0d1117 }
}"""


class Seen:
    """The decisions of the walk, by the action they follow; each with the outcomes that lead to it."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        self.do: dict[tuple[type[Action], type[Action]], set[str]] = {}
        self.on: dict[tuple[type[Action], Transition], set[str]] = {}
        self.ends: dict[tuple[type[Action], Reason], set[str]] = {}
        self.always: dict[Reason, str] = {}
        """Ends that can follow every action."""
        self.for_ever: set[tuple[type[Action], Transition]] = set()
        for edge in edges:
            action, outcome = type(edge.action), type(edge.outcome)
            match edge.decision:
                case Do(following):
                    self.do.setdefault((action, type(following)), set()).add(outcome.__name__)
                case Continue(transition):
                    self.on.setdefault((action, transition), set()).add(outcome.__name__)
                    if is_tool_round(edge):
                        self.for_ever.add((action, transition))
                case terminal if outcome.follows == EVERY_ACTION:
                    self.always[terminal.reason] = outcome.__name__
                case terminal:
                    self.ends.setdefault((action, terminal.reason), set()).add(outcome.__name__)

    def ways_on(self, action: type[Action]) -> list[Transition]:
        return [transition for transition in Transition if (action, transition) in self.on]

    def ways_out(self, action: type[Action]) -> list[Reason]:
        return [reason for reason in Reason if (action, reason) in self.ends]


class Layout(NamedTuple):
    """The few heights that depend on how much there is to show."""

    box_top: int
    ends_top: int
    strip_top: int
    bottom: int

    @classmethod
    def of(cls, seen: Seen) -> "Layout":
        lanes = max(len(seen.ways_on(action)) for action in COLUMNS)
        box_top = LANE_TOP + lanes * ROW + 34
        ends_top = box_top + BOX + 46
        strip_top = ends_top + 40 + max(len(seen.ways_out(action)) for action in COLUMNS[1:]) * ROW + 10
        strip = 40 + -(-len(seen.always) // (len(COLUMNS) - 1)) * ROW
        bottom = max(ends_top + 40 + len(seen.ways_out(CallModel)) * ROW, strip_top + strip) + 4
        return cls(box_top, ends_top, strip_top, bottom)


def render_diagram(edges: Iterable[Edge]) -> str:
    """One SVG that stands by itself; it follows the reader's light or dark scheme."""
    if missing := set(members(Action)) - set(COLUMNS):
        raise LookupError(f"the diagram has no column for {missing}")
    seen = Seen(edges)
    layout = Layout.of(seen)
    width, height = 2 * MARGIN + len(COLUMNS) * COLUMN, layout.bottom + 28
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="title">',
        '<title id="title">The loop: actions, transitions and reasons</title>',
        f"<style>{STYLE}\n</style>",
        "<defs>",
        *(draw_head(kind) for kind in ("do", "on", "end")),
        "</defs>",
        f'<rect class="card" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="14"/>',
        *draw_legend(width),
        f'<rect class="ends" x="20" y="{layout.ends_top}" width="{width - 40}" height="{layout.bottom - layout.ends_top + 8}" rx="10"/>',
        draw_text(MARGIN + (COLUMN - PILL) // 2, layout.ends_top + 26, "The query ends", "name"),
        *draw_box(MARGIN, BAR_TOP, width - 2 * MARGIN, BAR, CallModel),
    ]
    for place, action in enumerate(COLUMNS):
        middle = MARGIN + place * COLUMN + COLUMN // 2
        parts.extend(draw_column(seen, layout, action, middle))
    parts.extend(draw_strip(seen, layout))
    return "\n".join([*parts, "</svg>", ""])


def draw_column(seen: Seen, layout: Layout, action: type[Action], middle: int) -> Iterator[str]:
    bar, box, arm, back = BAR_TOP + BAR, layout.box_top, middle + LEFT_ARM, middle + RIGHT_ARM
    if action is CallModel:
        # The model's answer alone leads back to the model: down, round and up again.
        turn = box + BOX // 2
        yield draw_arrow(f"M{arm} {bar} V{turn - 12} q0 12 12 12 H{back - 12} q12 0 12 -12 V{bar + 9}", "on")
        yield draw_text(arm + 53, turn - 10, "again", "quiet", anchor="middle")
        yield draw_arrow(f"M{middle + END_LINE} {bar} V{layout.ends_top + 45} q0 8 7 8", "end", end="end")
    elif action is AdmitPrompt:
        # Nothing leads here: a query begins with it.
        yield draw_arrow(f"M{back} {box} V{bar + 9}", "do", end="do")
        yield from (
            draw_text(back + 9, box - 20 - row * 15, name, "code")
            for row, name in enumerate(sorted(seen.do[action, CallModel]))
        )
        yield from draw_box(middle - PILL // 2 - 10, box, PILL + 20, BOX, action)
        yield draw_arrow(f"M{middle} {box + BOX} V{layout.ends_top + 34}", "end", end="end")
    else:
        yield draw_arrow(f"M{arm} {bar} V{box - 9}", "do", end="do")
        yield from (
            draw_text(arm + 9, bar + 22 + row * 15, name, "code")
            for row, name in enumerate(sorted(seen.do[CallModel, action]))
        )
        yield draw_arrow(f"M{back} {box} V{bar + 9}", loop_style(seen, action))
        yield from draw_box(middle - PILL // 2 - 10, box, PILL + 20, BOX, action)
        yield draw_arrow(f"M{middle} {box + BOX} V{layout.ends_top + 34}", "end", end="end")
        yield from draw_passages(seen, action, middle, box)
    for row, transition in enumerate(seen.ways_on(action)):
        style = "for-ever" if (action, transition) in seen.for_ever else "on"
        top = box - 34 - (len(seen.ways_on(action)) - row) * ROW + 12
        yield from draw_pill(back - PILL // 2, top, transition, seen.on[action, transition], style)
    for row, reason in enumerate(seen.ways_out(action)):
        yield from draw_pill(
            middle - PILL // 2, layout.ends_top + 42 + row * ROW, reason, seen.ends[action, reason], "end"
        )


def loop_style(seen: Seen, action: type[Action]) -> str:
    return "for-ever" if any(source is action for source, _ in seen.for_ever) else "on"


def draw_passages(seen: Seen, action: type[Action], middle: int, box: int) -> Iterator[str]:
    """From one action straight to its neighbour."""
    for (source, target), outcomes in seen.do.items():
        if source is action:
            if COLUMNS.index(target) != COLUMNS.index(source) + 1:
                raise LookupError(f"the diagram has no room for {source.__name__} → {target.__name__}")
            start = middle + PILL // 2 + 10
            yield draw_arrow(f"M{start} {box + BOX // 2} h{COLUMN - PILL - 29}", "do", end="do")
            yield draw_text(
                start + (COLUMN - PILL - 20) // 2, box + BOX + 16, ", ".join(outcomes), "code", anchor="middle"
            )


def draw_strip(seen: Seen, layout: Layout) -> Iterator[str]:
    """What can end the query after any action."""
    left = MARGIN + COLUMN + (COLUMN - PILL) // 2
    right = left + (len(COLUMNS) - 2) * COLUMN + PILL
    yield f'<path class="rule" d="M{left} {layout.strip_top + 6} H{right}"/>'
    yield draw_text(left, layout.strip_top + 28, "after every action", "quiet")
    for place, reason in enumerate(reason for reason in Reason if reason in seen.always):
        row, column = divmod(place, len(COLUMNS) - 1)
        yield from draw_pill(
            left + column * COLUMN, layout.strip_top + 40 + row * ROW, reason, {seen.always[reason]}, "end"
        )


def draw_legend(width: int) -> Iterator[str]:
    yield draw_text(MARGIN, 44, "The loop", "title")
    yield draw_text(MARGIN, 68, "Every action has one outcome; decide says what follows.", "quiet")
    entries = (
        ("do", "do", "stay in the turn"),
        ("for-ever", "on", "go on, as long as the work lasts"),
        ("on", "on", "go on; runs out"),
        ("end", "end", "end"),
    )
    left = width - MARGIN - 660
    for (style, end, words), room in zip(entries, (190, 250, 152, 0), strict=True):
        yield draw_arrow(f"M{left} 44 h28", style, end=end)
        yield draw_text(left + 42, 48, words, "quiet")
        left += room


def draw_box(x: int, y: int, width: int, height: int, action: type[Action]) -> Iterator[str]:
    yield f'<rect class="action" x="{x}" y="{y}" width="{width}" height="{height}" rx="9"/>'
    yield draw_text(x + width // 2, y + height // 2 - 4, action.__name__, "name", anchor="middle")
    yield draw_text(x + width // 2, y + height // 2 + 15, CAPTIONS[action], "quiet", anchor="middle")


def draw_pill(x: int, y: int, name: str, causes: Iterable[str], style: str) -> Iterator[str]:
    ink = "code inverse" if style == "for-ever" else "code"
    cause = "quiet" if style == "end" else "quiet halo"
    yield f'<rect class="pill-{style}" x="{x}" y="{y}" width="{PILL}" height="22" rx="11"/>'
    yield draw_text(x + PILL // 2, y + 15, name, ink, anchor="middle")
    yield draw_text(x + PILL // 2, y + 35, ", ".join(sorted(causes)), cause, anchor="middle")


def draw_arrow(path: str, style: str, *, end: str = "on") -> str:
    return f'<path class="{style}" d="{path}" marker-end="url(#{end})"/>'


def draw_head(kind: str) -> str:
    shape = f'<path class="head-{kind}" d="M0 0 L9 4.5 L0 9 z"/>'
    size = 'markerWidth="9" markerHeight="9" refX="1" refY="4.5"'
    return f'<marker id="{kind}" {size} orient="auto" markerUnits="userSpaceOnUse">{shape}</marker>'


def draw_text(x: int, y: int, words: str, style: str, *, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" class="{style}" text-anchor="{anchor}">{escape(words)}</text>'

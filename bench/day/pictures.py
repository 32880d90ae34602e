"""Two pictures for the manual, drawn from one day of work: what is sent each turn, and what the session has cost so far.

`make bench` works through the day and keeps its course in bench/results/day.json, as does `python -m bench.day.pictures` (half a minute). From that file
`python -m bench.run --docs` draws the pictures, and `make check` fails if they are stale.
"""

import asyncio
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.chart import STYLE
from bench.day.desk import Desk
from bench.day.ours import run_ours
from bench.day.plain import WINDOW, run_plain
from bench.day.work import TURNS, draw_day

KEPT = Path(__file__).parents[1] / "results" / "day.json"
SEED = 1
EVERY = 4
"""Of so many turns one is kept."""
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 960, 400, 78, 24, 96, 62
LINES = {
    "ours": ("everturn", "Everturn"),
    "simple": ("other", "a loop that summarises everything at 90 % of the window"),
}
LINE_STYLE = """
.line { fill: none; stroke-width: 2 }
.everturn-line { stroke: #0969da }
.other-line { stroke: #bc4c00 }
.other { fill: #bc4c00 }
@media (prefers-color-scheme: dark) {
  .everturn-line { stroke: #4493f8 }
  .other-line { stroke: #f0883e }
  .other { fill: #f0883e }
}
"""


class Picture(NamedTuple):
    title: str
    subtitle: str
    column: int
    step: int
    """Between two lines of the grid."""
    unit: str


PICTURES = {
    "explanation/context.svg": Picture(
        "The context over a day",
        "Tokens of each request, for the same work of {turns} turns. The window has 200,000 tokens.",
        0,
        50_000,
        "{:,.0f}",
    ),
    "how-to/cost.svg": Picture(
        "The cost of a session",
        "USD so far, for the same work of {turns} turns, at list prices, summaries included.",
        1,
        10,
        "${:,.0f}",
    ),
}


def keep_course(turns: int = TURNS) -> None:
    KEPT.write_text(json.dumps(measure_course(turns)) + "\n")


def measure_course(turns: int) -> dict[str, Any]:
    day = draw_day(SEED, turns)
    simple, ours = Desk(day), Desk(day)
    run_plain(simple, window=WINDOW)
    with tempfile.TemporaryDirectory(prefix="everturn-bench-") as name:
        asyncio.run(run_ours(ours, Path(name).resolve()))
    return {"turns": turns, "simple": simple.tally.course[::EVERY], "ours": ours.tally.course[::EVERY]}


def render_pictures(kept: Mapping[str, Any]) -> dict[str, str]:
    """Each file below docs/; nothing where the day was never worked through."""
    return {name: render_picture(picture, kept) for name, picture in PICTURES.items()} if kept else {}


def render_picture(picture: Picture, kept: Mapping[str, Any]) -> str:
    courses = {name: [point[picture.column] for point in kept[name]] for name in LINES}
    top = max(max(course) for course in courses.values())
    steps = int(top // picture.step) + 1
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="title">',
        f'<title id="title">{picture.title}</title>',
        f"<style>{STYLE}{LINE_STYLE}</style>",
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8"/>',
        f'<text class="title" x="24" y="34">{picture.title}</text>',
        f'<text class="quiet" x="24" y="55">{picture.subtitle.format(turns=format(kept["turns"], ","))}</text>',
    ]
    for step in range(steps + 1):
        y = place_y(step / steps)
        label = picture.unit.format(step * picture.step)
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>')
        parts.append(f'<text class="quiet" x="{LEFT - 10}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    for name, (kind, _) in LINES.items():
        points = draw_points(courses[name], steps * picture.step)
        parts.append(f'<polyline class="line {kind}-line" points="{points}"/>')
    at = float(LEFT)
    for kind, label in LINES.values():
        parts.append(f'<rect class="{kind}" x="{at}" y="{HEIGHT - 30}" width="12" height="12" rx="2"/>')
        parts.append(f'<text class="quiet" x="{at + 18}" y="{HEIGHT - 20}">{label}</text>')
        at += 40 + 7 * len(label)
    return "\n".join([*parts, "</svg>", ""])


def draw_points(course: Sequence[float], top: float) -> str:
    room = WIDTH - LEFT - RIGHT
    last = max(1, len(course) - 1)
    return " ".join(f"{LEFT + room * at / last:.1f},{place_y(value / top):.1f}" for at, value in enumerate(course))


def place_y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)


if __name__ == "__main__":
    keep_course()

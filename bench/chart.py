"""The picture of the benchmarks: each figure as a share of the SDK loop, drawn as SVG, readable by day and by night."""

from html import escape

from bench.summary import Line, Spread, render_number

WIDTH, LEFT, RIGHT, TOP = 960, 350, 60, 96
ROW, BAR, GAP = 58, 15, 4
NUMBER = 44
"""The room that a number takes."""
TITLE = "Everturn beside a small loop on the vendor's SDK"
SUBTITLE = "Share of what the SDK loop needs, in the same round; less is better. Bars: medians. Whiskers: quartiles."
NAMES = {"everturn": "Everturn", "raw": "a small loop on bare h11"}

STYLE = """
.card { fill: #ffffff; stroke: #d0d7de }
text { font: 13px system-ui, -apple-system, "Segoe UI", "Inter", "DejaVu Sans", sans-serif; fill: #1f2328 }
.title { font-size: 19px; font-weight: 650 }
.quiet { fill: #59636e; font-size: 12px }
.number { font-size: 12px; font-variant-numeric: tabular-nums }
.grid { stroke: #d8dee4 }
.sdk { stroke: #59636e; stroke-width: 1.5 }
.everturn { fill: #0969da }
.raw { fill: #afb8c1 }
.whisker { stroke: #1f2328; stroke-width: 1.2 }
.reach { stroke: #bc4c00; stroke-width: 2.5 }
@media (prefers-color-scheme: dark) {
  .card { fill: #0d1117; stroke: #3d444d }
  text { fill: #f0f6fc }
  .quiet { fill: #9198a1 }
  .grid { stroke: #2a313c }
  .sdk { stroke: #9198a1 }
  .everturn { fill: #4493f8 }
  .raw { fill: #656c76 }
  .whisker { stroke: #f0f6fc }
  .reach { stroke: #f0883e }
}
"""


def render_chart(lines: list[Line]) -> str:
    drawn = [line for line in lines if line.figure.judged == "ratio"]
    most = max([1.0, *(spread[2] for line in drawn for spread in (line.spread, *line.others.values()))])
    scale = (WIDTH - LEFT - RIGHT) / (most * 1.05)
    height = TOP + ROW * len(drawn) + 44
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="title">',
        f'<title id="title">{TITLE}</title>',
        f"<style>{STYLE}</style>",
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
        f'<text class="title" x="24" y="34">{TITLE}</text>',
        f'<text class="quiet" x="24" y="55">{SUBTITLE}</text>',
        *render_grid(most, scale, height),
    ]
    for number, line in enumerate(drawn):
        parts += render_row(line, TOP + ROW * number, scale)
    parts += render_legend(height - 18)
    return "\n".join([*parts, "</svg>", ""])


def render_grid(most: float, scale: float, height: int) -> list[str]:
    parts = []
    bottom = height - 40
    for step in range(int(most * 1.05 / 0.25) + 1):
        at, value = LEFT + step * 0.25 * scale, step * 0.25
        kind = "sdk" if value == 1 else "grid"
        label = "SDK = 1" if value == 1 else f"{value:g}"
        parts.append(f'<line class="{kind}" x1="{at:.1f}" y1="{TOP - 12}" x2="{at:.1f}" y2="{bottom}"/>')
        parts.append(f'<text class="quiet" x="{at:.1f}" y="{TOP - 18}" text-anchor="middle">{label}</text>')
    return parts


def render_row(line: Line, top: float, scale: float) -> list[str]:
    figure = line.figure
    ours, sdk = (f"{render_number(line.values[name])} {figure.unit}" for name in ("everturn", "sdk"))
    bars = {"everturn": line.spread, **line.others}
    parts = [
        f'<text x="{LEFT - 14}" y="{top + 15}" text-anchor="end">{escape(figure.title)}</text>',
        f'<text class="quiet" x="{LEFT - 14}" y="{top + 33}" text-anchor="end">{ours}, SDK {sdk}</text>',
    ]
    for place, (name, spread) in enumerate(bars.items()):
        mark = figure.reach if name == "everturn" else 0
        parts += render_bar(name, spread, top + 2 + place * (BAR + GAP), scale, mark)
    at = LEFT + figure.reach * scale
    parts.append(f'<line class="reach" x1="{at:.1f}" y1="{top - 1}" x2="{at:.1f}" y2="{top + BAR + 5}"/>')
    return parts


def render_bar(name: str, spread: Spread, top: float, scale: float, mark: float) -> list[str]:
    """The number stands right of the bar, and of the mark where the two would meet."""
    low, middle, high = (value * scale for value in spread)
    end = mark * scale if high - 4 < mark * scale < high + NUMBER else high
    centre = top + BAR / 2
    return [
        f'<rect class="{name}" x="{LEFT}" y="{top:.1f}" width="{middle:.1f}" height="{BAR}" rx="2"/>',
        f'<line class="whisker" x1="{LEFT + low:.1f}" y1="{centre:.1f}" x2="{LEFT + high:.1f}" y2="{centre:.1f}"/>',
        f'<text class="number" x="{LEFT + end + 8:.1f}" y="{centre + 4:.1f}">{render_number(spread[1])}</text>',
    ]


def render_legend(base: float) -> list[str]:
    parts = []
    at = float(LEFT)
    for kind, label in NAMES.items():
        parts.append(f'<rect class="{kind}" x="{at}" y="{base - 10}" width="12" height="12" rx="2"/>')
        parts.append(f'<text class="quiet" x="{at + 18}" y="{base}">{label}</text>')
        at += 34 + 7 * len(label)
    parts.append(f'<line class="reach" x1="{at + 4}" y1="{base - 12}" x2="{at + 4}" y2="{base + 3}"/>')
    parts.append(f'<text class="quiet" x="{at + 14}" y="{base}">what we aim for</text>')
    return parts

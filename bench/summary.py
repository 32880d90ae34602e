"""From samples to sentences: medians, quartiles, ratios within the same round, and whether a figure is reached."""

from typing import NamedTuple

from bench.figures import FIGURES, Figure, median, quartiles

Samples = dict[str, dict[str, list[float]]]
"""Figure, loop, and a value for each round."""
Spread = tuple[float, float, float]

YARDSTICK, OURS = "sdk", "everturn"


class Line(NamedTuple):
    """One figure of ours, as it is judged."""

    figure: Figure
    spread: Spread
    values: dict[str, float]
    """Medians of every loop, in the figure's unit."""
    others: dict[str, Spread]
    """Ratios of the loops that are neither ours nor the yardstick."""

    @property
    def reached(self) -> bool:
        """With margin: in three of four rounds."""
        return self.spread[2] <= self.figure.reach


def judge(samples: Samples) -> list[Line]:
    """Only the figures that were measured."""
    lines = []
    for figure in FIGURES:
        taken = samples.get(figure.key, {})
        before = samples.get(figure.of, {}) if figure.judged == "growth" else taken
        base = taken if figure.judged == "value" else before
        needed = {"ratio": YARDSTICK, "value": OURS, "growth": OURS}[figure.judged]
        if OURS not in taken or needed not in base:
            continue
        own = taken[OURS]
        spread = quartiles(own) if figure.judged == "value" else quartiles(divide(own, base[needed]))
        others = {
            name: quartiles(divide(values, taken[YARDSTICK]))
            for name, values in taken.items()
            if figure.judged == "ratio" and name not in {OURS, YARDSTICK}
        }
        lines.append(Line(figure, spread, {name: median(values) for name, values in taken.items()}, others))
    return lines


def net_turns(samples: Samples) -> Spread:
    """The ratio of the harness times per turn, with the shell's own time taken off both."""
    tool, turns = samples["tool"]["raw"], samples["turn"]
    net = {name: [whole - own for whole, own in zip(turns[name], tool, strict=True)] for name in (OURS, YARDSTICK)}
    return quartiles(divide(net[OURS], net[YARDSTICK]))


def divide(values: list[float], by: list[float]) -> list[float]:
    return [value / other for value, other in zip(values, by, strict=True)]


def render_number(value: float) -> str:
    """Three digits that count."""
    if value >= 100:  # noqa: PLR2004 (a number of three digits)
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"  # noqa: PLR2004 (the same)


def render_spread(spread: Spread) -> str:
    low, middle, high = (render_number(value) for value in spread)
    return f"{middle} ({low} to {high})"


def render_reach(line: Line) -> str:
    return render_limit(line.figure.reach, line.figure.unit if line.figure.judged == "value" else "")


def render_limit(limit: float, unit: str, sign: str = "≤") -> str:
    return f"{sign} {limit:,g} {unit}".rstrip()

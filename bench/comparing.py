"""What rose since the results that were committed last: figures are compared one by one, each with its own spread."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.aims import AIMS, Found, judge_part
from bench.figures import quartiles
from bench.keeping import LATEST, TOOLS, Kept, load_kept
from bench.stage import ROOT
from bench.summary import Samples, Spread, judge, render_number

MIN_SHARE = 0.02
"""Of a figure: less than that is noise, however small its spread is."""
ONCE_SHARE = 0.1
"""The same of a figure that was measured once and has no spread."""
GOES_UP = frozenset({"endless_share", "simple_share", "ours_share"})
"""Figures that are better the higher they are."""


class Told(NamedTuple):
    """One figure of a run."""

    value: float
    spread: Spread
    rounds: int

    @property
    def width(self) -> float:
        low, _, high = self.spread
        return max(high - low, abs(self.value) * (MIN_SHARE if self.rounds > 1 else ONCE_SHARE))


class Change(NamedTuple):
    title: str
    before: Told
    now: Told
    is_better_high: bool = False

    @property
    def word(self) -> str:
        """How it moved, if by more than the wider of both spreads."""
        risen = self.now.value - self.before.value
        if abs(risen) <= max(self.before.width, self.now.width):
            return ""
        return "rose" if risen > 0 else "fell"

    @property
    def is_worse(self) -> bool:
        return self.word == ("fell" if self.is_better_high else "rose")


def list_changes(loops: tuple[Samples, Samples], parts: tuple[Kept, dict[str, Found]]) -> Iterator[Change]:
    """Each a pair, what was committed and what was measured now. Figures that one of them lacks are left out."""
    before, now = ({line.figure: line for line in judge(samples)} for samples in loops)
    for figure, line in now.items():
        if figure in before:
            told = [
                Told(each.spread[1], each.spread, len(samples[figure.key]["everturn"]))
                for each, samples in zip((before[figure], line), loops, strict=True)
            ]
            yield Change(figure.title, *told)
    committed, measured = parts
    for name in AIMS:
        if name in measured and name in committed:
            earlier, found = committed[name]["samples"], measured[name]
            known = {verdict.aim.key: verdict for verdict in judge_part(name, earlier)}
            for verdict in judge_part(name, found):
                aim = verdict.aim
                if aim.key in known:
                    told = [
                        Told(each.value, quartiles(values[aim.key]), each.rounds)
                        for each, values in ((known[aim.key], earlier), (verdict, found))
                    ]
                    yield Change(f"{name}: {aim.title}", *told, is_better_high=aim.key in GOES_UP)


def render_comparison(changes: list[Change], taken: str) -> str:
    """The last lines of a run."""
    if not changes:
        return "Nothing was measured that stands in the results that were committed last."
    moved = [change for change in changes if change.word]
    lines = [f"Compared to the results that were committed last (taken {taken}; figures: {len(changes)}):"]
    lines += [
        f"  {change.title}: {change.word} from {render_number(change.before.value)} to {render_number(change.now.value)}"
        for change in moved
    ]
    worse = [change.title for change in moved if change.is_worse]
    lines.append(
        f"Worse by more than its spread: {'; '.join(worse)}." if worse else "None is worse by more than its spread."
    )
    return "\n".join(lines)


def compare(samples: Samples, found: dict[str, Found]) -> str:
    latest, tools = load_committed(LATEST), load_committed(TOOLS)
    changes = list(list_changes((latest.get("samples", {}), samples), (tools, found)))
    return render_comparison(changes, latest.get("taken", "at an unknown time"))


def load_committed(path: Path) -> Kept:
    """What lies there, where there is no git to ask."""
    shown = subprocess.run(
        ["git", "show", f"HEAD:{path.relative_to(ROOT)}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if shown.returncode != 0:
        return load_kept(path)
    committed: Kept = json.loads(shown.stdout)
    return committed

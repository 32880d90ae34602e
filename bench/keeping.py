"""What stays of a run: results as JSON in bench/results, and the docs that are made of them."""

import json
import os
import platform
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.aims import AIMS, Found
from bench.chart import render_chart
from bench.day.pictures import render_pictures
from bench.figures import own_program
from bench.page import render_page, render_readme
from bench.stage import ROOT, StageError
from bench.summary import Samples, judge

RESULTS = ROOT / "bench" / "results"
LATEST, TOOLS, OTHERS, DAY = (RESULTS / f"{name}.json" for name in ("latest", "tools", "peers", "day"))
Kept = dict[str, Any]


def describe_machine(load: float) -> Kept:
    return {
        "taken": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cores": os.cpu_count(),
        "load_before": round(load, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "everturn": version("everturn"),
    }


def describe_loops(samples: Samples, rounds: int, load: float) -> Kept:
    return {
        **describe_machine(load),
        "rounds": rounds,
        "program": "library" if own_program()[-1].endswith("library.py") else "console program",
        "anthropic": version("anthropic"),
        "samples": {figure: round_samples(loops) for figure, loops in samples.items()},
    }


def describe_part(found: Found, load: float) -> Kept:
    return {**describe_machine(load), "samples": round_samples(found)}


def round_samples(samples: Mapping[str, list[float]]) -> Found:
    return {name: [round(value, 3) for value in values] for name, values in samples.items()}


def keep_loops(kept: Kept, *, latest: bool) -> None:
    """Every run is kept; a whole one becomes what the docs tell."""
    text = json.dumps(kept, indent=1) + "\n"
    (RESULTS / f"{datetime.now(UTC):%Y%m%d-%H%M%S}.json").write_text(text)
    if latest:
        LATEST.write_text(text)


def keep_part(name: str, kept: Kept, file: Path = TOOLS) -> None:
    """Each part by itself, so that one can be measured again without the others."""
    parts = load_kept(file) | {name: kept}
    ordered = {part: parts[part] for part in AIMS if part in parts}
    file.write_text(json.dumps(ordered, indent=1) + "\n")


def load_kept(path: Path) -> Kept:
    """Nothing where nothing was measured yet."""
    kept: Kept = json.loads(path.read_text()) if path.exists() else {}
    return kept


def write_docs() -> None:
    """Raises `StageError` where the loops were never measured."""
    for path, text in render_docs().items():
        path.write_text(text)


def check_docs() -> int:
    stale = [path.name for path, text in render_docs().items() if not path.exists() or path.read_text() != text]
    if stale:
        print(f"Stale: {', '.join(stale)}. Run `python -m bench.run --docs`.", file=sys.stderr)
    return 1 if stale else 0


def render_docs() -> dict[Path, str]:
    kept = load_kept(LATEST)
    if not kept:
        raise StageError("there are no kept results yet; run `make bench`")
    chart = render_chart(judge(kept["samples"]))
    page = render_page(kept, load_kept(TOOLS), load_kept(OTHERS))
    readme = ROOT / "README.md"
    return {
        ROOT / "docs" / "benchmarks.svg": chart,
        ROOT / "docs" / "benchmarks.md": page,
        readme: render_readme(readme.read_text(), load_kept(OTHERS)),
        **{ROOT / "docs" / name: text for name, text in render_pictures(load_kept(DAY)).items()},
    }

"""`make bench`: plays every loop through every play, in turn, and says how Everturn compares.

Each round plays all loops, beginning with another one each time, so that a noisy minute hurts them alike; ratios are
taken within a round, and of all rounds the median and the quartiles are told.
"""

import argparse
import json
import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.chart import render_chart
from bench.figures import PLAYS, in_turn, own_program, yardsticks
from bench.page import render_page
from bench.stage import ROOT, Stage, StageError
from bench.summary import Samples, judge, render_number, render_reach, render_spread

RESULTS = ROOT / "bench" / "results"
LATEST = RESULTS / "latest.json"
ROUNDS, FEW = 15, 3


def main() -> int:
    arguments = parse_arguments()
    if arguments.docs or arguments.check_docs:
        return renew_docs(write=arguments.docs)
    plays = arguments.only.split(",") if arguments.only else list(PLAYS)
    if strangers := [name for name in plays if name not in PLAYS]:
        print(f"There is no play {strangers[0]!r}; there are: {', '.join(PLAYS)}.", file=sys.stderr)
        return 2
    rounds = arguments.rounds or (FEW if arguments.quick else ROUNDS)
    before = os.getloadavg()[0]
    try:
        samples = take_samples(plays, rounds)
    except StageError as error:
        print(f"The benchmark broke off: {error}", file=sys.stderr)
        return 1
    kept = describe(samples, rounds, before)
    if not arguments.forget:
        keep(kept, latest=rounds >= ROUNDS and not arguments.only)
    print(render_table(samples))
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{FEW} rounds in place of {ROUNDS}; the docs stay")
    parser.add_argument("--rounds", type=int, default=0, help="so many rounds")
    parser.add_argument("--only", default="", help=f"some plays, with commas between them: {', '.join(PLAYS)}")
    parser.add_argument("--forget", action="store_true", help="print the table and keep nothing")
    parser.add_argument("--docs", action="store_true", help="measure nothing; write the docs from the kept results")
    parser.add_argument(
        "--check-docs", action="store_true", help="fail where the docs are not those of the kept results"
    )
    return parser.parse_args()


def take_samples(plays: list[str], rounds: int) -> Samples:
    samples: Samples = {}
    loops = yardsticks()
    with Stage() as stage:
        for number in range(rounds):
            for name in plays:
                for loop in in_turn(loops, number):
                    for figure, value in PLAYS[name](stage, loop).items():
                        samples.setdefault(figure, {}).setdefault(loop.name, []).append(value)
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return samples


def describe(samples: Samples, rounds: int, load: float) -> dict[str, Any]:
    return {
        "taken": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "rounds": rounds,
        "cores": os.cpu_count(),
        "load_before": round(load, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "everturn": version("everturn"),
        "program": "library" if own_program()[-1].endswith("library.py") else "console program",
        "anthropic": version("anthropic"),
        "samples": {
            figure: {name: [round(value, 3) for value in values] for name, values in loops.items()}
            for figure, loops in samples.items()
        },
    }


def keep(kept: dict[str, Any], *, latest: bool) -> None:
    """Every run is kept; a whole one becomes what the docs tell."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(kept, indent=1) + "\n"
    (RESULTS / f"{datetime.now(UTC):%Y%m%d-%H%M%S}.json").write_text(text)
    if latest:
        LATEST.write_text(text)
        write_docs(render_docs(kept))


def renew_docs(*, write: bool) -> int:
    if not LATEST.exists():
        print("There are no kept results yet; run `make bench`.", file=sys.stderr)
        return 1
    docs = render_docs(json.loads(LATEST.read_text()))
    if write:
        write_docs(docs)
    elif stale := [path.name for path, text in docs.items() if not path.exists() or path.read_text() != text]:
        print(f"Stale: {', '.join(stale)}. Run `python -m bench.run --docs`.", file=sys.stderr)
        return 1
    return 0


def render_docs(kept: dict[str, Any]) -> dict[Path, str]:
    peers = RESULTS / "peers.json"
    found = json.loads(peers.read_text()) if peers.exists() else None
    chart, page = render_chart(judge(kept["samples"])), render_page(kept, found)
    return {ROOT / "docs" / "benchmarks.svg": chart, ROOT / "docs" / "benchmarks.md": page}


def write_docs(docs: dict[Path, str]) -> None:
    for path, text in docs.items():
        path.write_text(text)


def render_table(samples: Samples) -> str:
    rows = [("figure", "everturn", "reach", "", "medians")]
    for line in judge(samples):
        medians = ", ".join(f"{name} {render_number(value)} {line.figure.unit}" for name, value in line.values.items())
        verdict = "reached" if line.reached else "missed"
        rows.append((line.figure.title, render_spread(line.spread), render_reach(line), verdict, medians))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[4]]) for row in rows
    )


if __name__ == "__main__":
    sys.exit(main())

"""`make bench`: plays every loop through every play, in turn, says how Everturn compares, and measures its parts.

Each round plays all loops, beginning with another one each time, so that a noisy minute hurts them alike; ratios are
taken within a round, and of all rounds the median and the quartiles are told.
"""

import argparse
import os
import sys
from importlib import import_module

from bench.aims import AIMS, FULL, QUICK, Found, Scale
from bench.comparing import compare
from bench.day.pictures import keep_course
from bench.figures import PLAYS, in_turn, yardsticks
from bench.keeping import check_docs, describe_loops, describe_part, keep_loops, keep_part, write_docs
from bench.parts_page import list_rows
from bench.stage import Stage, StageError
from bench.summary import Samples, judge, render_number, render_reach, render_spread

Row = tuple[str, ...]
HEAD = ("figure", "everturn", "aim", "", "medians")


def main() -> int:
    arguments = parse_arguments()
    names = arguments.only.split(",") if arguments.only else [*PLAYS, *AIMS]
    if strangers := [name for name in names if name not in {*PLAYS, *AIMS}]:
        print(f"There is no part {strangers[0]!r}; there are: {', '.join((*PLAYS, *AIMS))}.", file=sys.stderr)
        return 2
    try:
        if arguments.check_docs:
            return check_docs()
        if not arguments.docs:
            rows, comparison = measure(names, choose_scale(arguments), keep=not arguments.forget)
            print(render_table([HEAD, *rows]), comparison, sep="\n\n")
        if not arguments.forget:
            write_docs()
    except StageError as error:
        print(f"The benchmark broke off: {error}", file=sys.stderr)
        return 1
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.run", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK.rounds} rounds in place of {FULL.rounds}; the docs stay"
    )
    parser.add_argument("--rounds", type=int, default=0, help="so many rounds")
    parser.add_argument(
        "--only", default="", help=f"some of it, with commas between the names: {', '.join((*PLAYS, *AIMS))}"
    )
    parser.add_argument(
        "--size", type=float, default=1.0, help="files, trees and sessions of this share of their size; the docs stay"
    )
    parser.add_argument("--forget", action="store_true", help="print the table and keep nothing")
    parser.add_argument("--docs", action="store_true", help="measure nothing; write the docs from the kept results")
    parser.add_argument(
        "--check-docs", action="store_true", help="fail where the docs are not those of the kept results"
    )
    return parser.parse_args()


def choose_scale(arguments: argparse.Namespace) -> Scale:
    scale = QUICK if arguments.quick else FULL
    if arguments.rounds:
        scale = Scale(rounds=arguments.rounds, dear=min(arguments.rounds, FULL.dear))
    return scale._replace(size=arguments.size)


def measure(names: list[str], scale: Scale, *, keep: bool) -> tuple[list[Row], str]:
    """Rows of a table, and what changed since the last time.

    The loops first: a child's peak memory counts from this process's, and the parts make it larger.
    """
    rows: list[Row] = []
    samples: Samples = {}
    parts: dict[str, Found] = {}
    plays, whole = [name for name in names if name in PLAYS], scale.rounds >= FULL.rounds
    if plays:
        load = os.getloadavg()[0]
        samples = take_samples(plays, scale.rounds)
        rows += list_figures(samples)
        if keep:
            latest = whole and len(plays) == len(PLAYS)
            keep_loops(describe_loops(samples, scale.rounds, load), latest=latest)
    for name in AIMS:
        if name in names:
            print(f"part {name}", file=sys.stderr)
            load = os.getloadavg()[0]
            found: Found = import_module(f"bench.{name}").measure(scale)
            parts[name] = found
            rows += list_rows(name, found)
            if keep and whole and scale.size == FULL.size:
                keep_part(name, describe_part(found, load))
                if name == "day":
                    keep_course()
    return rows, compare(samples, parts)


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


def list_figures(samples: Samples) -> list[Row]:
    rows: list[Row] = []
    for line in judge(samples):
        medians = ", ".join(f"{name} {render_number(value)} {line.figure.unit}" for name, value in line.values.items())
        verdict = "reached" if line.reached else "missed"
        rows.append((line.figure.title, render_spread(line.spread), render_reach(line), verdict, medians))
    return rows


def render_table(rows: list[Row]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = (
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), *row[4:]]) for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


if __name__ == "__main__":
    sys.exit(main())

"""The second half of the benchmarks' page, and its lines in the terminal: tools and sessions, part by part."""

from collections.abc import Mapping
from typing import Any

from bench.aims import AIMS, Aim, Found, Verdict, judge_part
from bench.summary import render_limit, render_number, render_spread

OPENING = """## Tools and sessions

The cost of single parts of Everturn. The figures are medians, with the quartiles in brackets; where a row says so, the 99th percentile or the worst value instead
of the median. Rows without an aim are for comparison.
"""

NOTHING = "Not measured yet: run `make bench`, or `python -m bench.run --only files,execution,search,journal,sandbox,permissions,hooks,terminal,day`.\n"

HOW = """How these are measured:

- **files**: each round in its own process, whose first call has read another file. Memory is the rise of the peak during the call.
- **execution**: the concurrency figures run in an engine with a scripted model, from the prompt to the end of the query. 1 GB is printed by `yes | head`,
  through the tool and by the same tool `> file`, beginning with another one each round, each round in a process of its own. Aborts come when the command has
  said that it is there; they end when the call has seen that no child is left; one call
  after the other, but for the last figure.
- **search**: 50,000 files of 900 bytes, one in five with a match. `rg` gets the same arguments as from the tool, its output is read and not looked at. The time of
  our sorting is measured by itself on the same matches and taken off. Each round begins with the other of the two.
- **journal**: journalling is the time of encoding and writing the six records of a turn with one call, as the median of 200 turns. A flush is `fdatasync`; the first
  one of a session also forces the file's name to the disk and counts as two. Calls that write and are known together are forced to the disk together,
  before the first of them runs. The 10,000 turns that are weighed and resumed have 2,000 characters of text each;
  resuming is `everturn --resume` from the start of the process to the whole of its first request, and its peak memory.
- **10,000 turns in one query** run in the library with a tool in the process, against the same server. The watch stops where the request is handed to the client,
  which joins its body and sends it, and runs on when the head of the answer is there ([marathon.py](../bench/loops/marathon.py)). Compared are the medians of the
  last 100 turns and of 100 turns from the tenth on; the session runs once.
- **sandbox**: `true` through the Bash tool, with and without a sandbox, or held as what nobody approved, one after the other, in a git repository; the figure is the difference of each pair.
- **permissions**: CPU time of judging, each command three times, the best of the three: every command of the corpus; 10,000 characters of everyday and of hostile shapes;
  and longer inputs that were the slowest in fuzzing ([shapes](../tests/permissions/shell/test_timing.py)).
- **hooks**: CPU time of one question, the mean of 1,000; commands that sleep for half a second, 20 of them at once and one alone; the stop phase after a conversation of 800 messages,
  when it runs for the second time.
- **terminal**: the interactive program in a pseudo-terminal, whose other end is a terminal emulator in the benchmark's process. CPU is that of all threads of the program,
  read when the bytes or the screen have come. A key is timed from its writing to the bytes that show it, 400 of them, while an answer streams and a command
  prints; beside it, at the same time, keys that another program only echoes: what the machine needs. The answer of 20,000 deltas is compared without the start of either program. The session of 1,000 turns runs one command in each.
- **day**: three days of 1,000 turns, drawn once each from the distribution that [work.py](../bench/day/work.py) documents. The same work is done three times, at the
  list prices of Claude Sonnet 4.5 with its window of 200,000 tokens: with a window without an end, by a loop that summarises everything at 90 % of the window, and by
  Everturn as it comes. Tokens and cache are those of the model server (a cache of five minutes, pauses included), in the same process. Summaries are charged,
  the small model's too; what was forgotten and is needed again costs a turn of its own. Preparing a turn is all stages of the context pipeline, the request and the
  cache's ledger, in CPU time.
"""


def render_parts(kept: Mapping[str, Any]) -> str:
    if not kept:
        return f"{OPENING}\n{NOTHING}"
    missing = [name for name in AIMS if name not in kept]
    sections = [render_part(name, kept[name]) for name in AIMS if name in kept]
    notes = [f"Not measured yet: {', '.join(missing)}.\n"] if missing else []
    return "\n".join([OPENING, *sections, *notes, HOW])


def render_part(name: str, kept: Mapping[str, Any]) -> str:
    machine = f"{kept['cores']} cores ({kept['system']}, load {kept['load_before']} at the start)"
    rows = [
        f"**{name}**, taken {kept['taken']} on {machine}, Python {kept['python']}, Everturn {kept['everturn']}:",
        "",
        "| figure | measured | times | aim | |",
        "|---|---|---|---|---|",
    ]
    for verdict in judge_part(name, kept["samples"]):
        cells = (verdict.aim.title, render_measured(verdict), str(verdict.rounds), render_aim(verdict.aim))
        rows.append(f"| {' | '.join(cells)} | {render_verdict(verdict, '**missed**')} |")
    return "\n".join([*rows, ""])


def render_measured(verdict: Verdict) -> str:
    """A value that was measured once has no spread."""
    told, unit = verdict.aim.told, f" {verdict.aim.unit}".rstrip()
    if verdict.rounds == 1:
        return f"{render_number(verdict.value)}{unit}"
    if told == "median":
        return f"{render_spread(verdict.spread)}{unit}"
    return f"{told} {render_number(verdict.value)}, {render_spread(verdict.spread)}{unit}"


def render_aim(aim: Aim) -> str:
    return "" if aim.limit is None else render_limit(aim.limit, aim.unit, "<" if aim.strict else "≤")


def render_verdict(verdict: Verdict, missed: str) -> str:
    return {None: "", True: "reached", False: missed}[verdict.reached]


def list_rows(name: str, found: Found) -> list[tuple[str, ...]]:
    """For the terminal."""
    return [
        (verdict.aim.title, render_measured(verdict), render_aim(verdict.aim), render_verdict(verdict, "missed"))
        for verdict in judge_part(name, found)
    ]

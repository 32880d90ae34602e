"""What the parts measure of tools and sessions: each figure with its aim, and how the samples are judged by it."""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from bench.figures import quartiles

Found = dict[str, list[float]]
"""By a figure's key, a value for each time it was measured."""
Told = Literal["median", "p99", "worst"]


class Scale(NamedTuple):
    """How much is measured. `size` is a share of the files, trees and sessions: below one, only to see that it works."""

    rounds: int = 15
    dear: int = 5
    """Rounds of what moves a gigabyte."""
    size: float = 1.0

    def of(self, whole: int) -> int:
        return max(1, round(whole * self.size))


FULL, QUICK = Scale(), Scale(rounds=3, dear=1)


class Aim(NamedTuple):
    """Without a limit the figure is told and not judged; without a unit it is a ratio or a count."""

    key: str
    title: str
    unit: str = ""
    limit: float | None = None
    strict: bool = False
    """Less than the limit, not at most."""
    told: Told = "median"


AIMS: Mapping[str, tuple[Aim, ...]] = {
    "files": (
        Aim("first_page", "Read: first page of 1 GB", "ms", 50),
        Aim("first_page_memory", "the same, memory", "MB", 20),
        Aim("edit", "Edit in 10 MB", "ms", 200),
        Aim("edit_refused", "Edit in 10 MB whose text is not there", "ms"),
    ),
    "execution": (
        Aim("writers", "two 1 s tools in a 2 s stream", "s", 2.1),
        Aim("readers", "eight 0.5 s readers", "s", 0.6),
        Aim("equal", "ten equal safe calls against one", "", 1.1),
        Aim("thousand", "1,000 calls in one response, each", "ms"),
        Aim("nothing", "Bash: `true`", "ms"),
        Aim("flood", "Bash: 1 GB of output against `> file`", "", 1.5),
        Aim("flood_memory", "the same, memory", "MB", 64, strict=True),
        Aim("flood_pipe", "the same against `| cat`, which needs no disk"),
        Aim("abort", "abort to the last child's death, children that obey", "ms", 300, strict=True, told="p99"),
        Aim("abort_deaf", "the same, children that do not", "ms", 2_500, strict=True, told="worst"),
        Aim("abort_deaf_many", "the same, ten such calls at once", "ms", told="worst"),
    ),
    "search": (
        Aim("files", "Grep on 50,000 files without its sorting, against `rg`: names", "", 1.2),
        Aim("content", "the same: lines", "", 1.2),
        Aim("count", "the same: counts", "", 1.2),
        Aim("files_whole", "Grep on 50,000 files, whole: names", "ms"),
        Aim("glob", "Glob on 50,000 files", "ms"),
    ),
    "journal": (
        Aim("append", "journalling in a turn, flush excluded", "ms", 0.3, strict=True),
        Aim("flushes", "flushes in series, a turn with one call that writes", "", 2, told="worst"),
        Aim("flushes_three", "the same, three calls that write", "", 2, told="worst"),
        Aim("flush", "one flush on this disk", "ms"),
        Aim("growth", "10,000 turns: the last against turn 10, body excluded", "", 1.5),
        Aim("last_turn", "the last of them, body excluded", "ms"),
        Aim("weight", "10,000 turns: file against the raw text", "", 3),
        Aim("resume", "10,000 turns: resume to the first request", "s", 2, strict=True),
        Aim("resume_memory", "the same, memory", "MB", 300, strict=True),
    ),
    "sandbox": (
        Aim("bubblewrap_root", "Bash: what bubblewrap adds to a command, as root", "ms", 8),
        Aim("bubblewrap_nobody", "the same, as nobody", "ms", 12),
        Aim("proxy_root", "the same with a host allowed, as root", "ms"),
        Aim("proxy_nobody", "the same, as nobody", "ms"),
        Aim("landlock_root", "what Landlock adds, as root", "ms"),
        Aim("landlock_nobody", "the same, as nobody", "ms"),
        Aim(
            "held_landlock_root", "what holding adds to a command that nobody approved, by Landlock, as root", "ms", 1.5
        ),
        Aim("held_landlock_nobody", "the same, as nobody", "ms", 1.5),
        Aim("held_bubblewrap_root", "the same by bubblewrap, as root", "ms", 8),
        Aim("held_bubblewrap_nobody", "the same, as nobody", "ms", 8),
        Aim("held_edits_root", "the same for an edit, as root", "ms", 8),
        Aim("held_edits_nobody", "the same, as nobody", "ms", 8),
    ),
    "permissions": (
        Aim("judging", "judging a command of the corpus", "ms", 0.5, strict=True),
        Aim(
            "judging_long", "judging 10,000 characters, the slowest of many shapes", "ms", 20, strict=True, told="worst"
        ),
        Aim("judging_worst", "judging anything, the slowest that is known", "ms", 100, told="worst"),
    ),
    "hooks": (
        Aim("nothing_matches", "asking 1,000 command hooks of which none is meant", "µs", 20, strict=True),
        Aim("parallel", "20 command hooks in parallel against one", "", 1.3),
        Aim("stop_phase", "the stop phase without hooks and goal", "ms", 1, strict=True),
    ),
    "terminal": (
        Aim("first_paint", "interactive: CPU until the first paint", "ms", 80),
        Aim("editing", "the same until keys edit the prompt (with prompt_toolkit)", "ms", 450),
        Aim("key", "key to screen, 100 deltas/s and a tool with 10,000 lines/s", "ms", 16, strict=True, told="p99"),
        Aim("key_echo", "the same of a program that only echoes, at the same time", "ms", told="p99"),
        Aim("answer", "an answer of 20,000 deltas against text mode to a pipe: CPU", "", 4),
        Aim("answer_cpu", "the same, CPU", "ms"),
        Aim("memory", "memory after 1,000 turns", "MB"),
        Aim("memory_growth", "the same against turn 100", "", 1.2),
        Aim("resume", "1,000 turns: resume to the last screen", "ms", 500, strict=True),
        Aim("resume_cpu", "the same, CPU", "ms"),
    ),
    "day": (
        Aim("prepare", "preparing a turn at 10,000 messages against 100, body excluded", "", 2),
        Aim("endless_usd", "1,000 turns, a window without an end: cost", "USD"),
        Aim("endless_share", "the same: read from the cache", "%"),
        Aim("simple_usd", "1,000 turns, everything summarised at 90 %: cost", "USD"),
        Aim("simple_share", "the same: read from the cache", "%"),
        Aim("simple_compactions", "the same: compactions by a model"),
        Aim("simple_again", "the same: turns that only read again what was gone"),
        Aim("ours_usd", "1,000 turns, Everturn: cost", "USD"),
        Aim("ours_share", "the same: read from the cache", "%"),
        Aim("ours_compactions", "the same: compactions by a model"),
        Aim("ours_collapses", "the same: finished stretches summarised by the small model"),
        Aim("ours_again", "the same: turns that only read again what was gone"),
        Aim("missed", "Everturn: not read from the cache", "%", 10),
        Aim("cost", "Everturn: cost against everything summarised at 90 %", "", 0.8, strict=True),
    ),
}


class Verdict(NamedTuple):
    aim: Aim
    value: float
    spread: tuple[float, float, float]
    rounds: int

    @property
    def reached(self) -> bool | None:
        """None where nothing was aimed for."""
        limit = self.aim.limit
        if limit is None:
            return None
        return self.value < limit if self.aim.strict else self.value <= limit


def judge_part(part: str, found: Found) -> Iterator[Verdict]:
    """Only what was measured, in the order of the aims."""
    for aim in AIMS[part]:
        if values := found.get(aim.key):
            spread = quartiles(values)
            told = {"median": spread[1], "p99": nearly_worst(values), "worst": max(values)}[aim.told]
            yield Verdict(aim, told, spread, len(values))


def nearly_worst(values: list[float]) -> float:
    """The 99th of a hundred."""
    return sorted(values)[int(len(values) * 0.99)]


def note(found: Found, values: Mapping[str, float]) -> None:
    for key, value in values.items():
        found.setdefault(key, []).append(value)

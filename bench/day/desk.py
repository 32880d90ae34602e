"""What is the same for everybody who works through a day: the model and its prices, the tools, the words, the clock."""

from collections.abc import Iterator, Sequence

import msgspec

from bench.day.meter import CacheMeter
from bench.day.texts import find_results, write, write_result
from bench.day.work import Call, Query, Turn
from everturn.compose.catalog import build_catalog
from everturn.core.budget import Usage, price_usage
from everturn.core.transcript import Wire
from everturn.ports.model import Request
from everturn.settings.options import Options

MODEL, SMALL = "claude-sonnet-4-5", "claude-haiku-4-5"
"""A window of 200k."""
SYSTEM = (write(9_000, 1),)
SUMMARY_LEAST, SUMMARY_SHARE, MAX_SUMMARY = 200, 0.015, 4_000
"""A summary has so many tokens, and so much of what it stands for, but no more than this."""
AGAIN = 60
"""Characters that are said when something is read again."""
FIELDS = {"Read": "file_path", "Bash": "command", "Grep": "pattern", "Edit": "file_path"}


class Tally(msgspec.Struct, kw_only=True):
    """What a day came to."""

    usd: float = 0.0
    usage: Usage = Usage()
    compactions: int = 0
    """Summaries of the whole conversation."""
    collapses: int = 0
    """Summaries by the small model."""
    again: int = 0
    """Turns that only read again what had gone out of sight."""
    requests: int = 0
    largest: int = 0
    """Tokens of the largest request."""
    course: list[tuple[int, float]] = []
    """Of each turn: the tokens of its request, and the USD that the day had cost by then."""

    @property
    def share(self) -> float:
        usage = self.usage
        return usage.cache_read / max(1, usage.input + usage.cache_read + usage.cache_write)


class Desk:
    """Plays the model for one day: says what the work asks for, and charges for it."""

    def __init__(self, day: tuple[Query, ...]) -> None:
        self.tally = Tally()
        self.now = 0.0
        self.day = day
        self._catalog = build_catalog(Options())
        self._meter = CacheMeter(self._catalog)
        self._calls = {call.id: call for query in day for turn in query.turns for call in turn.calls}
        self._sizes = {id_: call.size for id_, call in self._calls.items()}
        self._waiting: dict[str, list[Call]] = {}
        for call in self._calls.values():
            self._waiting.setdefault(call.target, []).append(call)
        self._whole: dict[bytes, frozenset[int]] = {}
        self._done = 0

    def prompts(self) -> Iterator[str]:
        """The person's words, each after a pause. Whoever takes one works until `is_open` is false."""
        for number, query in enumerate(self.day):
            self.now += query.pause_s
            self._turns, self._done = query.turns, 0
            yield write(query.prompt, 11 * number)

    def play(self, request: Request) -> tuple[str, tuple[Call, ...], Usage]:
        """The next turn: its words, its calls and what it cost; first a look at what is out of sight, if it is needed."""
        turn = self._turns[self._done]
        if turn.leans is not None and turn.leans not in self._in_sight(request.messages):
            self.tally.again += 1
            self._turns = (*self._turns[: self._done], turn._replace(leans=None), *self._turns[self._done + 1 :])
            missing = self._calls[turn.leans]
            tool = "Read" if missing.tool == "Edit" else missing.tool
            turn = Turn(AGAIN, (missing._replace(tool=tool, edited=0),), turn.seconds)
        else:
            self._done += 1
        said = write(turn.said, self.tally.requests)
        output = len(said) // 4 + sum(20 + (len(call.target) + call.edited) // 4 for call in turn.calls)
        # The cache counts from when a request is sent, not from its answer.
        usage = self.charge(request, output)
        self.tally.course.append((usage.context - output, round(self.tally.usd, 4)))
        self.now += turn.seconds
        return said, turn.calls, usage

    def summarise(self, request: Request) -> tuple[str, Usage]:
        """The answer to a call for a summary, whoever makes it."""
        before = self._meter.count(request)
        tokens = min(MAX_SUMMARY, request.max_tokens, SUMMARY_LEAST + int(SUMMARY_SHARE * before))
        if request.model == SMALL:
            self.tally.collapses += 1
        else:
            self.tally.compactions += 1
        return write(tokens * 4, self.tally.requests), self.charge(request, tokens)

    def look(self, target: str) -> tuple[str, bool]:
        """The result of a call, and whether it is an error: a test that is run again may pass by now."""
        waiting = self._waiting[target]
        call = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return write_result(call), call.fails

    def count(self, request: Request) -> int:
        return self._meter.count(request)

    def charge(self, request: Request, output: int) -> Usage:
        usage, tally = self._meter.charge(request, self.now, output), self.tally
        tally.usage += usage
        tally.usd += price_usage(usage, self._catalog.card(request.model).prices)
        tally.requests += 1
        tally.largest = max(tally.largest, usage.context - output)
        return usage

    def _in_sight(self, wires: Sequence[Wire]) -> frozenset[int]:
        found: set[int] = set()
        for wire in wires:
            for block in wire.blocks:
                known = self._whole.get(block.raw)
                if known is None:
                    known = self._whole[block.raw] = find_results(block.raw, self._sizes)
                found |= known
        return frozenset(found)


def input_of(call: Call) -> dict[str, str]:
    fields = {FIELDS[call.tool]: call.target}
    if call.edited:
        fields |= {"old_string": write(call.edited // 2, call.id), "new_string": write(call.edited // 2, call.id + 1)}
    return fields

"""SIGKILL at a system call of the real process, then the session opened again and gone on with; what must hold is checked."""

import asyncio
import json
import random
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from tests.sessions.kill.program import options

from everturn import Engine
from everturn.core.messages import Message
from everturn.core.record_codec import encode_record
from everturn.core.records import Record
from everturn.core.state import Reason
from everturn.modelserver import (
    ModelServer,
    call,
    cut,
    error,
    overloaded,
    say,
    script,
    text,
    thinking,
    too_long,
    when,
)
from everturn.sessions.places import session_file
from everturn.sessions.session_files import stream_told

PATIENCE_S = 300
ATTACHED = b"attached"
ENDED = "ended "
MATTERS = (
    *(
        "write",
        "writev",
        "pwrite64",
        "fdatasync",
        "fsync",
        "openat",
        "ftruncate",
        "flock",
        "mkdir",
        "unlink",
        "unlinkat",
    ),
    *("rename", "renameat", "renameat2", "clone", "clone3", "vfork", "execve", "sendto", "close"),
)
KINDS = tuple(str(kind.__struct_config__.tag) for kind in Record.__subclasses__())
UNSIGNED = error(400, message="messages.1.content.0: Invalid `signature` in `thinking` block")
SHOWN = {
    "user": "message",
    "assistant": "message",
    "tombstone": "retracted",
    "transition": "transition",
    "usage": "usage",
    "context": "context",
    "fallback": "model",
    "permission_denied": "denied",
    "command": "command",
    "terminal": "terminal",
}
"""The record that each event was preceded by."""


class Point(NamedTuple):
    """The nth system call of this name; only those on the session's file count if `on_file`."""

    name: str
    nth: int
    on_file: bool = True


class Verdict(NamedTuple):
    killed: bool
    """False where the process ended before it came to that call."""
    last: str
    """Kind of the last record in the file; empty where there was none."""
    cut: str
    """Kind of the record that was being written; empty where it was another call, or is not known."""
    faults: list[str]

    def hit(self, kind: str) -> bool:
        """It died with such a record on its way, or as its last."""
        return self.killed and kind in {self.last, self.cut}


class Place:
    """A home and a project of one killed session."""

    def __init__(self, root: Path, server: ModelServer) -> None:
        self.server = server
        self.home, self.folder = root / "home", root / "project"
        self.folder.mkdir(parents=True)
        self.file = session_file(self.home, "s", self.folder.resolve())
        self.effects = self.folder / "effects"

    def effect(self, name: str, after: str = "true") -> dict[str, object]:
        """A command that leaves one line each time it runs."""
        return call("Bash", {"command": f"echo {name} >> {self.effects}; {after}"}, call_id=f"toolu_{name}")

    def play(self) -> None:
        """Every kind of record, in as few turns as can be."""
        write = call("Write", {"file_path": str(self.folder / "a.txt"), "content": "x"}, call_id="toolu_w")
        todo = {"content": "Do it", "status": "pending", "activeForm": "Doing it"}
        denied = call("Bash", {"command": "true"}, call_id="toolu_d")
        note = call("TodoWrite", {"todos": [todo]}, call_id="toolu_n")
        self.server.play(
            script(
                *(
                    cut("Hel"),
                    say(thinking("I see."), note, self.effect("a", "seq 1000")),
                    UNSIGNED,
                    say(write, denied, self.effect("b")),
                    text("Done. " * 40),
                ),
                *(too_long(), overloaded(), overloaded(), overloaded(), self.effect("c"), text("End.")),
                *(too_long(), text("Again.")),
                when("In short.", last_user_contains="Write a summary"),
            )
        )

    def records(self) -> list[dict[str, object]]:
        if not self.file.exists():
            return []
        told = [told.record for told, _ in stream_told(self.file)]
        return [json.loads(encode_record(record)) for record in told if record is not None]


class Prepared:
    """A process that has loaded the program and forks a copy for each session: starting it would take longer than the session."""

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        program = str(Path(__file__).with_name("program.py"))
        self._process = await asyncio.create_subprocess_exec(sys.executable, program, stdin=pipe, stdout=pipe)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.stdin.close()
        await self._process.wait()

    async def run(self, place: Place, *traced: str) -> tuple[int, list[str]]:
        """One session, traced from its first step. Its exit code, and the lines it printed whole."""
        place.play()
        async with asyncio.timeout(PATIENCE_S):
            self._tell(json.dumps([place.server.url, str(place.folder), str(place.home)]))
            copy = (await self._read()).strip()
            tracer = await asyncio.create_subprocess_exec(
                "strace", "-f", "-p", copy, *traced, stderr=asyncio.subprocess.PIPE
            )
            said = await tracer.stderr.readline()
            if ATTACHED not in said:
                raise RuntimeError(f"strace does not trace: {said.decode()}")
            self._tell("go")
            printed = []
            while not (line := await self._read()).startswith(ENDED):
                printed.append(line.rstrip("\n"))
            await tracer.communicate()
        return int(line.removeprefix(ENDED)), printed

    def _tell(self, line: str) -> None:
        self._process.stdin.write(f"{line}\n".encode())

    async def _read(self) -> str:
        line = (await self._process.stdout.readline()).decode()
        if not line:
            raise RuntimeError("the program that forks has ended")
        return line


async def kill_at(root: Path, server: ModelServer, prepared: Prepared, point: Point) -> Verdict:
    place, log = Place(root, server), root / "calls"
    inject = f"inject={point.name}:signal=SIGKILL:when={point.nth}"
    only = ("-P", str(place.file), "-s", str(1 << 20), "-o", str(log)) if point.on_file else ("-o", "/dev/null")
    code, printed = await prepared.run(place, *only, "-e", f"trace={point.name}", "-e", inject)
    before = place.records()
    faults = [*find_lost(printed, before), *find_unintended(place, before)]
    killed = code == -signal.SIGKILL
    if not killed and code != 0:
        faults.append(f"the program ended with {code}")
    if before:
        faults += await go_on(place)
    cut = find_cut(log.read_text("utf-8", "replace")) if killed and point.on_file else ""
    return Verdict(killed, str(before[-1]["type"]) if before else "", cut, faults)


def find_cut(log: str) -> str:
    """What kind of record a write carried that never came back."""
    unended = re.search(r'write\(\d+, "(.*)", \d+\) *= \?$', log, re.MULTILINE)
    if unended is None:
        return ""
    own = re.match(r'{"type":"everturn".*"record":{"type":"(\w+)"', unended[1].replace('\\"', '"'))
    return own[1] if own else "message"


def find_lost(printed: list[str], records: list[dict[str, object]]) -> list[str]:
    """Acknowledged, and not in the file."""
    written = Counter(str(record["type"]) for record in records)
    # What goes into a file is told as a change of the context, too.
    written["context"] += written["spilled"]
    shown = Counter(SHOWN[kind] for line in printed if (kind := line.split(" ")[0]) in SHOWN)
    ids = {str(record.get("id")) for record in records}
    lost = [f"{shown[kind]} {kind} shown, {written[kind]} written" for kind in shown if shown[kind] > written[kind]]
    return lost + [
        f"lost: {line}" for line in printed if line.split(" ")[0] in SHOWN and line.split(" ")[1] not in {*ids, ""}
    ]


def find_unintended(place: Place, records: list[dict[str, object]]) -> list[str]:
    """Side effects that nothing in the file announced."""
    intended = {record["tool_use_id"] for record in records if record["type"] == "intent"}
    done = [f"toolu_{name}" for name in effects_of(place)]
    if (place.folder / "a.txt").exists():
        done.append("toolu_w")
    return [f"{id_} ran without a recorded intent" for id_ in done if id_ not in intended]


def effects_of(place: Place) -> list[str]:
    return place.effects.read_text().split() if place.effects.exists() else []


async def go_on(place: Place) -> list[str]:
    """Opens the session again and finishes it; what is wrong then."""
    place.server.play(script(text("Went on."), when("In short.", last_user_contains="Write a summary")))
    asked = len(place.server.requests)
    made = options(place.server.url, str(place.folder), str(place.home), resume="s")
    async with asyncio.timeout(PATIENCE_S), Engine(made, env={"ANTHROPIC_API_KEY": "made-up"}) as engine:
        content = place.file.read_bytes()
        events = [event async for event in engine.submit("Go on.")]
        transcript = engine.transcript
    faults = [f"refused: {request.refused}" for request in place.server.requests[asked:] if request.refused]
    if events[-1].reason is not Reason.COMPLETED:
        faults.append(f"it ended with {events[-1].reason}: {events[-1].text}")
    if not content.endswith(b"\n") or not all(map(is_whole, content.splitlines())):
        faults.append("a line is torn")
    twice = [name for name, times in Counter(effects_of(place)).items() if times > 1]
    faults += [f"{name} ran twice" for name in twice]
    return faults + find_open_calls(transcript)


def find_open_calls(transcript: tuple[Message, ...]) -> list[str]:
    uses = sorted(use.id for message in transcript for use in message.uses)
    results = sorted(result.tool_use_id for message in transcript for result in message.results)
    return [] if uses == results else [f"uses {uses}, results {results}"]


def is_whole(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


async def list_points(root: Path, server: ModelServer, prepared: Prepared) -> tuple[list[str], list[Point]]:
    """The kinds of all records of an undisturbed session, and every call that matters from its file's opening on."""
    place = Place(root, server)
    log = root / "calls"
    code, _ = await prepared.run(place, "-o", str(log), "-e", f"trace={','.join(MATTERS)}")
    if code != 0:
        raise RuntimeError(f"the program ended with {code}")
    counts: Counter[tuple[str, str]] = Counter()
    points, begun = [], False
    for line in log.read_text("utf-8", "replace").splitlines():
        found = re.match(r"(\d+) +(\w+)\(", line)
        if found is None:
            continue
        counts[found[1], found[2]] += 1
        begun = begun or str(place.file) in line
        if begun:
            points.append(Point(found[2], counts[found[1], found[2]], on_file=False))
    return [str(record["type"]) for record in place.records()], points


def draw_around(kinds: list[str], kind: str, rng: random.Random) -> Iterator[Point]:
    """Around records of this kind: while one is being written, and when one is the last."""
    places = [nth for nth, found in enumerate(kinds, start=1) if found == kind]
    assert places, f"nothing in the session that is killed leaves a {kind} record: let `Place.play` cause one"
    after = [nth + 1 for nth in places if nth < len(kinds)] or places
    for around in cycle((after, places)):
        yield Point("write", rng.choice(around))


def draw_any(points: list[Point], rng: random.Random) -> Iterator[Point]:
    """Each kind of call as likely as the next: most are reads of modules, and few are forks."""
    by_name: dict[str, list[Point]] = {}
    for point in points:
        by_name.setdefault(point.name, []).append(point)
    names = sorted(by_name)
    while True:
        yield rng.choice(by_name[rng.choice(names)])

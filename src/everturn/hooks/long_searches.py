"""Matchers whose search could take for ever run in a process of their own, because in this process no time limit could stop them."""

import asyncio
import json
import sys
from collections.abc import Sequence

from everturn.ports.hooks import Program, Programs

SEARCH_S = 0.2
"""CPU time that one search may take."""
MAX_SLOW = 10
"""After so many that took longer the others are not tried."""
MAX_S = 30.0
_MAX_OUTPUT = 1_048_576
_MAIN = f"""
import json, re, signal, sys
class Late(Exception):
    pass
def end(*_):
    raise Late
signal.signal(signal.SIGVTALRM, end)
patterns, values = json.load(sys.stdin)
said, slow = [], 0
for pattern in patterns:
    found = None
    try:
        if slow < {MAX_SLOW}:
            signal.setitimer(signal.ITIMER_VIRTUAL, {SEARCH_S})
            found = any(re.search(pattern, value) for value in values)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except Late:
        slow += 1
    said.append(found)
print(json.dumps(said))
"""


async def search(patterns: Sequence[str], values: Sequence[str], programs: Programs) -> list[bool | None]:
    """Whether each pattern is found in any of the values; None where that took too long."""
    unknown: list[bool | None] = [None] * len(patterns)
    program = Program(
        arguments=(sys.executable, "-I", "-S", "-c", _MAIN),
        environment={},
        folder="/",
        input=json.dumps([patterns, values]).encode(),
        most_bytes=_MAX_OUTPUT,
    )
    try:
        async with asyncio.timeout(MAX_S):
            finished = await programs.run(program)
        said = json.loads(finished.output)
    except (OSError, ValueError, TimeoutError):
        return unknown
    return said if isinstance(said, list) and len(said) == len(patterns) else unknown

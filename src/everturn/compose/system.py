"""The real world: time, chance, ids, and the files that git finds changed."""

import asyncio
import os
import time
from collections.abc import Mapping

from everturn.settings.setup import Setup
from everturn.workspace.git_branch import load_branch
from everturn.workspace.git_count import GitCount


class SystemClock:
    """Implements `ports.clock.Clock`."""

    def now(self) -> float:
        return time.time()

    def elapsed(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def jitter(self) -> float:
        return int.from_bytes(os.urandom(4)) / 2**32


class RandomIds:
    """Implements `ports.clock.Ids` with random UUIDs (version 4), without the start-up cost of the uuid module."""

    def new(self) -> str:
        number = bytearray(os.urandom(16))
        number[6] = number[6] & 0x0F | 0x40
        number[8] = number[8] & 0x3F | 0x80
        text = number.hex()
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def begin_count(setup: Setup, env: Mapping[str, str]) -> GitCount | None:
    """For a new session in a folder that the user has trusted; a resumed one was told."""
    options = setup.options
    resumes = options.continue_conversation or options.resume is not None
    if not setup.trusted or resumes or not options.environment or not load_branch(setup.folder):
        return None
    return GitCount(str(setup.folder), env)

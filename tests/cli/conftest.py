"""The program as a person starts it: a process of its own, real pipes, a scripted model behind real HTTP."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from everturn.modelserver import ModelServer, Received, script

KEY = "sk-ant-api03-made-up-9fK2xQ7wLp4Tz8VbN3cR6yHd-key-for-tests"
PATIENCE_S = 300.0


class Done(msgspec.Struct, frozen=True):
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [msgspec.json.decode(line) for line in self.out.splitlines()]


class Program:
    """`program.model(…)` says what is played; `await program.run("-p", "prompt")` gives what came of it."""

    key = KEY

    def __init__(self, server: ModelServer, folder: Path, home: Path) -> None:
        self.server = server
        self.folder = folder
        self.home = home
        self.env: dict[str, str] = {
            "PATH": os.environ["PATH"],
            "HOME": str(home.parent),
            "EVERTURN_HOME": str(home),
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": KEY,
            "EVERTURN_RETRY_SCALE": "0.001",
            "LANG": "C.UTF-8",
        }

    def model(self, *answers: Any, **settings: Any) -> None:
        self.server.play(script(*answers, **settings))

    @property
    def requests(self) -> list[Received]:
        return self.server.asked()

    def said(self, index: int = -1) -> str:
        """The text of the last user message of a request."""
        content = self.requests[index].body["messages"][-1]["content"]
        return "".join(block.get("text", "") for block in content)

    @asynccontextmanager
    async def started(
        self, *words: str, env: dict[str, str | None] | None = None, **pipes: Any
    ) -> AsyncGenerator[asyncio.subprocess.Process]:
        """Ended with the block, however that ends."""
        wanted = {name: value for name, value in {**self.env, **(env or {})}.items() if value is not None}
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "everturn",
            *words,
            cwd=self.folder,
            env=wanted,
            **({"stdin": asyncio.subprocess.DEVNULL, "stdout": pipe, "stderr": pipe, "limit": 1 << 22} | pipes),
        )
        try:
            async with asyncio.timeout(PATIENCE_S):
                yield process
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def run(self, *words: str, stdin: bytes | None = None, env: dict[str, str | None] | None = None) -> Done:
        pipes = {} if stdin is None else {"stdin": asyncio.subprocess.PIPE}
        async with self.started(*words, env=env, **pipes) as process:
            out, err = await process.communicate(stdin)
        assert process.returncode is not None
        assert KEY not in out.decode() + err.decode()
        assert "Traceback" not in err.decode()
        return Done(process.returncode, out.decode(), err.decode())


@pytest.fixture
async def program(tmp_path: Path) -> AsyncGenerator[Program]:
    folder = tmp_path / "project"
    folder.mkdir()
    async with ModelServer() as server:
        server.play(script("Hello."))
        yield Program(server, folder, tmp_path / "user" / ".everturn")

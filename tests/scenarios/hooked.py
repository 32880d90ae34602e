"""An engine as the program makes it, with hooks in real settings files; and scripts that say what they were told."""

import json
import os
import stat
from functools import partial
from pathlib import Path
from typing import Any

from everturn import Engine
from everturn.compose.cli import build_live, plan_launch
from everturn.ports.policy import Ruling, Verdict
from everturn.settings.program_files import SettingsArguments, list_settings_files


class Hooked:
    """`hooked.user(PreToolUse=[…])` writes settings; `hooked.engine()` reads them like the program."""

    def __init__(self, bench) -> None:
        self.bench = bench
        self.env = {**bench.env, "EVERTURN_HOME": str(bench.home), "PATH": os.environ["PATH"]}
        self.managed = bench.home.parent / "managed"

    def user(self, more: dict[str, Any] | None = None, **hooks: Any) -> Path:
        return self._write(self.bench.home / "settings.json", more, hooks)

    def project(self, more: dict[str, Any] | None = None, **hooks: Any) -> Path:
        return self._write(self.bench.folder / ".everturn/settings.json", more, hooks)

    def administrator(self, more: dict[str, Any] | None = None, **hooks: Any) -> Path:
        return self._write(self.managed / "managed-settings.json", more, hooks)

    @staticmethod
    def _write(path: Path, more: dict[str, Any] | None, hooks: dict[str, Any]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**(more or {}), "hooks": hooks}), "utf-8")
        return path

    def script(self, name: str, text: str) -> str:
        """A shell script outside the project; what it prints is its answer. `$DIR` is its folder."""
        path = self.bench.home.parent / "scripts" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\nDIR={path.parent}\n{text}\n", "utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def told(self, name: str) -> list[dict[str, Any]]:
        """What scripts have written to a file of this name, a JSON object in each line."""
        path = self.bench.home.parent / "scripts" / name
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    def noting(self, name: str, then: str = "") -> str:
        """A script that keeps its input, and then does this."""
        return self.script(f"{name}.sh", f'cat >> "$DIR/{name}"; echo >> "$DIR/{name}"\n{then}')

    def engine(self, *, trust: bool = False, **flags: Any) -> Engine:
        fields = {"cwd": str(self.bench.folder), "base_url": self.bench.server.url, **flags}
        launch = plan_launch(fields, self.env, SettingsArguments(managed=(str(self.managed),), trust=trust))
        engine = Engine(
            launch.options,
            env=launch.env,
            live=build_live(launch),
            written=launch.setup.written,
            list_settings=partial(list_settings_files, launch.roots, launch.asked),
            list_instructions=launch.memory.list_loaded,
        )
        for warning in launch.warnings:
            engine.note(warning)
        self.bench.engines.append(engine)
        return engine

    async def run(self, prompt: str = "Do it.", *, trust: bool = False, **flags: Any):
        return await self.bench.go_on(self.engine(trust=trust, **flags), prompt)


class Person:
    """Answers every question in the same way."""

    def __init__(self, ruling=Ruling.ALLOW, **more: Any):
        self.ruling = ruling
        self.more = more
        self.asked = []

    async def approve(self, call, reason):
        self.asked.append((call.name, reason))
        return Verdict(ruling=self.ruling, **self.more)


def command(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": text, **more}


def on(matcher: str | None, *hooks: dict[str, Any]) -> dict[str, Any]:
    return ({} if matcher is None else {"matcher": matcher}) | {"hooks": list(hooks)}


def notices(run) -> str:
    return "\n".join(event.text for event in run.of("notice"))

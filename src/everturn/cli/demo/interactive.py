"""`everturn demo --interactive`: the interactive terminal in a repository that is thrown away, with a scripted model."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from everturn.cli.arguments import parse_arguments
from everturn.cli.console import write
from everturn.cli.demo.repository import make_repository, python
from everturn.cli.demo.script import MODEL
from everturn.cli.demo.tour import tour_script
from everturn.cli.flags import FLAGS
from everturn.cli.interactive.main import hold_conversation
from everturn.compose.cli import plan_launch
from everturn.modelserver import ModelServer
from everturn.settings.program_files import SettingsArguments

INTRODUCTION = (
    "This is a demo: the model is a script, all else is real. It costs nothing; the prices",
    "shown are what a model would take. Say hello, and press Enter. Ctrl-D twice leaves.",
)
_OF_THE_PERSON = ("ANTHROPIC_", "CLAUDE_", "EVERTURN_")
"""Beginnings of the variables that would bring another model, a key or settings."""


def run_tour(folder: Path, *, fast: bool, keeps: bool) -> int:
    """The exit code of the program. Raises OSError where the folder cannot be written or no port is free."""
    project = folder / "renewals"
    project.mkdir()
    make_repository(project)
    os.chdir(project)
    try:
        return asyncio.run(play(folder, project, fast=fast))
    finally:
        # The folder may go now.
        os.chdir(os.path.sep)
        write(render_farewell(folder, keeps=keeps))


async def play(folder: Path, project: Path, *, fast: bool) -> int:
    async with ModelServer(tour_script(), time_scale=0.0 if fast else 1.0) as server:
        env = tour_environment(os.environ, folder / "home", server.url)
        fields = {"model": MODEL, "cwd": str(project)}
        launch = plan_launch(fields, env, SettingsArguments())
        return await hold_conversation(launch, parse_arguments([], FLAGS), introduction=INTRODUCTION)


def tour_environment(env: Mapping[str, str], home: Path, url: str) -> dict[str, str]:
    """Without the person's key and settings; with the interpreter that runs us, for the tests."""
    kept = {name: value for name, value in env.items() if not name.startswith(_OF_THE_PERSON)}
    return kept | {
        "EVERTURN_HOME": str(home),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": f"demo-{os.urandom(16).hex()}",
        "PATH": os.pathsep.join((os.path.dirname(python()), env.get("PATH", ""))),  # noqa: PTH120 (a name)
    }


def render_farewell(folder: Path, *, keeps: bool) -> str:
    kept = (
        f"Kept: {folder} (the repository in renewals, the session's journal in home)" if keeps else "Nothing is kept."
    )
    return f"\n{kept}\nWith a key of your own: export ANTHROPIC_API_KEY=…, then everturn\n"

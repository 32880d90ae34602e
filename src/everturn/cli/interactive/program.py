"""`frontends.terminal.program.TerminalProgram`: models, sessions, files and other commands of the program, for slash commands."""

import asyncio
import codecs
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from everturn import __version__
from everturn.cli.interactive.choices import status_command
from everturn.compose.catalog import build_catalog, choose_model
from everturn.compose.cli import Launch
from everturn.core.errors import OptionError
from everturn.frontends.terminal.menu import MenuItem
from everturn.frontends.terminal.program import StatusFacts
from everturn.workspace.git_branch import load_branch
from everturn.workspace.programs import clean_path, find_program

if TYPE_CHECKING:
    from everturn.engine.engine import Engine
    from everturn.frontends.terminal.live_engine import LiveEngine

MAX_SESSIONS = 200
MAX_ENTRIES = 5_000
"""Of a folder, among which folders are looked for that fit what was typed."""
MAX_OUTPUT = 1 << 20
"""Bytes of a command's output that are kept, the last ones."""
MAX_DIFF = 4 << 20
GRACE_S = 1.0
STATUS_MAX_WAIT_S = 2.0
DIFF = ("--no-pager", "-c", "core.fsmonitor=false", "diff", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD")


class CliProgram:
    def __init__(self, launch: Launch, open_engine: Callable[[str, bool, str], "Engine"]) -> None:
        """`open_engine` makes an engine on a session: its name, whether it is a copy, and the last message that is kept."""
        self._launch = launch
        self._open_engine = open_engine
        self._folder = launch.setup.folder
        self._catalog = build_catalog(launch.options)
        self._status = status_command(launch.merged)

    def list_models(self) -> list[MenuItem]:
        cards = ((name, self._catalog.card(name)) for name in self._catalog.names)
        return [
            MenuItem(
                name, name, f"{card.window // 1_000:,}k window, ${card.prices.input:g} in, ${card.prices.output:g} out"
            )
            for name, card in cards
        ]

    def choose_model(self, name: str) -> tuple[str, str]:
        return choose_model(name, self._launch.setup, self._catalog)

    def list_efforts(self, model: str) -> Sequence[str]:
        return self._catalog.card(model).efforts

    def list_sessions(self) -> list[MenuItem]:
        from everturn.cli.sessions.display import build_mask, render_age, render_title
        from everturn.cli.sessions.lookup import load_cards
        from everturn.sessions.index.name_lookup import is_of

        mask, now = build_mask(), time.time()
        cards = [card for card in load_cards(self._launch.setup.home) if is_of(card, str(self._folder))]
        return [
            MenuItem(card.id, render_title(card, mask), f"{render_age(now - card.written)} ago")
            for card in cards[:MAX_SESSIONS]
        ]

    async def open_session(self, name: str, *, fork: bool = False, until: str = "") -> "LiveEngine":
        from everturn.cli.sessions.lookup import find_session

        session = find_session(self._launch.setup.home, self._folder, name).stem
        return self._open_engine(session, fork, until)

    async def leave_session(self, engine: "LiveEngine") -> None:
        await engine.aclose()

    async def run_words(self, *words: str) -> tuple[str, int]:
        """In a process of its own: it may take long, and says what it says on its standard output."""
        env = {**self._launch.env, "NO_COLOR": "1"}
        return await run_bounded((sys.executable, "-P", "-m", "everturn", *words), str(self._folder), env)

    async def check_machine(self) -> tuple[str, bool]:
        """In a process of its own, which has no terminal: what is to be said of that is found here."""
        from everturn.cli.doctor.finding import DoctorReport
        from everturn.cli.doctor.machine import check_terminal
        from everturn.cli.doctor.main import render_finding

        said, _ = await self.run_words("doctor", "--json")
        try:
            told = msgspec.json.decode(said, type=DoctorReport)
        except msgspec.DecodeError:
            return said, False
        found = [each for each in told.checks if each.name != "terminal"]
        found.append(check_terminal(self._launch.env))
        return "".join(map(render_finding, found)), told.ok

    async def check_confinement(self) -> str:
        from everturn.cli.doctor.main import check_confinement, list_folders, render_finding

        def check() -> str:
            found = check_confinement(self._launch.options, list_folders(self._launch.setup))
            return "".join(map(render_finding, found))

        return await asyncio.to_thread(check)

    async def run_shell(self, command: str, note: Callable[[str], None]) -> tuple[str, int]:
        return await run_bounded(("bash", "-c", command), str(self._folder), dict(self._launch.env), note=note)

    async def read_diff(self) -> str:
        if not self._launch.setup.trusted:
            raise OptionError("diff", "git may run what a repository says: trust the folder first (everturn trust)")
        env = dict(self._launch.env)
        git = find_program("git", (str(self._folder),), env.get("PATH"))
        if not git:
            raise OptionError("diff", "git cannot be found")
        env |= {"PATH": clean_path(env.get("PATH", ""), (str(self._folder),)), "GIT_TERMINAL_PROMPT": "0"}
        said, code = await run_bounded((git, *DIFF), str(self._folder), env, most=MAX_DIFF)
        if code != 0:
            raise OptionError("diff", said.strip() or f"git ended with code {code}")
        return said

    def list_memory(self) -> Sequence[tuple[str, str]]:
        return self._launch.memory.list_loaded()

    def list_folders(self, typed: str) -> list[str]:
        start, _, name = typed.rpartition("/")
        start = typed[: len(typed) - len(name)]
        place = self._folder / Path(start).expanduser() if start else self._folder
        found = [typed] if typed and (self._folder / Path(typed).expanduser()).is_dir() else []
        try:
            with os.scandir(place) as entries:
                names = sorted(each.name for each in islice(entries, MAX_ENTRIES) if each.is_dir())
        except (OSError, ValueError):
            return found
        fitting = (each for each in names if each.startswith(name) and (name or not each.startswith(".")))
        return [*found, *(path for each in fitting if (path := f"{start}{each}/") != f"{typed}/")]

    def read_branch(self) -> str:
        return load_branch(self._folder)

    @property
    def folder(self) -> str:
        return self._folder.name or str(self._folder)

    @property
    def has_status(self) -> bool:
        return bool(self._status)

    def choose_status(self, command: str) -> None:
        self._status = command

    async def read_status(self, facts: StatusFacts) -> str:
        name = await asyncio.to_thread(self._find_name, facts)
        fields = describe_session(facts, window=self._catalog.card(facts.model).window, name=name)
        words = ("bash", "-c", self._status)
        try:
            async with asyncio.timeout(STATUS_MAX_WAIT_S):
                said, code = await run_bounded(
                    words, str(self._folder), dict(self._launch.env), given=msgspec.json.encode(fields)
                )
        except TimeoutError:
            return ""
        return said.strip().partition("\n")[0] if code == 0 else ""

    def _find_name(self, facts: StatusFacts) -> str:
        """As the person has called the session; empty where they have not."""
        if not facts.file or not Path(facts.file).exists():
            return ""
        from everturn.cli.sessions.lookup import load_cards

        told = (card.told for card in load_cards(self._launch.setup.home) if card.id == facts.session_id)
        return next((each.custom_title or each.given_title for each in told), "")

    def edit_text(self, text: str) -> str:
        import shlex
        import tempfile

        env = self._launch.env
        editor = env.get("VISUAL") or env.get("EDITOR") or "vi"
        descriptor, name = tempfile.mkstemp(prefix="everturn-prompt-", suffix=".md", text=True)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            subprocess.run((*shlex.split(editor), name), env=dict(env), check=True)
            with open(name, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 (a name that we made)
                return file.read().rstrip("\n")
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise OptionError("editor", f"the editor {editor!r} did not work: {error}") from None
        finally:
            with suppress(OSError):
                os.unlink(name)  # noqa: PTH108 (the same)


def describe_session(facts: StatusFacts, *, window: int, name: str) -> dict[str, object]:
    """As other agents tell it to such commands. What has no value is left out."""
    folder, *added = facts.folders
    fields: dict[str, object] = {
        "session_id": facts.session_id,
        "session_name": name,
        "transcript_path": facts.file,
        "cwd": folder,
        "workspace": {"current_dir": folder, "project_dir": folder, "added_dirs": added},
        "model": {"id": facts.model, "display_name": facts.model},
        "effort": {"level": facts.effort} if facts.effort else None,
        "vim": {"mode": facts.editing.upper()} if facts.editing else None,
        "version": __version__,
        "cost": {
            "total_cost_usd": facts.usd,
            "total_duration_ms": round(facts.open_s * 1_000),
            "total_api_duration_ms": round(facts.api_s * 1_000),
            "total_lines_added": facts.lines_added,
            "total_lines_removed": facts.lines_removed,
        },
        "context_window": {
            "total_input_tokens": facts.tokens_in,
            "total_output_tokens": facts.tokens_out,
            "context_window_size": window,
            "used_percentage": facts.percent,
            "remaining_percentage": 100 - facts.percent,
        },
    }
    return {field: value for field, value in fields.items() if value}


async def run_bounded(
    words: Sequence[str],
    folder: str,
    env: dict[str, str],
    *,
    most: int = MAX_OUTPUT,
    given: bytes = b"",
    note: Callable[[str], None] = lambda _: None,
) -> tuple[str, int]:
    """Both streams and the exit code; `note` is given each piece as it comes. When it is cancelled, the command and what it has started in its group end."""
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=folder,
            env=env,
            stdin=asyncio.subprocess.PIPE if given else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return str(error), 127
    if process.stdin is not None:
        with suppress(ConnectionError):
            process.stdin.write(given)
            process.stdin.close()
    kept = bytearray()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    assert process.stdout is not None  # noqa: S101 (asked for above)
    try:
        while piece := await process.stdout.read(65_536):
            note(decoder.decode(piece))
            kept += piece
            del kept[: max(len(kept) - most, 0)]
        code = await process.wait()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await _reap(process.wait)
    return bytes(kept).decode("utf-8", "replace"), code


async def _reap(wait: Callable[[], Awaitable[int]]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE_S):
            await wait()

"""The stage: the real program in a real pseudo-terminal, before a real terminal emulator, with a scripted model behind it.

    async with Stage(script=["Hello **there**."], columns=60) as stage:
        await stage.type("hi")
        await stage.press("enter")
        await stage.see("Hello there.")

Waiting is for what is to be seen, never for a time. What no program may do to a terminal is looked at when the block ends.
"""

import asyncio
import base64
import contextlib
import fcntl
import os
import pty
import signal
import struct
import sys
import tempfile
import termios
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec
from tests.frontends.terminal.ghostty import Ghostty
from tests.frontends.terminal.sequences import find_clears, find_unknown, parse_sequences
from tests.frontends.terminal.xterm import Judged, Step, judge

from everturn.modelserver import ModelServer, Received, script
from everturn.modelserver.scripts import Script

KEY = "sk-ant-api03-made-up-9fK2xQ7wLp4Tz8VbN3cR6yHd-key-for-tests"
PATIENCE_S = float(os.environ.get("STAGE_PATIENCE", "120"))
"""Ends only a test that hangs; shorter while a test is written."""
EVERTURN = (sys.executable, "-m", "everturn")
_FRAME_END = b"\x1b[?2026l"
_PIECE = 65_536
_UNASKED_MODES = {1: "application cursor keys", 1004: "focus reports", 2004: "bracketed paste", 2026: "a frame"}
"""Modes that a program has to switch off before it leaves."""

Condition = str | Callable[["Stage"], bool]


class Stage:
    """`words` are the program's; `program` is started instead of Everturn. Nothing outlives the block."""

    def __init__(
        self,
        *words: str,
        script: Script | Sequence[Any] = ("Hello.",),
        columns: int = 100,
        rows: int = 30,
        settings: Mapping[str, Any] | None = None,
        files: Mapping[str, str | bytes] | None = None,
        env: Mapping[str, str | None] | None = None,
        program: Sequence[str | Path] = EVERTURN,
        answers: bool = True,
        checks: bool = True,
        folder: Path | None = None,
    ) -> None:
        """`settings` are the user's, `files` stand in the project.

        `answers` off: the terminal says nothing to any query until `answer_now`. `checks` off: how it is left does not matter.
        """
        self.columns, self.rows = columns, rows
        self.steps: list[Step] = []
        """What was written and each new size, in order: what `second_judge` is shown."""
        self.server = ModelServer()
        self._words, self._program = words, program
        self._script, self._settings, self._files, self._env = script, settings or {}, files or {}, env or {}
        self._began = (columns, rows)
        self._place = tempfile.TemporaryDirectory(prefix="stage-") if folder is None else None
        root = folder or Path(self._place.name)
        self.folder, self.home = root / "project", root / "user" / ".everturn"
        self._judge = Ghostty(columns, rows, self._reply)
        self._answers, self._checks = answers, checks
        self._held_answers: list[bytes] = []
        self._raw = bytearray()
        self._outgoing = bytearray()
        self._ours = self._theirs = -1
        self._changed = asyncio.Event()
        self._closed = False
        self._left_over = b""
        self._watchers: list[Callable[[Stage], None]] = []
        self._ending: asyncio.Task[None] | None = None

    # what is seen

    @property
    def screen(self) -> list[str]:
        """The rows of the screen, without blanks at their ends."""
        return self._judge.screen

    @property
    def text(self) -> str:
        return "\n".join(self.screen)

    @property
    def scrollback(self) -> list[str]:
        """The rows that have left the screen, oldest first."""
        return self._judge.scrollback

    @property
    def everything(self) -> str:
        """Scrollback and screen, with the lines whole that the terminal has wrapped: what a person copies."""
        return self._judge.copy()

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row."""
        return self._judge.cursor

    @property
    def emulator(self) -> Ghostty:
        return self._judge

    @property
    def raw(self) -> bytes:
        """All that was written."""
        return bytes(self._raw)

    def row_of(self, text: str) -> int:
        return self._judge.find(text)[1]

    def line(self, text: str) -> str:
        """The whole row in which the text stands."""
        return self.screen[self.row_of(text)]

    def below(self, text: str) -> str:
        """The rows under the last one that holds the text; empty where none does."""
        rows = self.screen
        at = next((row for row in reversed(range(len(rows))) if text in rows[row]), len(rows))
        return "\n".join(rows[at + 1 :])

    def styles_at(self, text: str) -> dict[str, Any]:
        """How the first cell of the text looks: bold, faint, inverse, strikethrough, underline, fg, bg and more."""
        return self._judge.style(*self._judge.find(text))

    def link_at(self, text: str) -> str:
        return self._judge.link(*self._judge.find(text))

    @property
    def title(self) -> str:
        return self._judge.title

    # what was sent

    @property
    def unknown(self) -> list[str]:
        """Sequences that the emulator does not know, and those that no terminal program should send."""
        strange = [repr(one) for one in self._judge.unknown]
        return [*strange, *map(repr, find_unknown(parse_sequences(self.raw)))]

    @property
    def written(self) -> int:
        """How many bytes were written so far."""
        return len(self._raw)

    @property
    def left_over(self) -> bytes:
        """What the terminal has answered and the program, which has ended, has not read: a shell would."""
        return self._left_over

    @property
    def clears(self) -> list[str]:
        """Whatever wiped the screen or the scrollback."""
        return find_clears(parse_sequences(self.raw))

    def told(self, number: str) -> list[str]:
        """What was sent by an OSC sequence of this number, for example `9` for notifications and progress."""
        return [one.rest for one in parse_sequences(self.raw) if one.kind == "osc" and one.name == number]

    @property
    def clipboard(self) -> str:
        """What was put there last (OSC 52)."""
        return base64.b64decode(self.told("52")[-1].partition(";")[2]).decode()

    async def second_judge(self) -> Judged:
        """The same bytes, as xterm.js shows them. For tests that need Node."""
        columns, rows = self._began
        return await judge(self.steps, columns=columns, rows=rows)

    # the model

    @property
    def requests(self) -> list[Received]:
        return self.server.asked()

    def said(self, index: int = -1) -> str:
        """The text of the last user message of a request."""
        content = self.requests[index].body["messages"][-1]["content"]
        return "".join(block.get("text", "") for block in content)

    def results(self, index: int = -1) -> list[str]:
        """The tool results that a request brought."""
        content = self.requests[index].body["messages"][-1]["content"]
        return [str(block["content"]) for block in content if block["type"] == "tool_result"]

    def release(self, gate: str = "go", *, pieces: int | None = None) -> None:
        """Opens the gate at which a `hold(…)` waits; with `pieces`, lets so many deltas through."""
        self.server.release(gate, pieces=pieces)

    # waiting

    async def see(self, *conditions: Condition, patience: float = PATIENCE_S) -> None:
        """Until all of these are on the screen at once, or hold. Never looked at in the middle of a frame."""
        await self._until(lambda: all(self._holds(one) for one in conditions), f"to see {conditions}", patience)

    async def ready(self) -> None:
        """Until the prompt can be edited: its line of status is there."""
        await self.see("default")

    async def miss(self, *texts: str, patience: float = PATIENCE_S) -> None:
        """Until none of these is on the screen any more."""
        await self._until(lambda: not any(self._holds(one) for one in texts), f"{texts} to go", patience)

    async def read(self, text: str, *, patience: float = PATIENCE_S) -> None:
        """Until the text stands on the screen or in the scrollback, in lines as a person copies them."""
        await self._until(lambda: text in self.everything, f"to read {text!r}", patience)

    async def sent(self, data: bytes, *, since: int = 0, patience: float = PATIENCE_S) -> None:
        """Until these bytes have been written, after so many others."""
        await self._until(lambda: self._raw.find(data, since) >= 0, f"{data!r} to be sent", patience)

    async def leave(self) -> int:
        """Ctrl-D twice on an empty prompt; the exit code."""
        await self.press("ctrl-d", "ctrl-d")
        return await self.end()

    async def end(self) -> int:
        """Until the program has ended and all that it wrote has come; gives its exit code."""
        await self._until(lambda: self._closed, "the program to end", PATIENCE_S)
        assert self.process.returncode is not None
        return self.process.returncode

    def watch(self, watcher: Callable[["Stage"], None]) -> None:
        """Called with each screen that a person could see: after every frame, and after what came outside of frames."""
        self._watchers.append(watcher)

    # the person

    async def type(self, text: str) -> None:
        """Key by key; a newline is the Enter key."""
        for mark in text:
            self._send(self._judge.encode_key("enter") if mark == "\n" else mark.encode())

    async def press(self, *keys: str) -> None:
        """`escape`, `ctrl-c`, `shift-tab`, `alt-enter`, `up`, `x`: as the emulator encodes them in the modes that are set."""
        for key in keys:
            self._send(self._judge.encode_key(key))

    async def paste(self, text: str) -> None:
        self._send(self._judge.encode_paste(text))

    async def feed(self, data: bytes) -> None:
        """Bytes as they are, from a terminal that is not in order."""
        self._send(data)

    async def focus(self, *, has: bool) -> None:
        """The window gets or loses the focus; told only to programs that have asked to know."""
        if self._judge.mode(1004):
            self._send(b"\x1b[I" if has else b"\x1b[O")

    def resize(self, columns: int, rows: int) -> None:
        """The window changes its size; the program gets its signal. Zero is what some terminals tell for a moment."""
        self.columns, self.rows = columns, rows
        if columns and rows:
            self._judge.resize(columns, rows)
            self.steps.append((columns, rows))
        self._set_size(columns, rows)

    def answer_now(self) -> None:
        """A terminal that was silent answers all it was asked, late."""
        self._answers = True
        for answer in self._held_answers:
            self._send(answer)
        self._held_answers.clear()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    # life

    async def __aenter__(self) -> Self:
        self._prepare()
        self.server.play(self._script if isinstance(self._script, Script) else script(*self._script))
        await self.server.__aenter__()
        self._ours, self._theirs = pty.openpty()
        self._set_size(self.columns, self.rows)
        self.modes_before = termios.tcgetattr(self._ours)
        os.set_blocking(self._ours, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._ours, self._read)
        self.process = await asyncio.create_subprocess_exec(
            *self._program,
            *self._words,
            cwd=self.folder,
            env={name: value for name, value in self._environment().items() if value is not None},
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self._ending = asyncio.create_task(self._wait_for_end())
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        ended = self.process.returncode is not None
        try:
            if ended and error is None:
                await self.end()
        finally:
            await self._tear_down()
        if error is None and self._checks:
            self.check(ended=ended)

    def check(self, *, ended: bool) -> None:
        """What holds whatever a test is about."""
        assert self.unknown == [], self.unknown
        assert self.clears == [], self.clears
        assert KEY.encode() not in self.raw
        assert b"Traceback" not in self.raw, self.everything
        if ended:
            left = [name for mode, name in _UNASKED_MODES.items() if self._judge.mode(mode)]
            assert left == [], f"left on: {left}"
            assert self._judge.kitty_flags == 0
            assert self._judge.is_cursor_shown
            assert not self._judge.is_other_screen
            assert self.modes_after == self.modes_before

    def describe(self) -> str:
        """For a test that has failed: what a person would see."""
        border = "─" * self.columns
        before = "\n".join(self.scrollback[-40:])
        column, row = self.cursor
        return (
            f"{before}\n{border}\n{self.text}\n{border}\ncursor {column},{row}; {len(self.requests)} requests; "
            f"the program has {'ended: ' + str(self.process.returncode) if self._closed else 'not ended'}; "
            f"last bytes: {self.raw[-300:]!r}"
        )

    # within

    def _prepare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.home.mkdir(parents=True, exist_ok=True)
        if self._settings:
            (self.home / "settings.json").write_bytes(msgspec.json.encode(self._settings))
        for name, content in self._files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def _environment(self) -> dict[str, str | None]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home.parent),
            "EVERTURN_HOME": str(self.home),
            "ANTHROPIC_BASE_URL": self.server.url,
            "ANTHROPIC_API_KEY": KEY,
            "EVERTURN_RETRY_SCALE": "0.001",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            **self._env,
        }

    def _holds(self, condition: Condition) -> bool:
        return condition in self.text if isinstance(condition, str) else condition(self)

    async def _until(self, holds: Callable[[], bool], what: str, patience: float) -> None:
        try:
            async with asyncio.timeout(patience):
                while self._judge.in_frame or not holds():
                    assert not self._closed, f"waited for {what}, and the program has ended\n{self.describe()}"
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"waited for {what}\n{self.describe()}") from None

    async def _wait_for_end(self) -> None:
        """The terminal is looked at when the program has gone; then it is let go, so that its last words arrive and it ends."""
        await self.process.wait()
        self.modes_after = termios.tcgetattr(self._ours)
        # As a shell reads: what no line feed has ended yet, too.
        raw = [*self.modes_after[:3], self.modes_after[3] & ~termios.ICANON, *self.modes_after[4:]]
        termios.tcsetattr(self._theirs, termios.TCSANOW, raw)
        os.set_blocking(self._theirs, False)
        with contextlib.suppress(BlockingIOError):
            self._left_over = os.read(self._theirs, _PIECE)
        self._close_theirs()

    def _read(self) -> None:
        try:
            piece = os.read(self._ours, _PIECE)
        except BlockingIOError:
            return
        except OSError:
            # Linux ends a terminal that nobody holds open any more with an error.
            piece = b""
        if piece:
            self._take(piece)
        else:
            self._closed = True
            self._loop.remove_reader(self._ours)
            self._loop.remove_writer(self._ours)
        self._changed.set()

    def _take(self, piece: bytes) -> None:
        self.steps.append(piece)
        self._raw += piece
        if not self._watchers:
            self._judge.feed(piece)
            return
        *frames, rest = piece.split(_FRAME_END)
        for part in [*(frame + _FRAME_END for frame in frames), rest]:
            if part:
                self._judge.feed(part)
                if not self._judge.in_frame:
                    for watcher in self._watchers:
                        watcher(self)

    def _reply(self, answer: bytes) -> None:
        if self._answers:
            self._send(answer)
        else:
            self._held_answers.append(answer)

    def _send(self, data: bytes) -> None:
        """Never waits: a program that does not read must not hold up the test."""
        if self._closed:
            return
        self._outgoing += data
        self._write()

    def _write(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._outgoing:
                del self._outgoing[: os.write(self._ours, self._outgoing)]
        if self._outgoing:
            self._loop.add_writer(self._ours, self._write)
        else:
            self._loop.remove_writer(self._ours)

    def _set_size(self, columns: int, rows: int) -> None:
        """The kernel signals it to whoever is in the foreground."""
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _close_theirs(self) -> None:
        if self._theirs >= 0:
            os.close(self._theirs)
            self._theirs = -1

    async def _tear_down(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        if self._ending is not None:
            await self._ending
        if not self._closed:
            self._loop.remove_reader(self._ours)
            self._loop.remove_writer(self._ours)
        self._closed = True
        os.close(self._ours)
        await self.server.__aexit__(None, None, None)
        if self._place is not None:
            self._place.cleanup()

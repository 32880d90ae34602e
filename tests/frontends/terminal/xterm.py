"""The second judge: xterm.js, the emulator of VS Code, in a Node of its own. It is shown afterwards what a stage has recorded."""

import asyncio
import base64
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.shelf import find_node_modules, run

HEADLESS, UNICODE = "6.0.0", "0.9.0"
JUDGE = """
const { Terminal } = require("@xterm/headless");
const { Unicode11Addon } = require("@xterm/addon-unicode11");
const fs = require("fs");
const told = JSON.parse(fs.readFileSync(process.argv[1], "utf8"));
const unknown = [];
const note = (...words) => { if (/unknown/i.test(words[0]) && !/OSC/.test(words[0])) unknown.push(JSON.stringify(words)); };
const logger = { trace() {}, debug: note, info: note, warn: note, error: note };
const terminal = new Terminal({
  cols: told.columns, rows: told.rows, scrollback: 100000, allowProposedApi: true, logLevel: "debug", logger,
});
terminal.loadAddon(new Unicode11Addon());
terminal.unicode.activeVersion = "11";
const write = (data) => new Promise((done) => terminal.write(data, done));
(async () => {
  for (const step of told.steps) {
    if (typeof step === "string") await write(Buffer.from(step, "base64"));
    else terminal.resize(step[0], step[1]);
  }
  const buffer = terminal.buffer.active;
  const lines = [];
  for (let row = 0; row < buffer.length; row++) lines.push(buffer.getLine(row).translateToString(true));
  console.log(JSON.stringify({
    scrollback: lines.slice(0, buffer.baseY), screen: lines.slice(buffer.baseY),
    cursor: [buffer.cursorX, buffer.cursorY], unknown,
  }));
})();
"""

Step = bytes | tuple[int, int]
"""What was written, or a new size."""


class Judged(NamedTuple):
    screen: list[str]
    scrollback: list[str]
    cursor: tuple[int, int]
    unknown: list[str]
    """What xterm.js has no code for, in its words; not of OSC, of which it knows few."""


async def judge(steps: Sequence[Step], *, columns: int, rows: int) -> Judged:
    """What stands there in the end."""
    return await asyncio.to_thread(_judge, steps, columns, rows)


def _judge(steps: Sequence[Step], columns: int, rows: int) -> Judged:
    folder = find_node_modules(f"xterm-{HEADLESS}", f"@xterm/headless@{HEADLESS}", f"@xterm/addon-unicode11@{UNICODE}")
    written = [base64.b64encode(step).decode() if isinstance(step, bytes) else step for step in steps]
    told = json.dumps({"columns": columns, "rows": rows, "steps": written})
    with tempfile.TemporaryDirectory() as place:
        recording = Path(place) / "recording.json"
        recording.write_text(told, "utf-8")
        found = json.loads(run("node", "-e", JUDGE, "--", recording, cwd=folder))
    return Judged(
        [line.rstrip() for line in found["screen"]],
        [line.rstrip() for line in found["scrollback"]],
        tuple(found["cursor"]),
        found["unknown"],
    )

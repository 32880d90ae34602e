"""Runs command lines in real bash, where every program is a stub that writes down how it was called."""

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

NAMES = [
    "good",
    "fine",
    "exact",
    "other",
    "left",
    "leftish",
    "bad",
    "evil",
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "grep",
    "find",
    "sort",
    "git",
    "sed",
    "tee",
    "curl",
    "rm",
    "npm",
    "sudo",
    "sh",
    "bash",
    "setsid",
    "python3",
    "awk",
    "which",
    "tac",
    "seq",
    "uniq",
    "base64",
    "tree",
    "x",
    "a",
    "f",
    "i",
    "go",
    "ba",
    "goo",
    "fin",
    "ok",
]
REAL = ("timeout", "nice", "nohup", "stdbuf", "xargs", "env")
"""They run what they are given, and find it among the stubs."""
_STUB = """#!/bin/sh
printf '%s\\0' "$STUB_INDEX" "${0##*/}" "$@" '\x1e' >>"$STUB_LOG"
"""
_DRIVER = r"""
index=0
FUNCNEST=5
while IFS= read -r -d '' __command <&9; do
  index=$((index + 1))
  ( exec 9<&-; ulimit -t 2; export STUB_INDEX=$index; cd "work/$index" || exit; unset index
    set --; eval "$__command"
    for __fd in /proc/"$BASHPID"/fd/*; do [ "${__fd##*/}" -le 2 ] || eval "exec ${__fd##*/}>&-"; done; wait ) </dev/null >/dev/null 2>&1
done
"""
"""FUNCNEST: a function that calls itself in a pipeline would never end, and no limit of time per process ends it.
Coprocesses wait for their input to end: whatever is still open is closed before they are waited for."""
_BATCH_S = 300


def run_batch(root: Path, commands: list[str]) -> tuple[dict[int, list[tuple[str, ...]]], dict[int, list[str]]]:
    """What each command called, and what it left in its folder or anywhere else below `root`."""
    shutil.rmtree(root, ignore_errors=True)
    (root / "bin").mkdir(parents=True)
    (root / "home").mkdir()
    log = root / "log"
    log.touch()
    for name in NAMES:
        stub = root / "bin" / name
        stub.write_text(_STUB)
        stub.chmod(0o755)
    for name in REAL:
        (root / "bin" / name).symlink_to(shutil.which(name))
    for index, _ in enumerate(commands, 1):
        folder = root / "work" / str(index)
        folder.mkdir(parents=True)
        (folder / "a").write_text("bad\n")
        (folder / "secret").write_text("bad\n")
    (root / "commands").write_bytes(b"".join(command.encode() + b"\0" for command in commands))
    _run_driver(root, log)
    return _parse_log(log.read_bytes()), _find_left(root, len(commands))


def _run_driver(root: Path, log: Path) -> None:
    driver = subprocess.Popen(
        [
            shutil.which("bash"),
            "--norc",
            "--noprofile",
            "-c",
            f"ulimit -f 2000; ulimit -c 0; exec 9<commands\n{_DRIVER}",
        ],
        cwd=root,
        env={"PATH": str(root / "bin"), "HOME": str(root / "home"), "STUB_LOG": str(log), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    heard, line = os.pipe()
    # Where we are killed nobody comes to the end of this function: the line breaks then, and the watcher does it.
    watcher = subprocess.Popen(
        ["/bin/sh", "-c", 'read -r _; kill -s KILL -- "-$1"', "watcher", str(driver.pid)],
        stdin=heard,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(heard)
    try:
        driver.wait(_BATCH_S)
    finally:
        watcher.kill()
        watcher.wait()
        os.close(line)
        # Loops that never end, and whatever they started.
        with suppress(ProcessLookupError):
            os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()


def _parse_log(data: bytes) -> dict[int, list[tuple[str, ...]]]:
    calls: dict[int, list[tuple[str, ...]]] = {}
    for record in data.split(b"\x1e\0"):
        fields = record.decode("utf-8", "surrogateescape").split("\0")[:-1]
        if fields:
            calls.setdefault(int(fields[0] or 0), []).append(tuple(fields[1:]))
    return calls


def _find_left(root: Path, count: int) -> dict[int, list[str]]:
    left: dict[int, list[str]] = {}
    for index in range(1, count + 1):
        folder = root / "work" / str(index)
        names = sorted(_names(folder) - {"a", "secret"})
        changed = [name for name in ("a", "secret") if (folder / name).read_text() != "bad\n"]
        if names or changed:
            left[index] = names + changed
    elsewhere = [
        *_names(root / "home"),
        *(_names(root) - {"bin", "home", "log", "commands", "work"}),
        *(_names(root / "work") - {str(index) for index in range(1, count + 1)}),
    ]
    if elsewhere:
        left[0] = elsewhere
    return left


def _names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}

"""A terminal for tests: understands what the demo says to one, and shows what is on it in the end."""

import os
import pty
import re
import struct
import subprocess
import termios
from fcntl import ioctl

_TOKENS = re.compile(
    r"\x1b\[(?P<up>\d+)A|(?P<clear>\x1b\[J)|(?P<blank>\r\x1b\[2K)|\x1b\[[\d;]*m|(?P<text>[^\x1b\r\n]+)|(?P<end>\n)|\r|(?P<bad>.)"
)


def screen_of(stream):
    """The lines that are left. Raises on a sequence that the demo has no business to send."""
    rows, row = [""], 0
    for token in _TOKENS.finditer(stream):
        if token["bad"]:
            raise ValueError(f"an unknown sequence: {stream[token.start() : token.start() + 10]!r}")
        if token["up"]:
            row -= int(token["up"])
            assert row >= 0, "painted over what was there before"
        elif token["clear"]:
            rows[row:] = [""]
        elif token["blank"]:
            rows[row] = ""
        elif token["text"]:
            rows[row] += token["text"]
        elif token["end"]:
            row += 1
            rows += [""] * (row == len(rows))
    return rows


def run_in_terminal(command, *, env, columns=101, rows=40, timeout=120):
    """Exit code and everything that was sent to the terminal."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True)
    os.close(theirs)
    sent = b""
    try:
        while piece := _read(ours):
            sent += piece
        code = process.wait(timeout)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return code, sent.decode().replace("\r\n", "\n")


def _read(descriptor):
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        # Linux says so when the last process has closed the terminal.
        return b""

"""SIGKILL at random moments: every record that was confirmed is there afterwards, and no line is torn."""

import json
import random
import signal
import subprocess
import sys

from everturn.sessions.journal import FileJournal

KILLS = 30
WRITER = """
import sys
from pathlib import Path
from everturn.core.messages import Kind, Message, text_block
from everturn.core.record_codec import record_message
from everturn.sessions.journal import FileJournal

journal = FileJournal(Path(sys.argv[1]) / "s.jsonl", "s")
number = len(journal.replay().messages)
while True:
    text = "x" * (number * 7919 % 9_000)
    journal.append(record_message(Message(id=str(number), role="user", kind=Kind.PROMPT, blocks=(text_block(text),))))
    print(number, flush=True)
    number += 1
"""


def run_and_kill(home, confirmations):
    """Starts a writer and kills it once it has confirmed so many records; returns the last number it confirmed."""
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(home)], stdout=subprocess.PIPE, text=True)
    try:
        seen = "".join(writer.stdout.readline() for _ in range(confirmations))
    finally:
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate(timeout=120)
    # What stood in the pipe was confirmed before the kill; only its last line may itself be cut.
    return int((seen + rest).split("\n")[-2])


def test_every_confirmed_record_survives_a_kill(tmp_path):
    rng = random.Random(7)  # noqa: S311 (repeatable, not secret)
    for _ in range(KILLS):
        confirmed = run_and_kill(tmp_path, rng.randrange(1, 40))
        journal = FileJournal(tmp_path / "s.jsonl", "s")
        found = [int(message.id) for message in journal.replay().messages]
        content = journal.path.read_bytes()
        journal.close()
        assert found == list(range(len(found)))
        assert confirmed < len(found)
        assert content.endswith(b"\n")
        assert len([json.loads(line) for line in content.splitlines()]) == len(found)

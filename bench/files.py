"""The file tools on large files: the first page of 1 GB, and one edit in 10 MB."""

import os
import tempfile
import time
from pathlib import Path

from bench.aims import Found, Scale, note
from bench.alone import Figures, forget_peak, peak_mb, run_alone
from bench.figures import KILO

GIGABYTE, TEN_MEGABYTES = 1_000_000_000, 10_000_000
BLOCK = 10_000
"""Lines."""
LINE = b"%09d the quick brown fox jumps over the lazy dog, and the dog does not mind at all\n"
LAST = "the last line is like no other"


def measure(scale: Scale) -> Found:
    found: Found = {}
    with tempfile.TemporaryDirectory(prefix="everturn-bench-") as folder:
        make_text(Path(folder, "large.log"), scale.of(GIGABYTE))
        Path(folder, "small.txt").write_text("one\n")
        for _ in range(scale.rounds):
            make_text(Path(folder, "medium.txt"), scale.of(TEN_MEGABYTES))
            # What we wrote ourselves must not be on its way to the disk while the tool waits for its own.
            os.sync()
            note(found, run_alone(run_once, folder))
    return found


def make_text(path: Path, size: int) -> None:
    block = b"".join(LINE % number for number in range(BLOCK))
    with path.open("wb") as file:
        for _ in range(size // len(block) + 1):
            file.write(block)
        file.write(f"{LAST}\n".encode())


async def run_once(folder: str) -> Figures:
    from bench.desk import Desk
    from everturn.core.errors import ToolFault
    from everturn.tools.edit.tool import edit_tool
    from everturn.tools.read import read_tool

    desk, read, edit = Desk(folder), read_tool(), edit_tool()
    # The first call of a process pays for its thread and its imports.
    await desk.run(read, file_path="small.txt")
    before = forget_peak()
    page = await desk.time(read, file_path="large.log")
    memory = peak_mb() - before
    await desk.run(read, file_path="medium.txt")
    edited = await desk.time(edit, file_path="medium.txt", old_string=LAST, new_string="the end")
    began = time.perf_counter()
    try:
        await desk.run(edit, file_path="medium.txt", old_string="a slow red fox crawls\nunder", new_string="x")
    except ToolFault:
        refused = time.perf_counter() - began
    else:
        raise AssertionError("an edit of text that is not there was not refused")
    return {
        "first_page": page * KILO,
        "first_page_memory": memory,
        "edit": edited * KILO,
        "edit_refused": refused * KILO,
    }

"""Whatever is cut, and by whichever part: what is told as left out and what is shown make the whole."""

import os
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.context.fact_tracker import MAX_ERROR_LENGTH, _both_ends
from everturn.context.results import render_preview
from everturn.context.retention import shorten_part
from everturn.engine.wording import TASK_OUTPUT, finished_task
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.tasks import TaskReport, TaskStatus
from everturn.ports.tool import ToolContext
from everturn.tools.bash.output import Output
from everturn.tools.glob import glob_tool
from everturn.tools.grep.tool import grep_tool
from everturn.tools.read.notebook import _cut
from everturn.tools.read.tool import read_tool

NOTE = re.compile(r"\n*\[… ([\d,]+) (?:of ([\d,]+) )?(characters|bytes) [^\]]*…\]\n*")
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="[]\r", exclude_categories=("C",)), max_size=60)


def number(text):
    return int(text.replace(",", ""))


def assert_whole(text, whole):
    [note] = NOTE.finditer(text)
    left = number(note[1])
    shown = text[: note.start()] + text[note.end() :]
    assert left + len(shown) == len(whole)
    if note[2]:
        assert number(note[2]) == len(whole)
    first, last = text[: note.start()], text[note.end() :]
    assert whole.startswith(first)
    assert whole.endswith(last)


@given(st.integers(9_000, 60_000), st.integers(60, 5_000))
@settings(max_examples=30)
def test_of_texts_that_are_shortened(length, most):
    whole = "".join(chr(0x61 + at % 26) for at in range(length))

    assert_whole(render_preview(whole, most, path="/p"), whole)
    assert_whole(shorten_part(whole, most, None), whole)
    assert_whole(_both_ends(whole), whole) if length > MAX_ERROR_LENGTH else None
    assert_whole(_cut(whole), whole) if length > 10_000 else None


def report_of(output, size=0):
    return TaskReport(
        id="b", kind="local_bash", tool_use_id="t", status=TaskStatus.COMPLETED, description="d", summary="s", output=output, size=size
    )  # fmt: skip


def test_of_a_finished_task():
    whole = "x" * 10_000
    told = finished_task(report_of(whole))
    assert f"[… {10_000 - TASK_OUTPUT:,} of 10,000 characters are left out here …]\n{'x' * TASK_OUTPUT}\n<" in told

    part = finished_task(report_of(whole, size=5_000_000))
    assert f"[… all but the last {TASK_OUTPUT:,} characters of 5,000,000 bytes are left out here …]\n" in part


class Pieces:
    def __init__(self, folder):
        self.folder, self.count = folder, 0

    def open(self):
        self.count += 1
        path = f"{self.folder}/{self.count}"
        return path, os.open(path, os.O_CREAT | os.O_WRONLY)


@given(st.lists(WORDS, min_size=1, max_size=8), st.integers(1, 400_000), st.integers(1, 5_000))
@settings(max_examples=60)
def test_of_the_output_of_commands(tmp_path_factory, lines, least, piece):
    unit = ("\n".join(lines) + "\n").encode()
    data = (unit * (least // len(unit) + 1))[: least + 3]
    data = data.decode(errors="ignore").encode()
    output = Output(Pieces(tmp_path_factory.mktemp("out")).open)
    for at in range(0, len(data), piece * 50):
        output.feed(data[at : at + piece * 50])
    output.finish()

    text, is_whole = output.render(2_000)

    whole = data.decode()
    if is_whole:
        assert text == whole
        return
    [note] = re.finditer(r"\n\n\[… ([\d,]+) of ([\d,]+) (characters|bytes) left out …\]\n\n", text)
    first, last = text[: note.start()], text[note.end() :]
    assert whole.startswith(first)
    assert whole.endswith(last)
    measure = len if note[3] == "characters" else lambda shown: len(shown.encode())
    assert number(note[2]) == measure(whole)
    assert number(note[1]) + measure(first) + measure(last) == measure(whole)


@pytest.mark.parametrize("count", [5_000, 50_000])
def test_of_coloured_output_the_bytes_of_its_lines_are_counted(tmp_path, count):
    line = b"\x1b[31m%07d\x1b[0m\n"
    output = Output(Pieces(tmp_path).open)
    for at in range(count):
        output.feed(line % at)

    text, _ = output.render(1_600)

    [note] = re.finditer(r"\n\n\[… ([\d,]+) of ([\d,]+) (characters|bytes) left out …\]\n\n", text)
    shown = text[: note.start()] + "\n" + text[note.end() :]
    raw = len(line % 0)
    if note[3] == "characters":
        assert number(note[1]) + len(shown) - 1 == number(note[2]) == 8 * count
    else:
        # Whole lines, and of the one at the cut the bytes that fit.
        whole = len(re.findall(r"^\d{7}$", shown, re.MULTILINE))
        assert number(note[2]) == raw * count
        assert raw * (count - whole) - 2 * raw <= number(note[1]) <= raw * (count - whole)


@pytest.fixture
def context(tmp_path):
    return ToolContext(
        folder=str(tmp_path.resolve()),
        tool_use_id="t",
        abort=AbortSignal(),
        files=FileStates(),
        progress=lambda _: None,
    )


@pytest.mark.parametrize("limit", [1, 7, 59, 60])
async def test_pages_of_read_make_the_whole_file(context, tmp_path, limit):
    (tmp_path / "a").write_text("".join(f"{at}\n" for at in range(60)))
    read, seen, offset = read_tool(), [], 1
    while True:
        told = (await read.run(read.parse({"file_path": "a", "offset": offset, "limit": limit}), context)).content
        seen += re.findall(r"^ *\d+\t(\d+)$", told, re.MULTILINE)
        note = re.search(r"\(Lines (\d+) to (\d+) of (\d+)\. Go on with offset=(\d+)\.\)", told)
        if note is None:
            break
        assert (int(note[1]), int(note[2]), int(note[3])) == (offset, len(seen), 60)
        offset = int(note[4])

    assert seen == [str(at) for at in range(60)]


@pytest.mark.parametrize(
    "fields", [{"output_mode": "content"}, {"output_mode": "content", "-C": 1}, {"output_mode": "count"}, {}]
)
@pytest.mark.parametrize("limit", [1, 7, 20])
async def test_pages_of_grep_make_the_whole_answer(context, tmp_path, fields, limit):
    for at in range(23):
        (tmp_path / f"{at:02}.txt").write_text("x\na\nb\nneedle\nc\nd\nneedle\n")
    grep = grep_tool()

    async def ask(**more):
        return (await grep.run(grep.parse({"pattern": "needle", **fields, **more}), context)).content.split("\n")

    def rows(lines):
        return [line for line in lines if not line.startswith("(")]

    whole = rows(await ask(head_limit=0))
    seen, note = [], None
    while note is None or note[3] != note[2]:
        page = await ask(head_limit=limit, offset=len(seen))
        found = [
            re.match(r"\((\d+) to (\d+) of (\d+)\.", line) for line in page if line.startswith("(") and " to " in line
        ]
        before = len(seen)
        seen += rows(page)
        if not found:
            break
        [note] = found
        assert (int(note[1]), int(note[2]), int(note[3])) == (before + 1, len(seen), len(whole))

    assert seen == whole


async def test_glob_counts_what_it_does_not_show(context, tmp_path):
    for at in range(137):
        (tmp_path / f"{at}.txt").touch()
    glob = glob_tool()

    *shown, note = (await glob.run(glob.parse({"pattern": "*.txt"}), context)).content.split("\n")

    assert note == f"(The newest {len(shown)} of 137 files. Use a narrower pattern to see others.)"

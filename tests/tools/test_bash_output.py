"""What a command printed: shown as it comes, bounded in memory, kept in a file, and readable."""

import base64
import io
import os
import resource
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from everturn.ports.outputs import Outputs
from everturn.ports.tasks import Tasks
from everturn.tools.bash import bash_tool
from everturn.tools.bash.output import MAX_IN_FILE, LiveOutput, Output, OutputFiles, is_binary, strip_escapes
from everturn.tools.bash.result import wanted_input

WAITED = (
    "The command seems to have waited for input. There is no terminal and nobody types here: "
    "give the answer by an option (such as --yes), a variable, or a pipe."
)


@pytest.fixture
def output(tmp_path):
    path = tmp_path / "out.log"

    def open_file():
        return str(path), os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)

    made = Output(open_file)
    yield made
    made.close()


def read(path):
    return Path(path).read_bytes()


def modes_of(path):
    """Of the file, and of the folder around it."""
    return stat.S_IMODE(Path(path).stat().st_mode), stat.S_IMODE(Path(path).parent.stat().st_mode)


def is_gone(path):
    """With its folder."""
    return not Path(path).parent.exists()


def refuse():
    raise OSError(28, "No space left on device")


@settings(max_examples=100, deadline=None)
@given(pieces=st.lists(st.binary(max_size=50_000), max_size=12), most=st.integers(100, 30_000))
def test_an_output_is_bounded_and_counts_everything(pieces, most):
    output = Output(refuse)
    for piece in pieces:
        output.feed(piece)

    text, is_whole = output.render(most)

    assert output.length == len(b"".join(pieces))
    assert len(text) <= most + 120
    if is_whole:
        assert text == strip_escapes(b"".join(pieces).decode(errors="replace"))


@settings(max_examples=50, deadline=None)
@given(text=st.text("aé漢😀", min_size=1, max_size=20), size=st.integers(500, 9_000))
def test_no_character_is_cut_in_two(text, size):
    data = text.encode() * 20_000
    output = Output(refuse)
    for at in range(0, len(data), size):
        output.feed(data[at : at + size])

    assert "\ufffd" not in output.render(30_000)[0]


def test_a_file_has_all_of_it_from_the_first_byte(output):
    pieces = [bytes([65 + number % 26]) * 7_001 for number in range(40)]

    for piece in pieces:
        output.feed(piece)

    assert Path(output.path).read_bytes() == b"".join(pieces)
    assert output.saved == output.length


def test_a_file_that_is_wanted_early_has_all_of_it(output):
    output.feed(b"one\n")
    output.save()
    output.feed(b"two\n" * 50_000)

    assert Path(output.path).read_bytes() == b"one\n" + b"two\n" * 50_000


def test_short_output_needs_no_file(output):
    output.feed(b"x" * 60_000)

    assert output.path is None


def test_a_file_has_a_limit(output):
    piece = b"x" * (MAX_IN_FILE // 8 - 1)
    for _ in range(9):
        output.feed(piece)

    assert (output.saved, Path(output.path).stat().st_size) == (MAX_IN_FILE, MAX_IN_FILE)
    assert output.length == 9 * len(piece)


def test_a_file_that_cannot_be_made_is_no_failure():
    output = Output(refuse)
    output.feed(b"x" * 200_000)

    assert (output.path, output.trouble) == (None, "No space left on device")
    assert output.render(1_000)[0].startswith("xxx")


def test_a_disk_that_fills_up_is_told(output):
    device = os.open("/dev/full", os.O_WRONLY)
    full = Output(lambda: ("/dev/full", device))
    full.feed(b"x" * 200_000)

    assert (full.saved, full.trouble) == (0, "No space left on device")


@pytest.mark.parametrize(
    ("came", "shown"),
    [
        ("10%\r20%\r100%\ndone", "100%\ndone"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\0b\0", "a\nb\n"),
        ("\x1b[1;31mred\x1b[0m \x1b]0;title\x07bell\x07", "red bell"),
        ("x" * 100_000 + "\ry", "y"),
    ],
)
def test_output_reads_as_a_terminal_would_leave_it(came, shown):
    assert strip_escapes(came) == shown


@given(st.lists(st.sampled_from(["\x1b", "[", "31m", "]0;t", "\x07", "\\", "P", "x", "\n", "\x9b", "\x00", "é", "\r"])))
def test_no_escape_survives(parts):
    clean = strip_escapes("".join(parts))

    assert not set(clean) & {"\x1b", "\x07", "\x00", "\r"}


@pytest.mark.parametrize(
    ("data", "binary"),
    [(b"", False), (b"text\n", False), (b"a\0b\0c/d\0e.txt\0", True), (b"some/name.py\0other/name.py\0", False),
     ("é漢".encode(), False), (bytes(range(256)), True), (b"\x7fELF\2\1\1\0\0\0\0\0", True), (b"caf\xe9 au lait", False),
     (b"\x1b[31m\x1b[0m", False)],
)  # fmt: skip
def test_what_is_no_text_is_recognised(data, binary):
    assert is_binary(data) is binary


async def test_binary_output_is_described_and_kept(desk):
    tool = bash_tool()

    result = await desk.use(tool, command="head -c 100000 /dev/zero; printf end")

    path = result.shown.persisted_output_path
    described = "[binary output: 100,003 bytes, the first are 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00]"
    assert result.content == f"{described}\nThe whole output is in {path}"
    assert read(path) == bytes(100_000) + b"end"


async def test_what_is_no_text_becomes_text_without_escapes(desk):
    result = await desk.use(
        bash_tool(), command=r"printf '\033[31mred\033[0m \033]0;title\007bell\a \xff and more\r\n'"
    )

    assert result.content == "red bell \ufffd and more"


async def test_a_flood_is_kept_at_both_ends_and_counted(desk, shown):
    result = await desk.use(bash_tool(), command="echo begin; yes | head -c 80000000; echo end")

    head, notice, tail = result.content.partition("[… 79,970,010 of 80,000,010 bytes left out …]")
    path = shown(result)["persistedOutputPath"]
    assert notice
    assert head.startswith("begin\ny\n")
    assert tail.endswith(f"y\nend\nThe first 64 MiB of the output are in {path}")
    assert shown(result)["persistedOutputSize"] == MAX_IN_FILE == len(read(path))
    assert len(result.content) <= bash_tool().result_limit
    assert sum(map(len, desk.pieces)) < 2_000_000


async def test_a_long_output_is_in_a_file_for_its_user_alone_until_the_session_ends(desk, shown):
    result = await desk.use(bash_tool(), command="seq 20000")

    path = shown(result)["persistedOutputPath"]
    assert result.content.endswith(f"20000\nThe whole output is in {path}")
    assert read(path) == "".join(f"{number}\n" for number in range(1, 20_001)).encode()
    assert shown(result)["persistedOutputSize"] == len(read(path))
    assert modes_of(path) == (0o600, 0o700)
    await desk.context.tasks.aclose()
    assert is_gone(path)


async def test_a_flood_costs_little_memory(desk):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    result = await desk.use(bash_tool(), command="head -c 300000000 /dev/zero | tr '\\0' 'x'")

    assert result.content.startswith("xxx")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000


async def test_of_a_flood_people_see_samples(desk):
    shown = []
    progress = LiveOutput(shown.append)
    for _ in range(1_000):
        progress.feed(b"x" * 65_536)

    assert len("".join(shown)) < 400_000


@pytest.mark.parametrize(
    "command",
    ["python3 -c 'input()'", "read x </dev/tty", "printf 'Go on? [y/N] '; read answer || exit 1",
     "printf 'Password: ' >&2; exit 1"],
)  # fmt: skip
async def test_a_command_that_waited_for_somebody_is_recognised(desk, command):
    result = await desk.use(bash_tool(), command=command)

    assert result.is_error
    assert result.shown.stderr == WAITED


@pytest.mark.parametrize("output", ["", "error: no such file", "password: ok\nand then it failed in another way\n"])
def test_other_failures_are_none_of_input(output):
    assert not wanted_input(output)


async def test_nothing_is_kept_where_nothing_ran():
    tasks = Tasks()

    await tasks.aclose()

    assert tasks.take_finished() == []


@pytest.mark.parametrize("side", [4, 300], ids=["small", "larger than what is kept in memory"])
async def test_a_printed_picture_is_shown_as_one(desk, shown, side):
    out = io.BytesIO()
    Image.effect_noise((side, side), 90).convert("RGB").save(out, "PNG")
    desk.write("a.png", out.getvalue())

    result = await desk.use(bash_tool(), command="printf 'data:image/png;base64,'; base64 a.png")

    picture, *_ = result.content
    sent = Image.open(io.BytesIO(base64.b64decode(picture["source"]["data"])))
    assert (picture["type"], sent.size) == ("image", (side, side))
    public = shown(result)
    assert (public["isImage"], public["exitCode"]) == (True, 0)
    assert public["stdout"] == f"data:{picture['source']['media_type']};base64,{picture['source']['data']}"


@pytest.mark.parametrize(
    "command",
    [
        "echo 'data:image/png;base64,AAAA'",
        "echo 'data:image/png;base64,A*A'",
        "echo 'data:image/png;base64,AAAA and more'",
        "echo data:image/",
        "echo 'data:image/png;base64,AAAA'; exit 3",
    ],
)
async def test_what_only_begins_like_a_picture_is_text(desk, shown, command):
    result = await desk.use(bash_tool(), command=command)

    assert "data:image/" in result.content
    assert shown(result)["isImage"] is False


def test_output_files_are_made_and_removed_in_their_own_folder_whatever_its_name_leads_to(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    outputs = Outputs()
    outputs.temporary = str(tmp_path)
    files = OutputFiles(outputs)
    first, descriptor = files.open()
    os.close(descriptor)
    folder = Path(first).parent
    folder.rename(tmp_path / "moved")
    folder.symlink_to(theirs)

    _, descriptor = files.open()
    os.close(descriptor)
    assert list(theirs.iterdir()) == []
    assert len(list((tmp_path / "moved").iterdir())) == 2
    files.close()

    assert list(theirs.iterdir()) == list((tmp_path / "moved").iterdir()) == []

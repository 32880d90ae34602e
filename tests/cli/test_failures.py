"""The last resort, and outputs that nobody reads: never a traceback."""

import asyncio
import os
import shlex
import sys

import pytest

from everturn.cli.errors import report_crash
from everturn.cli.main import main


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("EVERTURN_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "made-up-key-in-a-variable")
    return tmp_path / "home"


def fail() -> Exception:
    """An error that was raised, with where that was."""
    with pytest.raises(KeyError) as caught:
        {}["made-up-key-in-a-variable and sk-ant-made-up were in the way"]
    return caught.value


def test_what_nobody_foresaw_is_a_line_and_a_log_without_secrets(home):
    line = report_crash(fail())
    (log,) = (home / "debug").iterdir()
    assert line == f"this is a fault of Everturn: KeyError; the log is {log}"
    told = log.read_text("utf-8")
    assert "Traceback" in told
    assert "were in the way" in told
    assert "made-up" not in told


def test_where_no_log_can_be_written_the_line_remains(home):
    home.write_text("in the way", "utf-8")
    assert report_crash(fail()) == "this is a fault of Everturn: KeyError; no log could be written"


@pytest.mark.parametrize("unbuffered", [None, "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("words", [["--version"], ["--help"], ["completion", "bash"], ["config", "list"]])
async def test_a_reader_that_is_gone_is_no_reason_to_complain(program, words, unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    async with program.started(*words, stdout=writer, env={"PYTHONUNBUFFERED": unbuffered}) as process:
        os.close(writer)
        _, err = await process.communicate()
    assert (process.returncode, err) == (141, b"")


@pytest.mark.parametrize(
    "words", [["--version"], ["--help"], ["completion", "bash"], ["config", "list"], ["doctor"], ["-p", "Go"]]
)
async def test_a_closed_output_is_told(program, words):
    """The shell closes it: no other way starts a program without one."""
    line = shlex.join([sys.executable, "-m", "everturn", *words])
    shell = await asyncio.create_subprocess_shell(
        f"{line} >&-", env=program.env, stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    _, err = await shell.communicate()
    said = "everturn: standard output is closed, so there is nowhere to put the answer\n"
    assert (shell.returncode, err.decode()) == (2, said)


@pytest.mark.parametrize("unbuffered", [None, "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("words", [["-p", "Go"], ["--version"], ["--help"], ["config", "list"], ["doctor"]])
async def test_a_full_disk_is_told(program, words, unbuffered):
    with open("/dev/full", "wb") as full:  # noqa: ASYNC230, PTH123 (a device that refuses every byte)
        async with program.started(*words, stdout=full, env={"PYTHONUNBUFFERED": unbuffered}) as process:
            _, err = await process.communicate()
    said = b"everturn: the output cannot be written: No space left on device\n"
    assert (process.returncode, err) == (1, said)


@pytest.mark.parametrize(
    ("words", "code"),
    [(["--nonsense"], 2), (["docter"], 2), (["-p", "Go", "--verbose"], 0), (["-p", "Go", "--debug"], 0)],
)
async def test_complaints_that_nobody_takes_change_no_exit_code(program, words, code):
    with open("/dev/full", "wb") as full:  # noqa: ASYNC230, PTH123 (a device that refuses every byte)
        async with program.started(*words, stderr=full) as process:
            out, _ = await process.communicate()
    assert (process.returncode, out) == (code, b"" if code else b"Hello.\n")


async def test_a_debug_log_on_a_full_disk_ends_nothing(program):
    done = await program.run("-p", "Go", "--debug=/dev/full")
    assert (done.code, done.out, done.err) == (0, "Hello.\n", "everturn: the debug log is /dev/full\n")


async def test_a_demo_on_a_full_disk_says_so_once(program):
    with open("/dev/full", "wb") as full:  # noqa: ASYNC230, PTH123 (a device that refuses every byte)
        async with program.started("demo", stdout=full) as process:
            _, err = await process.communicate()
    assert (process.returncode, err) == (1, b"everturn: the demo could not run: No space left on device\n")


@pytest.mark.parametrize("words", [["-v"], ["--version"], ["--version", "--verbose"]])
def test_the_version_is_a_line(words, capsys):
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("everturn ")

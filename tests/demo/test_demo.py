"""The demo as a newcomer sees it: run as a program, judged by what it prints, how it ends and what it leaves."""

import signal
import subprocess
from pathlib import Path

import pytest
from tests.demo.newcomer import PROGRAM, steady
from tests.demo.terminal import run_in_terminal, screen_of

from everturn.sessions.places import list_session_files

PRINTED = (Path(__file__).parent / "snapshots" / "printed.txt").read_text()
PAINTED = (Path(__file__).parent / "snapshots" / "painted.txt").read_text()
"""What is left on a terminal with colours: Markdown is painted, and thoughts that were taken back are gone."""
SECRET = "sk-ant-api03-a-key-of-the-persons-own"

BEHIND_A_SCRIPT = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *PROGRAM]
"""A shell ignores SIGINT for what it starts in the background."""
NO_PYTHON_HERE = """\
import os
if os.path.basename(os.getcwd()) == "renewals":
    print("no Python here", flush=True)
    os._exit(3)
"""


def test_to_a_pipe_it_tells_the_whole_story_in_plain_text(newcomer):
    ended = newcomer.runs("--fast")

    assert (ended.returncode, ended.stderr) == (0, "")
    assert steady(ended.stdout) == PRINTED
    assert newcomer.left_behind == []


def test_on_a_terminal_the_same_story_is_left_when_all_painting_is_done(newcomer):
    code, sent = run_in_terminal([*PROGRAM, "--fast"], env=newcomer.env)

    assert code == 0
    assert "\x1b[2;9m" in sent
    left = "\n".join(row.rstrip() for row in screen_of(sent))
    assert steady(left) == PAINTED


def test_on_a_narrow_terminal_lines_break_between_words(newcomer):
    code, sent = run_in_terminal([*PROGRAM, "--fast"], env=newcomer.env | {"NO_COLOR": "1"}, columns=60)

    assert code == 0
    opening, _, _ = sent.replace("\r", "").partition("turn 1\n")
    rows = [row for row in opening.splitlines() if "repository   " not in row]
    assert max(map(len, rows)) < 60
    assert "> A test fails. Find the cause, mend it, and show that all\n  tests pass.\n" in opening


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_no_colours_gets_plain_text(newcomer, env):
    code, sent = run_in_terminal([*PROGRAM, "--fast"], env=newcomer.env | env)

    assert code == 0
    assert steady(sent) == PRINTED


def test_it_runs_on_a_machine_without_git_bash_and_ripgrep(newcomer):
    ended = newcomer.runs("--fast", PATH="/nonexistent")

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "(git was not found, so the demo does without)" in ended.stdout
    assert changes(ended.stdout) == changes(PRINTED)
    assert "all 4 pass" in ended.stdout


def test_a_git_that_does_not_work_is_as_good_as_none(newcomer, tmp_path):
    broken = tmp_path / "bin" / "git"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    broken.chmod(0o755)

    ended = newcomer.runs("--fast", PATH=f"{broken.parent}:/usr/bin:/bin")

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "The diff (made without git)" in ended.stdout


def test_where_the_tests_cannot_pass_it_says_so_and_exits_with_1(newcomer, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(NO_PYTHON_HERE)

    ended = newcomer.runs("--fast", PYTHONPATH=str(tmp_path))

    assert (ended.returncode, ended.stderr) == (1, "")
    assert "My script has no answer to this request" in ended.stdout
    assert "  ✗ they do not pass\n    no Python here\n" in ended.stdout
    assert newcomer.left_behind == []


def test_the_persons_key_address_proxy_and_git_take_no_part(newcomer, tmp_path):
    ended = newcomer.runs(
        "--fast",
        ANTHROPIC_API_KEY=SECRET,
        ANTHROPIC_BASE_URL="http://127.0.0.1:9",
        ANTHROPIC_MODEL="nobody",
        HTTP_PROXY="http://127.0.0.1:9",
        EVERTURN_HOME=str(tmp_path / "own-home"),
        GIT_DIR=str(tmp_path / "own-repository"),
    )

    assert (ended.returncode, ended.stderr) == (0, "")
    assert steady(ended.stdout) == PRINTED
    assert not (tmp_path / "own-home").exists()
    assert not (tmp_path / "own-repository").exists()


def test_an_output_that_knows_ascii_only_gets_ascii(newcomer):
    ended = newcomer.runs("--fast", PYTHONUTF8="0", PYTHONIOENCODING="ascii")

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "> next_turn: the calls ran, and the model gets their results." in ended.stdout
    assert ended.stdout.isascii()


def test_kept_on_demand_the_repository_and_the_journal_can_be_looked_at(newcomer):
    ended = newcomer.runs("--fast", "--keep")

    [name] = newcomer.left_behind
    folder = newcomer.temporary / name
    assert f"Kept: {folder.resolve()} (" in ended.stdout
    changed = subprocess.run(
        ["git", "status", "--short"], cwd=folder / "renewals", capture_output=True, text=True, check=True
    )
    assert changed.stdout == " M renewals/plan.py\n"
    assert len(list(list_session_files(folder / "home"))) == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("words", [PROGRAM, BEHIND_A_SCRIPT], ids=["by hand", "in the background of a script"])
def test_interrupted_in_the_middle_it_leaves_nothing_behind(newcomer, words, number, code):
    process = subprocess.Popen(words, env=newcomer.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for row in process.stdout:
        if row.startswith("turn 2"):
            process.send_signal(number)
            break
    rest, errors = process.communicate(timeout=120)

    assert (process.returncode, errors) == (code, "")
    assert rest.endswith("\nInterrupted. Nothing is left behind.\n")
    assert newcomer.left_behind == []


def test_a_reader_that_leaves_ends_it_quietly(newcomer):
    process = subprocess.Popen(
        [*PROGRAM, "--fast"], env=newcomer.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()

    assert (process.wait(30), errors) == (141, "")
    process.stderr.close()
    assert newcomer.left_behind == []


def test_without_a_temporary_folder_it_says_why_it_cannot_run(newcomer):
    ended = newcomer.runs(TMPDIR="/nonexistent", PYTHONPATH=str(no_temporary_folder(newcomer.temporary)))

    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("everturn: the demo could not run: ")


def no_temporary_folder(folder):
    (folder / "sitecustomize.py").write_text("import tempfile\ntempfile.tempdir = '/nonexistent'\n")
    return folder


def test_an_unknown_argument_is_answered_with_the_one_that_was_meant(newcomer):
    ended = newcomer.runs("--kep")

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "everturn: unknown flag '--kep'; did you mean '--keep'?\nTry 'everturn demo --help'.\n"


def test_help_names_the_arguments_and_the_exit_codes(newcomer):
    ended = newcomer.runs("--help")

    assert (ended.returncode, ended.stderr) == (0, "")
    assert all(word in ended.stdout for word in ("--keep", "--fast", "Exit codes:"))


def changes(output):
    """The changed lines of the diff."""
    _, _, diff = output.partition("+++ b/renewals/plan.py\n")
    body, _, _ = diff.partition("\n\nThe tests")
    return [row for row in body.splitlines() if row.startswith(("  -", "  +"))]

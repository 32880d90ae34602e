"""Lines that only read say the same whether the system holds them or not, and a line that was wrongly let through can still only read."""

import asyncio
import os
import shutil
import subprocess

import pytest
from tests.permissions.shell.test_lines import MAY_DO_MORE, READ
from tests.permissions.shell.worlds import CWD

from everturn.ports.holding import Holding
from everturn.ports.sandbox import Start
from everturn.sandbox.held.holder import CommandHolder
from everturn.sandbox.held.premises import Premises

pytestmark = [pytest.mark.needs("Landlock")]


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "proj"
    for name in ("src", "tests", "sub"):
        (folder / name).mkdir(parents=True)
        (folder / name / "a.py").write_text("import os\nfoo = bar\n")
    for name in ("a", "b", "b.txt", "a.csv", "README.md", "x", "VERSION", "m.py"):
        (folder / name).write_text("v1,two\nx y\n3\n")
    (folder / "src" / "c.ts").write_text("let x = 1\n")
    (tmp_path / "outside").write_text("secret\n")
    identity = {
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "First"]):
        subprocess.run(["git", *words], cwd=folder, env=os.environ | identity, check=True)
    return folder


@pytest.fixture
def run_held(place):
    holder = CommandHolder(Premises(folders=lambda: (os.path.realpath(place),), home=str(place.parent)))

    def run(line):
        given = Start(
            arguments=[shutil.which("bash"), "-c", line], environment=os.environ | {"HOME": str(place.parent)}
        )
        cell = asyncio.run(holder.hold(Holding(uses_git=True), given, str(place)))
        ran = []

        def begin():
            started = cell.start
            ran.append(
                subprocess.Popen(
                    started.arguments,
                    env=dict(started.environment),
                    cwd=place,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                )
            )
            return ran[0].pid

        cell.start.via(begin)
        said, _ = ran[0].communicate(timeout=60)
        return said.decode(), ran[0].returncode

    return run


def list_files(folder):
    """What lies there, with its content; git's own files are the index and its like."""
    return {
        path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and ".git" not in path.parts
    }


@pytest.mark.parametrize("line", [line.replace(CWD, ".") for line in READ])
def test_a_held_line_says_what_an_ordinary_one_says(place, run_held, line):
    free = subprocess.run(
        ["bash", "-c", line],
        cwd=place,
        env=os.environ | {"HOME": str(place.parent)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )

    assert run_held(line) == (free.stdout.decode(), free.returncode)


@pytest.mark.parametrize(
    "line",
    [
        *(line for line in MAY_DO_MORE if "npm" not in line),
        "x=out; echo bad > $x",
        "for f in a b; do rm $f; done",
        "f='../outside'; cat $f",
        "while read -r f; do cat $f; done <<< ../outside",
        "cat <(cat ../outside)",
        "x=sort; $x -o out a",
    ],
)
def test_where_a_line_was_let_through_that_should_have_been_asked_about_the_wall_holds_it(place, run_held, line):
    before = list_files(place.parent)

    said, _ = run_held(line)

    assert list_files(place.parent) == before
    assert "secret" not in said

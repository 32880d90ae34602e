"""A rule keeps a file from being read, in a folder with very many others: commands run as before, or a person is asked."""

import tempfile
from pathlib import Path

import pytest

from everturn.modelserver import call, text
from everturn.ports.policy import Ruling, Verdict
from everturn.sandbox.held.holder import CommandHolder
from everturn.sandbox.held.premises import Premises

pytestmark = pytest.mark.needs("Landlock")
DENIED = ["Read(.env)"]
SECRET = "the treasure is below the oak"


class Approver:
    def __init__(self):
        self.asked = []

    async def approve(self, call, reason):
        self.asked.append((call.input["command"], reason))
        return Verdict(ruling=Ruling.DENY, reason="the person said no")


def answers(bench):
    """Of all calls, in order."""
    return [
        block["content"] for message in bench.sent[-1] for block in message["content"] if block["type"] == "tool_result"
    ]


def fill(folder, folders, files):
    (folder / "a.txt").write_text("one,two\n")
    for number in range(folders):
        inner = folder / "node_modules" / str(number)
        inner.mkdir(parents=True)
        for each in range(files):
            (inner / str(each)).touch()
    (inner / ".env").write_text(SECRET)


@pytest.fixture
def memory():
    """A folder in memory: to make so many files on a disk takes long."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as made:
        yield Path(made).resolve()


async def test_very_many_files_keep_no_command_from_running(bench, memory):
    bench.folder = memory
    fill(bench.folder, folders=150, files=150)
    lines = ("pwd", "echo hi", "git --version", "awk -F, '{print $1}' a.txt", "awk -F, '{print $1}' a.txt")
    bench.model(*(call("Bash", {"command": line}) for line in lines), text("Done."))

    await bench.run(disallowed_tools=DENIED)

    told = answers(bench)
    assert told[:2] == [str(bench.folder.resolve()), "hi"]
    assert told[2].startswith("git version")
    assert told[3:] == ["one", "one"]


def engine_with(bench, most_folders, **options):
    """As many folders as one has, it would take minutes to make."""
    engine = bench.engine(disallowed_tools=DENIED, **options)
    policy = engine.policy
    holder = CommandHolder(
        Premises(
            folders=lambda: policy.folders,
            home=str(bench.home),
            find_hides=policy.find_hides,
            most_folders=most_folders,
        )
    )
    policy.find_walls, policy.prepare_walls = (lambda: holder.walls), holder.prepare
    return engine


@pytest.mark.parametrize("mode", ["default", "acceptEdits"])
async def test_where_there_are_too_many_folders_a_person_is_asked_and_what_opens_no_file_runs(bench, mode):
    fill(bench.folder, folders=10, files=1)
    approver = Approver()
    lines = ("pwd", "echo hi", "awk -F, '{print $1}' a.txt", "mkdir made")
    bench.model(*(call("Bash", {"command": line}) for line in lines), text("Done."))

    await bench.go_on(engine_with(bench, 5, approver=approver, permission_mode=mode))

    assert answers(bench)[:2] == [str(bench.folder.resolve()), "hi"]
    assert [line for line, _ in approver.asked] == ["awk -F, '{print $1}' a.txt", "mkdir made"]
    assert "too many folders to find all of these files" in approver.asked[0][1]
    assert not (bench.folder / "made").exists()


async def test_a_folder_that_has_become_small_enough_is_no_matter_any_more(bench):
    fill(bench.folder, folders=10, files=1)
    engine = engine_with(bench, 5)
    bench.model(call("Bash", {"command": "awk -F, '{print $1}' a.txt"}), text("Done."))
    await bench.go_on(engine)
    assert "too many folders" in answers(bench)[-1]

    (bench.folder / "node_modules").rename(bench.home.parent / "away")
    bench.model(call("Bash", {"command": "awk -F, '{print $1}' a.txt"}), text("Done."))
    await bench.go_on(engine)

    assert answers(bench)[-1] == "one"

"""Worlds with walls and no judgement: each kind of wall, as root and as nobody, with secrets around the working folder."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from tests.adversary.house import ME, USERS, House, Worker
from tests.adversary.scripts import PYTHON

_NEEDS = {"landlock": "Landlock", "bubblewrap": "bubblewrap", "edits": "bubblewrap"}


def list_worlds(*kinds):
    worlds = []
    for kind in kinds:
        for name in USERS:
            need = _NEEDS[kind]
            marks = pytest.mark.needs(f"{need} as nobody" if name == "nobody" and need == "bubblewrap" else need)
            worlds.append(pytest.param(f"{kind} as {name}", marks=marks))
    return worlds


class Walls(House):
    """Readers behind Landlock or bubblewrap, or edits: whatever the command is, it runs."""

    def __init__(self, kind, user, worker):
        super().__init__(user)
        self.kind, self.worker = kind, worker
        (self.work / "a.txt").write_text("alpha\nbeta\n")
        (self.work / "prog").write_bytes(Path("/bin/true").read_bytes())
        (self.work / "prog").chmod(0o755)
        subprocess.run(["git", "init", "-q", str(self.work)], check=True)
        (self.work / ".everturn").mkdir()
        (self.work / ".everturn" / "settings.json").write_text("{}")
        self.settle()

    def run(self, *commands, **fields):
        """The whole answer."""
        job = self.job(
            {"forced": {"writes": self.kind == "edits", "uses_git": True}},
            commands,
            without="landlock" if self.kind == "bubblewrap" else "",
            **fields,
        )
        return self.worker.do(job)

    def say(self, command):
        """What it printed, whether it worked or not."""
        (result,) = self.run(command)["results"]
        return result["content"]


@pytest.fixture(scope="session")
def worker_room():
    folder = Path(tempfile.mkdtemp(prefix="adversary-temporary-", dir="/tmp")).resolve()
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def workers(worker_room):
    """By user; one that a command has ended is started anew."""
    started = {}

    def find(user):
        if user not in started or started[user].process.poll() is not None:
            started[user] = Worker(user, worker_room)
        return started[user]

    yield find
    for worker in started.values():
        worker.close()


def build(request, workers):
    kind, _, user = request.param.partition(" as ")
    walls = Walls(kind, user, workers(user))
    yield walls
    walls.close()


@pytest.fixture(params=list_worlds("landlock", "bubblewrap", "edits"))
def walls(request, workers):
    yield from build(request, workers)


@pytest.fixture(params=list_worlds("landlock", "bubblewrap"))
def reading(request, workers):
    """Only readers."""
    yield from build(request, workers)


@pytest.fixture(params=list_worlds("landlock"))
def ruled(request, workers):
    """Only readers that rules of the kernel hold, who may start programs of the system alone."""
    yield from build(request, workers)


@pytest.fixture(params=list_worlds("bubblewrap", "edits"))
def viewing(request, workers):
    """Only who has a view of its own."""
    yield from build(request, workers)


@pytest.fixture(params=list_worlds("edits"))
def editing(request, workers):
    yield from build(request, workers)


@pytest.fixture
def victim():
    started = []

    def start(walls):
        user = {"user": USERS[walls.user], "group": USERS[walls.user], "extra_groups": []} if ME == 0 else {}
        process = subprocess.Popen(
            ["/bin/sh", "-c", "exec 5< secret; exec sleep 1000"],
            cwd=walls.outside,
            env={"PATH": os.defpath, "PASSWORD": f"{walls.token}-of-another"},
            **user,
        )
        started.append(process)
        return process.pid

    yield start
    for process in started:
        process.kill()
        process.wait()


def fill(walls, command, pid):
    """Braces that are not names of ours are doubled in the tables."""
    if command.startswith(PYTHON):
        command = command.replace("{{", "{").replace("}}", "}")
        for name, value in names_of(walls, pid).items():
            command = command.replace(f"{{{name}}}", value)
        return command
    return command.format(**names_of(walls, pid))


def names_of(walls, pid):
    return {
        "secret": str(walls.place / "secret"),
        "outside": str(walls.outside),
        "elsewhere": str(walls.elsewhere),
        "home": str(walls.home),
        "work": str(walls.work),
        "place": str(walls.place),
        "temporary": str(walls.temporary),
        "pid": str(pid),
    }

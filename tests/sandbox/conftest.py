"""Worlds to escape from: each kind of sandbox, held by root and by nobody, with treasures around the workspace."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.needs import NOBODY
from tests.tools.processes import PATIENCE_S

WORKER = Path(__file__).with_name("worker.py")
ME = os.getuid()
USERS = {"root": 0, "nobody": NOBODY} if ME == 0 else {"me": ME}
VIEWED_WORLDS = [
    pytest.param(
        f"bubblewrap as {name}",
        marks=pytest.mark.needs("bubblewrap as nobody" if name == "nobody" else "bubblewrap"),
    )
    for name in USERS
]
WORLDS = [*VIEWED_WORLDS, *(pytest.param(f"landlock as {name}", marks=pytest.mark.needs("Landlock")) for name in USERS)]
TREASURE = "gold"


class Worker:
    """Lives for the whole run: to start one takes longer than most commands."""

    def __init__(self, user):
        self.temporary = Path(tempfile.mkdtemp(prefix="held-temporary-", dir="/tmp"))
        self.temporary.chmod(0o777)
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER), str(user)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(self.temporary)},
        )

    def give(self, job):
        self.process.stdin.write(f"{json.dumps(job)}\n")
        self.process.stdin.flush()

    def take(self):
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()
        # Of one that was killed, its watcher may be removing the same.
        shutil.rmtree(self.temporary, ignore_errors=True)


@pytest.fixture(scope="session")
def workers():
    started = {name: Worker(user) for name, user in USERS.items()}
    yield started
    for worker in started.values():
        worker.close()


class World:
    def __init__(self, kind, user, worker, place):
        self.kind, self.user, self.worker, self.place = kind, user, worker, place
        self.workspace, self.outside, self.home = place / "workspace", place / "outside", place / "home"
        for folder in (self.workspace, self.outside, self.home):
            folder.mkdir()
        self.treasure = self.outside / "treasure"
        self.treasure.write_text(TREASURE)
        subprocess.run(["git", "init", "-q", str(self.workspace)], check=True)
        self.own(place)

    def own(self, place):
        """Everything around belongs to the user: nothing but the sandbox is in the way."""
        if ME == 0:
            for path in (place, *place.rglob("*")):
                os.chown(path, USERS[self.user], USERS[self.user], follow_symlinks=False)

    def job(self, *commands, **fields):
        return {
            "folder": str(self.workspace),
            "home": str(self.home),
            "without": "" if self.kind == "bubblewrap" else "bubblewrap",
            "commands": [{"command": command} if isinstance(command, str) else command for command in commands],
            **fields,
            "environment": {"HOME": str(self.home), **fields.get("environment", {})},
        }

    def do(self, *commands, **fields):
        """The whole answer."""
        self.worker.give(self.job(*commands, **fields))
        answer = self.worker.take()
        assert answer["kind"] == self.kind
        return answer

    def run(self, *commands, **fields):
        """The results."""
        return self.do(*commands, **fields)["results"]

    def say(self, command, **fields):
        """What one command that must succeed prints."""
        (result,) = self.run(command, **fields)
        assert not result["is_error"], result["content"]
        return result["content"]

    def start_program(self, *arguments):
        """Outside, by the same user."""
        user = {"user": USERS[self.user], "group": USERS[self.user], "extra_groups": []} if ME == 0 else {}
        return subprocess.Popen(arguments, **user)


@pytest.fixture
def place():
    """Short, and open to all on the way: names of sockets have a limit, and nobody passes root's own folders."""
    folder = Path(tempfile.mkdtemp(prefix="held-", dir="/tmp")).resolve()
    folder.chmod(0o755)
    yield folder
    # Commands close folders, to their owner as well.
    subprocess.run(["chmod", "-R", "u+rwX", folder], check=True)
    shutil.rmtree(folder)


@pytest.fixture(params=WORLDS)
def world(request, workers, place):
    kind, _, user = request.param.partition(" as ")
    return World(kind, user, workers[user], place)


@pytest.fixture(params=VIEWED_WORLDS)
def viewed(request, workers, place):
    """Only where commands have a view of their own."""
    kind, _, user = request.param.partition(" as ")
    return World(kind, user, workers[user], place)


class Ear:
    """A socket outside that hears whether anybody calls."""

    def __init__(self, family, kind, address):
        self.socket = socket.socket(family, kind)
        self.socket.bind(address)
        if kind == socket.SOCK_STREAM:
            self.socket.listen()
        self.socket.setblocking(False)
        self.stream = kind == socket.SOCK_STREAM

    @property
    def port(self):
        return self.socket.getsockname()[1]

    def heard(self):
        try:
            if self.stream:
                self.socket.accept()[0].close()
            else:
                self.socket.recv(1)
        except BlockingIOError:
            return False
        return True


@pytest.fixture
def ears(world):
    ears = {
        "tcp": Ear(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        "tcp6": Ear(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
        "udp": Ear(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        "unix": Ear(socket.AF_UNIX, socket.SOCK_STREAM, str(world.outside / "ear.sock")),
        "abstract": Ear(socket.AF_UNIX, socket.SOCK_STREAM, f"\0everturn-{os.getpid()}"),
    }
    (world.outside / "ear.sock").chmod(0o777)
    yield ears
    for ear in ears.values():
        ear.socket.close()

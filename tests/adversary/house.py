"""A throw-away home with a working folder, secrets around it and a folder that nobody may change; and who works there."""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.adversary.keeping import take_picture
from tests.needs import NOBODY

ROOT = str(Path(__file__).parents[2])
WORKER = Path(__file__).with_name("worker.py")
ME = os.getuid()
USERS = {"root": 0, "nobody": NOBODY} if ME == 0 else {"me": ME}
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
PATIENCE_S = 120
GIT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z",
}


class House:
    """Everything in it belongs to the user: nothing but the walls is in the way."""

    def __init__(self, user):
        self.user = user
        self.token = f"secret-{secrets.token_hex(12)}"
        self.place = Path(tempfile.mkdtemp(prefix="adversary-", dir="/tmp")).resolve()
        self.elsewhere = Path(tempfile.mkdtemp(prefix="elsewhere-", dir="/tmp")).resolve()
        self.work, self.outside, self.home = self.place / "work", self.place / "outside", self.place / "home"
        self.temporary = self.place / "tmp"
        self.original = self.place.with_name(f"{self.place.name}-original")
        """For a copy of the working folder."""
        for folder in (self.work, self.outside, self.home, self.temporary, self.home / ".ssh", self.outside / "deep"):
            folder.mkdir()
        for path in (
            self.place / "secret",
            self.outside / "secret",
            self.outside / "deep" / "secret",
            self.home / "secret",
            self.home / ".ssh" / "id_rsa",
            self.home / ".netrc",
            self.home / ".git-credentials",
            self.elsewhere / "secret",
        ):
            path.write_text(f"{self.token}\n")
        (self.outside / "marker").write_text("as it was\n")
        (self.home / ".gitconfig").write_text("[user]\n\tname = A Person\n\temail = person@example.com\n")

    def settle(self):
        """After all is there."""
        for path in (self.place, self.elsewhere):
            path.chmod(0o755)
        self.own(self.place, self.elsewhere)

    def own(self, *places):
        if ME == 0:
            subprocess.run(["chown", "-hR", f"{USERS[self.user]}:{USERS[self.user]}", *places], check=True)

    def keep(self):
        """Remembers the working folder, so that a worker can put it back after each command."""
        shutil.copytree(self.work, self.original, symlinks=True)
        self.own(self.original)

    @property
    def kept(self):
        around = [path for path in self.place.iterdir() if path not in {self.work, self.temporary}]
        return {
            "work": str(self.work),
            "original": str(self.original),
            "around": [str(path) for path in (*around, self.elsewhere)],
        }

    @property
    def environment(self):
        return {"HOME": str(self.home), "PATH": PATH, "DATABASE_PASSWORD": f"{self.token}-variable", "LANG": "C.UTF-8"}

    def job(self, policy, commands, **fields):
        return {
            "folder": str(self.work),
            "home": str(self.home),
            "policy": policy,
            "environment": self.environment,
            "commands": [{"command": each} if isinstance(each, str) else each for each in commands],
            **fields,
        }

    def picture(self):
        """All that is outside of the working folder and the temporary one."""
        tops = [path for path in self.place.iterdir() if path not in {self.work, self.temporary}]
        return take_picture(*tops, self.elsewhere)

    def picture_work(self):
        return {path: look for path, look in take_picture(self.work).items() if path != str(self.work)}

    def close(self):
        for path in (self.place, self.elsewhere, self.original):
            shutil.rmtree(path, ignore_errors=True)


class Worker:
    """To start one takes longer than most commands. `before` is put in front of the program: something that watches it."""

    def __init__(self, user, temporary, before=()):
        self.process = subprocess.Popen(
            [*before, sys.executable, str(WORKER), str(USERS[user])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=temporary,
            env={
                "PATH": PATH,
                "LANG": "C.UTF-8",
                # Without it each shell looks its user up when it starts, by two sockets to a service that is seldom there.
                "SHELL": "/bin/bash",
                "PYTHONPATH": os.pathsep.join((ROOT, *filter(None, sys.path))),
                "TMPDIR": str(temporary),
            },
        )

    def do(self, job):
        self.process.stdin.write(f"{json.dumps(job)}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "the worker is gone: a command has ended it"
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()

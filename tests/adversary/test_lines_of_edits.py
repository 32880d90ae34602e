"""Random lines of edits in random folders with links and second names: what runs unasked, for real, changes nothing protected and nothing outside."""

import os
import random
import subprocess

import pytest
from tests.adversary.conftest import list_worlds
from tests.adversary.house import House

FOLDERS = ("a", "b", "a/s", "b/s", "a/git", "b/s/t", "c", "d/tree", "p/.vscode", "p/.config", "q/sub", "q/tree")
FILES = (
    "a/f",
    "b/f",
    "a/s/f",
    "a/git/config",
    "b/s/t/f",
    "f",
    "git",
    "d/tree/f",
    "p/.vscode/tasks.json",
    "q/tree/AGENTS.md",
)
LEADS = (
    "s",
    "f",
    "s/f",
    "s/tasks.json",
    "../b",
    "../a/s",
    "../p/.vscode",
    "../p/.vscode/tasks.json",
    "../q/sub",
    "q/sub",
    "git/config",
)
SOURCES = ("a", "b", "c", "a/s", "a/git", "git", "d/l/../tree")
NAMES = ("tree", "a", "b", "s", "t", "f", "git", ".config")
SEEDS = (0, 1, 13, 30, 32, 37)
LINES = 12
LEAST_RUN = 12
"""Of all lines; else the test proves nothing."""


def furnish(chance, work, outside):
    (outside / "second").write_text("mine\n")
    for name in FOLDERS:
        (work / name).mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (work / name).write_text("mine\n")
    for name in ("a/l", "a/s/l", "b/l", "b/s/l", "b/s/t/l", "c/l", "c/s", "d/l", "l"):
        if chance.random() < 0.5 and not os.path.lexists(work / name):
            (work / name).symlink_to(chance.choice(LEADS))
    for name in ("a/h", "a/s/h", "b/h", "c/h", "h"):
        if chance.random() < 0.5:
            os.link(chance.choice((outside / "second", work / "p/.vscode/tasks.json")), work / name)


class Drawer:
    """Draws lines about what is there, and about what earlier parts of the same line make of it."""

    def __init__(self, chance, work):
        self.chance = chance
        self.there = sorted(str(path.relative_to(work)) for path in work.rglob("*") if ".git/" not in f"{path}/")
        self.made = []

    def draw_line(self):
        self.made = []
        parts = [self.draw_taking(), self.draw_writing()] if self.chance.random() < 0.6 else []
        parts += [
            self.draw_taking() if self.chance.random() < 0.4 else self.draw_writing() for _ in range(2 - len(parts))
        ]
        if self.chance.random() < 0.3:
            parts.insert(0, f"mkdir -p {self.draw_new()}")
        return self.chance.choice((" && ", " && ", "; ", "; ", " & ", " || ")).join(parts)

    def draw_there(self):
        path = self.chance.choice(self.there)
        return f"{path}/../{self.chance.choice(NAMES)}" if self.chance.random() < 0.15 else path

    def draw_new(self):
        path = self.chance.choice(("n", "n", "m", "b", "c", "p/.config", self.draw_there()))
        self.made.append(path)
        return path

    def draw_taking(self):
        source = self.chance.choice((*SOURCES, self.draw_there()))
        target = self.draw_new()
        below = [path.removeprefix(f"{source}/") for path in self.there if path.startswith(f"{source}/")]
        for name in ("", f"/{source.rpartition('/')[2]}"):
            self.made += [f"{target}{name}/{each}" for each in below]
        return (
            self.chance.choice(("mv", "mv", "mv -T", "cp -r", "cp -r", "cp -rT", "cp -a", "cp")) + f" {source} {target}"
        )

    def draw_writing(self):
        odd = [path for path in self.made if path.endswith(("/h", "/l"))]
        path = self.chance.choice(self.chance.choice((odd or self.made, self.made, self.there)) or self.there)
        return self.chance.choice((
            f"echo evil > {path}", f"echo evil > {path}", f"echo evil >> {path}", f"touch {path}", f"cp f {path}", f"sed -i s/mine/evil/ {path}",
            f"sed -i.bak s/mine/evil/ {path}", f"rm -rf {path}", f"mv f {path}", f"mv {path} p/.config", f"chmod +x {path}",
            f"rm -f {path}*", f"cd {path} && echo evil > f",
        ))  # fmt: skip


def read_all(top, wanted=lambda _: True):
    """What files hold, where links lead, and which folders there are: times change with each name that is taken away."""
    found = {}
    for path in top.rglob("*"):
        below = str(path.relative_to(top))
        if wanted(below):
            found[below] = (
                str(path.readlink()) if path.is_symlink() else path.read_text() if path.is_file() else "folder"
            )
    return found


def is_protected(path):
    return not {".vscode", "AGENTS.md"}.isdisjoint(path.split("/")) or f"/{path}/".find("/.config/git/") >= 0


@pytest.mark.parametrize("world", list_worlds("edits"))
def test_lines_that_run_unasked_change_nothing_protected_and_nothing_outside(world, workers):
    user = world.partition(" as ")[2]
    ran = 0
    for seed in SEEDS:
        chance = random.Random(f"{user} {seed}")  # noqa: S311 - the same each time
        house = House(user)
        try:
            subprocess.run(["git", "init", "-q", str(house.work)], check=True)
            furnish(chance, house.work, house.outside)
            house.settle()
            before, around = read_all(house.work, is_protected), read_all(house.outside)
            drawer = Drawer(chance, house.work)
            lines = [drawer.draw_line() for _ in range(LINES)]
            results = workers(user).do(house.job({"mode": "acceptEdits"}, lines))["results"]
            told = [line for line, result in zip(lines, results, strict=True) if result["ruling"] == "allow"]
            assert read_all(house.work, is_protected) == before, told
            assert read_all(house.outside) == around, told
            ran += len(told)
        finally:
            house.close()
    assert ran >= LEAST_RUN

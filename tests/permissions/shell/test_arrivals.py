"""What `cp`, `mv`, `ln`, `install` and `rsync` take along is judged where it goes: names that a glob matches, and what folders hold."""

import os
import shlex
import subprocess
from random import Random

import pytest
from tests.permissions.shell.test_doubts import EVERY_WAY, rule

from everturn.permissions.paths.protected import find_protected
from everturn.ports.policy import Ruling

ALLOWED = tuple(f"Bash({name}:*)" for name in ("cp", "mv", "ln", "install", "rsync", "scp", "git mv", "mkdir", "touch"))
LOCK = "Edit(src/tools/a.lock)"
TREE = [
    "d/a.lock", "d/b.txt", "plain/a.txt", "plain/sub/b.txt", "src/tools/x", "src/b.txt", "src/a", "lone/deep/a.lock", "named/bazel", "named/c.txt",
    "settings/.everturn/settings.json", "settings/e.txt", "memory/AGENTS.md", "memory/f.txt", "hooked/x/.git/hooks/pre-commit", "tools/bazel",
    "hidden/.envrc", "hidden/g.txt", "outer/tools/h.txt", "whole/src/tools/a.lock", "old/AGENTS.md",
]  # fmt: skip
BRINGS_LOCK = [
    "cp d/* src/tools/", "cp d/* src/tools", "cp d/a.* src/tools", "cp -r d/. src/tools/", "cp -r d/ src/tools/../tools/.. && cp -r src/d/. src/tools",
    "cp -R d/. src/tools", "cp -a d/. src/tools", "cp -rt src/tools d/.", "cp -t src/tools d/*", "cp -vt src/tools d/*",
    "cp --target-directory=src/tools d/*", "cp --target-directory src/tools d/*", "cp --targ=src/tools d/*", "cp --recursive d/. src/tools", "cp --rec d/. src/tools",
    "cp -rT d src/tools", "cp -r whole/. .", "cp -r whole/src .", "cp {d,plain}/* src/tools", "cp d/[ab]* src/tools", "cp d/?.lock src/tools",
    "mv d/* src/tools", "mv -t src/tools d/*", "mv whole/src/tools src", "mv -T d src/tools", "ln d/* src/tools", "ln -s $PWD/d/* src/tools", "ln -st src/tools $PWD/d/*",
    "install d/* src/tools", "install -m 644 -t src/tools d/*", "install -Dt src/tools d/*", "rsync d/* src/tools", "rsync -a d/ src/tools",
    "rsync -a d/ src/tools/", "rsync -r d/. src/tools", "rsync -a whole/src .", "rsync -aR whole/./src .", "cd src && cp ../d/* tools", "cd src/tools && cp ../../d/* .",
    "cd src/tools && ln -s ../../d/a.lock", "cd src/tools && cp -r ../../d/. .", "x=d; cp -r $x/. src/tools", "x='d/*'; cp $x src/tools", "for f in d/*; do cp $f src/tools/; done",
    "for f in d/*; do cp $f src/tools; done", "cp -r $X/. src/tools", "cp -r $X/d/. src/tools", "cp d/* $X/tools", "cd $X && cp d/* src/tools", "find d -type f | xargs cp -t src/tools",
    "cp -b -S .lock src/b.txt src/tools/a", "mkdir n && touch n/a.lock && cp n/* src/tools", "touch plain/a.lock && cp plain/* src/tools", "cp d/* plain && cp plain/* src/tools",
    "mv d n && cp -r n/. src/tools", "rsync -a host:x/ src/tools", "rsync --files-from=list . src/tools", "git mv d/* src/tools", "git -C src mv ../whole/src/tools .",
    "timeout 5 cp d/* src/tools", "env cp d/* src/tools", "/bin/cp d/* src/tools",
]  # fmt: skip
BRINGS_PROTECTED = [
    "mv [mp]*", "cp -r [mp]*", "cp -r {memory,plain}", "cp -r src/b.txt [mp]*", "rsync -a [mp]*", "git mv [mp]*",
    "cp named/* outer/tools", "cp -r named/. outer/tools/", "mv named/* outer/tools", "ln named/* outer/tools", "install named/* outer/tools", "rsync -a named/ outer/tools",
    "cp -r settings/. .", "cp -r settings plain", "cp -rT settings plain", "mv settings plain", "cp -r settings/.e* .", "cp -r memory plain", "cp memory/* .", "cp -r memory/* src",
    "cp -r hooked plain", "cp -r hooked/* plain", "mv hooked/* plain", "rsync -a hooked/ plain", "scp -r memory plain", "cp hidden/.* plain", "shopt -s dotglob; cp hidden/* plain",
    "GLOBIGNORE=x; cp hidden/* plain", "cp -r tools outer", "mv tools plain", "cp -rt plain memory", "cp --targ=plain memory/*", "touch plain/bazel && cp plain/b* outer/tools",
    "cp -r $X/. plain", "cp -r memory/ plain", "install -t . memory/*", "install -d .everturn n", "rsync -a --delete plain/ memory", "rsync --backup-dir=.git/hooks -a d/ src",
    "rsync --log-file=.git/hooks/x -a d/ src", "cp -r outer/. . && cp named/* tools", "cp -r . ../copy", "ln -s .git/hooks t && cp d/b.txt t/x", "git mv named/* outer/tools", "mv old src",
]  # fmt: skip
HARMLESS = [
    "cp src/b.txt src/a plain/", "cp src/b.txt plain", "cp -r src build/", "cp -r plain/. src/", "cp -r plain src", "cp plain/* src/tools/", "mv plain src/tools", "mv plain/* src", "cp d/*.txt src/tools",
    "cp d/* plain/", "cp -r d plain", "cp -r d src/tools", "ln -s ../plain src/p", "ln plain/* src", "install -m 755 plain/*.txt src", "rsync -a plain/ src", "rsync -a src plain", "cp -a src ../copy",
    "rsync -a --exclude=.git --exclude=tools hooked/ src", "mkdir -p build && cp -r src/* build/", "cp hidden/* plain", "cp -r outer plain", "cp nothing/* src", "cp -r nothing src", "cp -r hidden/* plain",
    "cp src/b.txt src/b.bak", "mv src/a src/c", "mv plain build && mkdir plain", "rm -f t && ln -s plain t", "cp -r lone plain", "cp -rt plain src", "git mv plain src",
]  # fmt: skip


def fill(place, files):
    for name in files:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(name)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path.resolve() / "project"
    place.mkdir()
    fill(place, TREE)
    return place


def allowing(folder, line, **rules):
    extra = [f"Bash({line.split()[0]}:*)", "Bash(cd:*)", "Bash(shopt:*)", "Bash(rm:*)", "Bash(xargs:*)", "Bash(find:*)"]
    return rule(folder, "default", line, allow=(*ALLOWED, *extra), **rules)


@pytest.mark.parametrize("line", BRINGS_LOCK)
def test_a_file_that_a_rule_keeps_is_not_brought_by_a_command_that_a_rule_allows(folder, line):
    assert allowing(folder, line, deny=[LOCK]).ruling is not Ruling.ALLOW
    assert allowing(folder, line, ask=[LOCK]).ruling is not Ruling.ALLOW


@EVERY_WAY
def test_neither_is_it_where_every_command_runs(folder, way):
    assert [line for line in BRINGS_LOCK if rule(folder, way, line, [LOCK]).ruling is Ruling.ALLOW] == []


@pytest.mark.parametrize("line", BRINGS_PROTECTED)
@pytest.mark.parametrize("wide", [False, True])
def test_a_protected_path_is_not_brought_by_a_command_that_a_rule_allows(folder, line, wide):
    verdict = rule(folder, "a rule for every command", line) if wide else allowing(folder, line)

    assert verdict.ruling is Ruling.ASK


@pytest.mark.parametrize("line", HARMLESS)
def test_what_brings_nothing_of_that_kind_runs_as_the_rule_says(folder, line):
    verdict = allowing(folder, line)
    assert (verdict.ruling, line) == (Ruling.ALLOW, line), verdict.reason

    verdict = allowing(folder, line, deny=[LOCK])
    assert (verdict.ruling, line) == (Ruling.ALLOW, line), verdict.reason


def test_the_reason_names_what_would_come(folder):
    assert allowing(folder, "cp d/* src/tools/", deny=[LOCK]).reason == (
        "mode default: 'cp d/* src/tools/' brings src/tools/a.lock with it, which a rule keeps from being changed"
    )
    assert allowing(folder, "cp -r memory/. src").reason == (
        "mode default: 'cp -r memory/. src' brings src/AGENTS.md with it, which is protected: no rule approves that ahead of time"
    )


def test_what_is_too_much_to_look_at_asks(folder):
    fill(folder, [f"many/f{number}" for number in range(5_010)])

    assert allowing(folder, "cp -r many src").ruling is Ruling.ASK
    assert allowing(folder, "cp many/* src", deny=[LOCK]).ruling is not Ruling.ALLOW
    fill(folder, [f"some/f{number}" for number in range(300)])
    assert allowing(folder, "cp some/* src", deny=[LOCK]).ruling is Ruling.ALLOW


NAMES = ["a.lock", "AGENTS.md", "bazel", ".git", ".envrc", "b.txt", "tools", "sub", "x"]
COPY = [
    "cp {o} {s} {t}",
    "cp {o} -t {t} {s}",
    "cp -r{v} {s} {t}",
    "cp -a {s} {t}",
    "cp -rT {s} {t}",
    "cp --parents -r {s} {t}",
    "cp -b -S .lock {s} {t}",
    "cp -rL {s} {t}",
]
MOVE = ["mv {s} {t}", "mv -t {t} {s}", "mv -T {s} {t}", "mv -b {s} {t}"]
OTHERS = ["ln {s} {t}", "ln -s $PWD/{s} {t}", "install {s} {t}", "install -t {t} {s}", "cd {t} && cp -r $OLDPWD/{s} ."]
SYNC = ["rsync -a {s} {t}", "rsync -r --delete {s} {t}", "rsync -aR {s} {t}", "rsync {s} {t}"]


def grow(random, top):
    """A tree of a few folders, files and links, with names that matter among them."""
    folders = [top]
    for _ in range(random.randint(3, 12)):
        place = random.choice(folders) / random.choice(NAMES)
        if os.path.lexists(place):
            continue
        kind = random.random()
        if kind < 0.45:
            place.mkdir()
            folders.append(place)
        elif kind < 0.9:
            place.write_text(str(random.random()))
        else:
            place.symlink_to(os.path.relpath(random.choice(folders), place.parent))
    return folders


def show(top):
    """Every path with what is there."""
    found = {}
    for path in top.rglob("*"):
        if path.is_symlink():
            found[str(path)] = f"link to {path.readlink()}"
        else:
            found[str(path)] = path.read_text() if path.is_file() else "folder"
    return found


def make_line(random, top, folders, forms):
    def pick(*ends):
        place = os.path.relpath(random.choice(folders), top)
        return shlex.quote(place) + random.choice(ends)

    sources = " ".join(
        pick("", "/", "/.", "/*", "/*", "/.[!.]*", "/a*", "/b*", "/*/*") for _ in range(random.randint(1, 2))
    )
    target = random.choice([pick(""), pick("/"), pick("/new"), pick("/tools"), "."])
    return random.choice(forms).format(
        s=sources, t=target, o=random.choice(["", "-f", "-v", "-l"]), v=random.choice(["", "v", "f", "P"])
    )


def find_forbidden(top, before, after):
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    return sorted(path for path in changed if find_protected(path) or path.endswith("/sub/a.lock"))


@pytest.mark.parametrize("seed", range(12))
def test_whatever_runs_unasked_changes_neither_a_protected_path_nor_one_that_is_denied(tmp_path, seed):
    random = Random(seed)  # noqa: S311 (a seed that can be played again)
    check(random, tmp_path, [*COPY, *MOVE, *OTHERS])


@pytest.mark.needs("rsync")
@pytest.mark.parametrize("seed", range(3))
def test_neither_does_rsync(tmp_path, seed):
    check(Random(seed), tmp_path, SYNC)  # noqa: S311


def check(random, tmp_path, forms):
    ran = changed = 0
    for number in range(30):
        top = tmp_path.resolve() / f"p{number}"
        top.mkdir()
        folders = grow(random, top)
        line = make_line(random, top, folders, forms)
        allow = [f"Bash({name}:*)" for name in ("cp", "mv", "ln", "install", "rsync", "cd")]
        if rule(top, "default", line, ["Edit(**/sub/a.lock)"], allow=allow).ruling is not Ruling.ALLOW:
            continue
        before = show(top)
        subprocess.run(["bash", "-c", line], cwd=top, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        after = show(top)
        ran += 1
        changed += before != after
        assert (line, find_forbidden(top, before, after)) == (line, []), sorted(before)
    assert ran

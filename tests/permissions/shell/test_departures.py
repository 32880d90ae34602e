"""What `rm -r`, `git rm`, `git clean`, `find -delete`, `chmod -R` and their kind take with a folder is judged name by name."""

import os
import subprocess
from random import Random

import pytest
from tests.permissions.shell.test_arrivals import fill, find_forbidden, grow, make_line
from tests.permissions.shell.test_doubts import rule

from everturn.permissions.paths.inside import MAX_INSIDE
from everturn.ports.policy import Ruling

TREE = [
    "d/AGENTS.md", "d/b.txt", "deep/x/y/.envrc", "deep/c.txt", "nested/.git/HEAD", "nested/a.py", "own/.everturn/settings.json", "old/CLAUDE.md", "old/b.txt",
    "tools/bazel", "plain/a.txt", "plain/sub/b.txt", "build/lib/x.o", "dist/a.js", "node_modules/p/.vscode/x", "node_modules/p/AGENTS.md", "node_modules/@o/q/.npmrc",
    ".tox/py/pyvenv.cfg", ".tox/py/bin/python", ".tox/py/lib/site-packages/a.pth", "work/node_modules/mine/.git/HEAD", "work/node_modules/@o/mine/a", "cache/x/pyvenv.cfg",
    "cache/x/AGENTS.md", "src/app/a.py", "list", "outer/node_modules/p/.husky/x", "outer/a.js", "half/p.pyc", "half/AGENTS.md",
]  # fmt: skip
TAKES_PROTECTED = [
    "rm -r d", "rm -rf d", "rm -fR d/", "rm --recursive d", "rm --rec d", "rm -rf ./d", "rm -rf plain d", "rm -rf plain deep", "rm -rf deep/*", "rm -rf deep/x", "rm -rf {plain,d}", "rm -rf *eep",
    "rm -rf nested", "rm -rf own", "rm -rf -- old", "rm d/*", "rm -f old/C*", "rm -rf tools", "rm -rf work", "rm -rf cache", "cd deep && rm -rf x", "cd deep && rm -rf *", "x=d; rm -rf $x",
    "for f in plain deep; do rm -rf $f; done", "npm test && rm -rf d", "timeout 5 rm -rf d", "env rm -rf d", "/bin/rm -rf d", "busybox rm -rf d", "npx rimraf d", "rimraf d", "trash d",
    "git rm -r d", "git rm -rf .", "git -C deep rm -r x", "git rm 'd/*'", "git rm '*.md'", "git rm ':(glob)**/*.md'", "git clean -fd", "git clean -fdx", "git clean -df own", "git clean -ffd nested", "git -C own clean -fd",
    "find d -delete", "find . -type f -delete", "find . -name '*.md' -delete", "find . -name deep -exec rm -rf {} +", "find deep -type f -exec rm {} +", "find . -name x -exec rm -r {} \\;",
    "find d -not -name z -delete", "chmod -R +x d", "chmod -R 700 .", "chown -R 0 d", "chmod --recursive +x nested", "gzip -r d", "gzip -rv deep", "gunzip -r d", "tar cf a.tar --remove-files d", "tar -c -f a.tar --remove d",
    "tar -cC deep -f a.tar --remove-files x", "zip -rm a.zip d", "7z a x.7z d -sdel", "shred -u d/*", "mv -bT plain d", "mv -b other/d .", "mv --exchange plain d", "mv -T --exch plain d",
    "zip -rm a.zip **", "zip --move a.zip -r d", "ls | zip -rm a.zip -@", "tar cf a.tar --remove-files **", "tar -cf a.tar --remove-files -T list", "gzip -r **", "chmod -R +x **", "git rm -r **", "trash **",
    "rsync -a --force plain/ d", "rsync -r --delete-missing-args nothing d",
]  # fmt: skip
HARMLESS = [
    "rm -rf build", "rm -rf dist", "rm -r dist/*", "rm -rf node_modules", "rm -rf ./node_modules/", "rm -rf node_modules/p", "rm -rf outer", "rm -rf .tox", "rm -rf plain src", "rm -rf nothing", "rm list", "rm -f dist/*",
    "rm -rf build dist .tox", "cd plain && rm -rf sub", "rm -rf plain/{sub,none}", "rm -rf nothing/*", "rmdir plain/sub", "rm -rf link", "trash link", "npx rimraf dist", "git rm -r src", "git rm --cached -r tracked",
    "git rm -rn tracked", "git rm -r d/b.txt", "git clean -fd src", "git clean -nd", "git clean -fd tracked", "find build -delete", "find src -name '*.pyc' -delete", "find . -name '*.o' -delete",
    "find . -name '*.pyc' -exec rm -f {} +", "find . -name sub -exec rm -rf {} +", "chmod -R +x src", "gzip -r plain", "gzip -rdc d", "gzip -l d/x.gz", "tar cf a.tar --remove-files plain", "tar cf a.tar d", "zip -r a.zip d", "mv -b list other",
    "rsync -a --force plain/ src", "chmod +x list", "rm -rf ../elsewhere",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    place = tmp_path.resolve() / "project"
    place.mkdir()
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    fill(place, [*TREE, "tracked/AGENTS.md", "tracked/x.py"])
    (place / "work/node_modules/mine/.git/HEAD").write_text("ref: refs/heads/main\n")
    (place / "link").symlink_to("d")
    (place / "other").mkdir()
    (place / "other/d").mkdir()
    subprocess.run(["git", "add", "-f", "tracked", "d", "deep", "src"], cwd=place, check=True)
    return place


def allowing(folder, line, **rules):
    names = {word.rpartition("/")[2] for word in line.split()}
    allow = [f"Bash({name}:*)" for name in names if name.isalnum()] + [f"Bash({line})"]
    if line.startswith("find"):
        allow = [f"Bash({line})"]
    return rule(folder, "default", line, allow=allow, **rules)


@pytest.mark.parametrize("line", TAKES_PROTECTED)
@pytest.mark.parametrize("wide", [False, True])
def test_a_protected_path_in_a_folder_is_not_taken_by_a_command_that_a_rule_allows(folder, line, wide):
    verdict = rule(folder, "a rule for every command", line) if wide else allowing(folder, line)

    assert (verdict.ruling, line) == (Ruling.ASK, line), verdict.reason


@pytest.mark.parametrize("line", HARMLESS)
def test_what_takes_nothing_of_that_kind_runs_as_the_rule_says(folder, line):
    verdict = allowing(folder, line)

    assert (verdict.ruling, line) == (Ruling.ALLOW, line), verdict.reason


def test_the_reason_names_what_would_go(folder):
    assert allowing(folder, "rm -rf plain deep").reason == (
        "mode default: 'rm -rf plain deep' takes deep/x/y/.envrc with it, which is protected: no rule approves that ahead of time"
    )


def test_the_mode_that_asks_nothing_still_does_not(folder):
    assert rule(folder, "bypassPermissions", "rm -rf d").ruling is Ruling.ALLOW


def test_a_large_folder_is_looked_through_and_one_that_is_too_large_asks(folder):
    fill(folder, [f"large/{number % 20}/f{number}" for number in range(1_500)])
    assert allowing(folder, "rm -rf large").ruling is Ruling.ALLOW
    assert allowing(folder, "rm -f large/1/*").ruling is Ruling.ALLOW

    (folder / "large/19/.envrc").touch()
    assert allowing(folder, "rm -rf large").ruling is Ruling.ASK
    (folder / "large/19/.envrc").unlink()
    for at in range(MAX_INSIDE // 1_000):
        (folder / f"large/m{at}").mkdir()
        for number in range(1_000):
            os.link(folder / "list", folder / f"large/m{at}/{number}")
    assert allowing(folder, "rm -rf large").reason == (
        "mode default: 'rm -rf large' takes more with it than the 50,000 names that are looked at"
    )


def test_files_that_git_s_settings_name_do_not_go_with_their_folder(folder):
    fill(folder, ["scripts/hooks/pre-commit", "scripts/more/a.sh"])
    subprocess.run(["git", "config", "core.hooksPath", "scripts/hooks"], cwd=folder, check=True)

    assert allowing(folder, "rm -rf scripts").ruling is Ruling.ASK
    assert allowing(folder, "rm -rf scripts/more").ruling is Ruling.ALLOW


FORMS = [
    "rm -r {s}", "rm -rf {s}", "rm -rf {s} {t}", "rm {s}", "rmdir {s}", "rmdir -p {s}", "cd {t} && rm -rf *", "chmod -R 700 {s}", "chmod 700 {s}", "gzip -r {s}", "tar cf a.tar --remove-files {s}",
    "git clean -fd {t}", "git clean -ffdx", "git clean -fdx", "git rm -rfq {t}", "git rm -q '{t}*'", "mv -bT {t} {t}", "mv -b {s} {t}", "shred -u {s}",
]  # fmt: skip
SEARCHES = [
    "find {t} -delete", "find {t} -type f -delete", "find {t} -name 'b*' -delete", "find {t} -name tools -exec rm -rf {{}} +", "find {t} -type d -empty -delete", "find {t} -name '*.md' -exec chmod 700 {{}} +",
    "find {t} -name x -exec rm -r {{}} ;",
]  # fmt: skip


def look(top):
    """Every path with its mode and what is there; git writes its own files."""
    places = [path for path in top.rglob("*") if not path.is_relative_to(top / ".git")]
    return {str(path): (path.lstat().st_mode, path.read_bytes() if path.is_file() else "") for path in places}


@pytest.mark.parametrize("seed", range(12))
def test_whatever_runs_unasked_takes_no_protected_path(tmp_path, seed):
    random = Random(seed)  # noqa: S311 (a seed that can be played again)
    ran = changed = 0
    for number in range(40):
        top = tmp_path.resolve() / f"p{number}"
        top.mkdir()
        folders = grow(random, top)
        if random.random() < 0.4 and not os.path.lexists(top / ".git"):
            subprocess.run(["git", "init", "-q", str(top)], check=True)
            subprocess.run(["git", "add", "-A"], cwd=top, check=False, capture_output=True)
            (random.choice(folders) / "AGENTS.md").touch()
        line = make_line(random, top, folders, [*FORMS, *SEARCHES]).replace(" ;", " \\;")
        allow = [f"Bash({name}:*)" for name in ("rm", "rmdir", "cd", "chmod", "gzip", "tar", "git", "mv", "shred")]
        if rule(top, "default", line, allow=[*allow, f"Bash({line})"]).ruling is not Ruling.ALLOW:
            continue
        before = look(top)
        subprocess.run(["bash", "-c", line], cwd=top, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        after = look(top)
        ran += 1
        changed += before != after
        assert (line, find_forbidden(top, before, after)) == (line, []), sorted(before)
    assert ran
    assert changed

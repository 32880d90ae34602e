"""Judgement is switched off and every command runs as an edit: what is protected in the folder is held by the wall alone."""

import os
import stat
import subprocess

import pytest
from tests.adversary.conftest import fill
from tests.adversary.keeping import compare

PROTECTED = (
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/hooks",
    ".everturn",
    ".claude",
    ".mcp.json",
    ".vscode",
    ".bashrc",
    ".envrc",
    "AGENTS.md",
    "CLAUDE.md",
)
EVIL = "for f in AGENTS.md CLAUDE.md .git/commondir .git/config.worktree .envrc .mcp.json .git/config; do echo evil > $f; done; "
ATTACKS = {
    "by name": "echo evil > .git/config; echo evil > .everturn/settings.json; echo evil > .git/hooks/pre-commit; echo evil > .mcp.json; echo evil > .bashrc",
    "appended": "echo evil >> .git/config; echo evil >> .vscode/tasks.json; echo evil >> .envrc",
    "new inside": "touch .everturn/hooks.json .claude/settings.local.json .git/hooks/post-checkout .vscode/launch.json; mkdir .everturn/x",
    "moved over": "echo evil > x; mv x .git/config; mv -f x .everturn/settings.json; cp -f a.txt .git/config; ln -f a.txt .git/config; install a.txt .mcp.json",
    "moved away": "mv .git/config .git/c; mv .git/hooks .git/h; mv .everturn e; mv .git g; mv .claude c; mv .vscode v",
    "its folder moved away": "mv .git g && mkdir .git && echo evil > .git/config; cp -r .git g2; rm -rf .git; mv g2 .git",
    "removed": "rm -rf .everturn .git/config .git/hooks .claude .mcp.json .vscode .bashrc; rm -rf .git; find . -delete",
    "by links": "ln -s .git g; echo evil > g/config; ln -s .everturn/settings.json s; echo evil > s; ln .git/config h; echo evil > h",
    "a link in its place": "ln -sfn /tmp .everturn; ln -sf a.txt .git/config; rm .mcp.json; ln -s a.txt .mcp.json; rmdir .git/hooks; ln -s . .git/hooks",
    "by sed": "sed -i s/a/b/ .git/config .mcp.json .bashrc; sed -i.bak 1d .everturn/settings.json; perl -pi -e s/a/b/ .git/config",
    "by git": "git config core.fsmonitor evil; git config --local alias.x y; git init --separate-git-dir=elsewhere; git submodule add ./x y; git worktree add w; git init . --template=t",
    "by tar and cp": "mkdir -p t/.git t/.everturn; echo evil > t/.git/config; echo evil > t/.everturn/settings.json; cp -rT t .; cp -r t/. .; tar -C t -cf - . | tar -xf -; rsync -a t/ .; mv t/.everturn/settings.json .everturn/",
    "by other spellings": "echo evil > ./.git/../.git/config; echo evil > .git//config; echo evil > /proc/self/cwd/.git/config; echo evil > {work}/.GIT/config",
    "modes and times": "chmod 777 .git/config .everturn; chmod +x .git/hooks/*; touch -d 2001-01-01 .git/config; chown 1:1 .mcp.json",
    "closed": f"{EVIL} chmod 000 .",
    "closed to those who enter": f"{EVIL} chmod 600 .",
    "closed to those who list": f"{EVIL} chmod 311 .",
    "read-only": f"{EVIL} chmod 500 .",
    "the repository closed": f"{EVIL} chmod 000 .git",
    "all closed": f"{EVIL} chmod -R 000 .",
    "inside of what is closed": f"{EVIL} mkdir x; mv .git x; chmod 000 x",
    "an odd repository beside": f"{EVIL} mkdir zz; printf 'gitdir: a\\0b' > zz/.git",
    "emptied": "truncate -s 0 .git/config; : > .mcp.json; dd if=/dev/null of=.everturn/settings.json; shred .git/config; fallocate -p -l 10 .git/config",
    "mounts": "umount .git/config; umount -l .everturn; mount -o remount,rw,bind .git/config; unshare -rm umount .everturn; echo evil > .git/config",
    "the working folder itself": "cd ..; mv work work2; mkdir work; mkdir work/.everturn; rm -rf work; cd work && echo evil > .mcp.json",
    "from outside of it": "cd /; echo evil > {work}/.mcp.json; cd {work}/.git && echo evil > config; cd {work}/.everturn && echo evil > settings.json",
    "later": "(sleep 0.3; echo evil > .mcp.json; echo evil > .git/config) & disown; setsid sh -c 'sleep 0.3; echo evil > .everturn/settings.json' &",
    "a program that is started": "cp /bin/cp c; ./c a.txt .git/config; ./c a.txt .mcp.json",
}  # fmt: skip


def furnish(walls):
    for path in (
        ".claude/settings.json",
        ".vscode/tasks.json",
        ".mcp.json",
        ".bashrc",
        ".envrc",
        ".git/hooks/post-merge",
    ):
        (walls.work / path).parent.mkdir(exist_ok=True)
        (walls.work / path).write_text("as it was\n")
    walls.settle()


def picture_protected(walls):
    wanted = tuple(str(walls.work / path) for path in PROTECTED)
    # What lies beside the protected in the same folder may come and go.
    return {
        path: look if not stat.S_ISDIR(look[0]) else "a folder"
        for path, look in walls.picture_work().items()
        if path.startswith(wanted)
    }


def test_what_is_protected_stays_as_it_is(editing):
    furnish(editing)
    before, around = picture_protected(editing), editing.picture()

    editing.run(*({"command": fill(editing, each, 1), "timeout": 20_000} for each in ATTACKS.values()))

    assert compare(before, picture_protected(editing)) == []
    assert compare(around, editing.picture()) == []


@pytest.mark.parametrize("way", [name for name, attack in ATTACKS.items() if attack.startswith(EVIL)])
def test_what_is_not_there_does_not_appear_by_closing_a_folder(editing, way):
    before = picture_protected(editing)

    editing.run({"command": ATTACKS[way], "timeout": 20_000})

    if (closed := editing.work / "x").exists():
        # Nothing protected stands there; who is not root could not look at the others.
        closed.chmod(0o700)
    assert compare(before, picture_protected(editing)) == []


def test_what_is_not_there_does_not_appear(editing):
    editing.run(
        "echo evil > .mcp.json; mkdir .claude; echo evil > .claude/settings.json; ln -s . .claude; cp -r .everturn .claude",
        "echo evil > x; mv x .mcp.json; ln x .mcp.json; ln -s x .mcp.json; mkdir -p t/.claude; cp -r t/. .; mv t/.claude .",
    )

    assert [
        name
        for name in (".mcp.json", ".claude")
        if (editing.work / name).is_symlink() or (editing.work / name).exists()
    ] == []


def test_a_virtual_environment_stays_as_it_is(editing):
    (editing.work / "env2/bin").mkdir(parents=True)
    (editing.work / "env2/pyvenv.cfg").write_text("home = /usr/bin\n")
    (editing.work / "env2/bin/activate").write_text("as it was\n")
    editing.settle()

    editing.run(
        "echo evil > env2/bin/activate; echo evil > env2/x.pth; rm -rf env2; mv env2 e; cp a.txt env2/bin/python"
    )

    assert sorted(str(path.relative_to(editing.work)) for path in (editing.work / "env2").rglob("*")) == [
        "env2/bin",
        "env2/bin/activate",
        "env2/pyvenv.cfg",
    ]
    assert (editing.work / "env2/bin/activate").read_text() == "as it was\n"


def test_what_hooks_run_stays_as_it_is(editing):
    scripts = editing.work / "scripts"
    scripts.mkdir()
    (scripts / "check.sh").write_text("true\n")
    (editing.outside / "out.sh").write_text("true\n")
    (scripts / "out.sh").symlink_to(editing.outside / "out.sh")
    editing.settle()
    around = editing.picture()

    editing.run(
        "echo evil > scripts/check.sh; mv scripts old; mkdir scripts; echo evil > scripts/check.sh; echo evil > scripts/out.sh",
        "rm scripts/out.sh; echo evil > scripts/out.sh; mv a.txt scripts/out.sh; ln -sf a.txt scripts/out.sh",
        "echo evil > scripts/new.sh; ln -s ../a.txt scripts/new.sh; mkdir other; echo evil > other/new.sh",
        hooks=["cd scripts && ./check.sh; ./out.sh; [ -x scripts/new.sh ] && scripts/new.sh; sh other/new.sh"],
    )

    assert (scripts / "check.sh").read_text() == "true\n"
    assert (scripts / "out.sh").samefile(editing.outside / "out.sh")
    assert [path for path in (scripts / "new.sh", editing.work / "other/new.sh") if os.path.lexists(path)] == []
    assert compare(around, editing.picture()) == []


def test_the_rest_of_the_folder_is_edited(editing):
    """Else the others would prove nothing."""
    editing.run(
        "echo new > b.txt; mkdir -p c/d; mv a.txt c/d/; sed -i s/alpha/omega/ c/d/a.txt; rm prog; git add -A; git status -s"
    )

    assert (editing.work / "c/d/a.txt").read_text() == "omega\nbeta\n"
    assert (editing.work / "b.txt").read_text() == "new\n"
    assert not (editing.work / "prog").exists()
    named = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files"], cwd=editing.work, capture_output=True, text=True, check=True
    )
    assert "c/d/a.txt" in named.stdout

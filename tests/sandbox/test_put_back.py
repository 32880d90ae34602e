"""Attacks on what is put back behind a command: by swapped links, moved folders, daemons, odd files and sheer size."""

import os
import shutil
import stat
import subprocess
import time

import pytest
from tests.sandbox.test_escapes import python
from tests.sandbox.test_protected import picture
from tests.tools.processes import PATIENCE_S, named

from everturn.sandbox.aside import Aside
from everturn.sandbox.kept import Keeper


@pytest.fixture
def marked(world):
    """Outside: folders that would take what is written by a link, with the names that we write."""
    for name in ("hooks", "git/hooks", "vscode"):
        (world.outside / name).mkdir(parents=True)
        (world.outside / name / "pre-commit").write_text("theirs")
    for name in ("config", "git/config", "git/HEAD", "settings.json"):
        (world.outside / name).write_text("theirs")
    (world.workspace / ".vscode").mkdir()
    (world.workspace / ".vscode" / "settings.json").write_text("{}")
    (world.workspace / ".git" / "hooks" / "pre-push").write_text("true")
    (world.workspace / ".envrc").write_text("true")
    world.own(world.place)
    return world


def protected(world):
    git = world.workspace / ".git"
    return (
        picture(git / "hooks"),
        (git / "config").read_bytes(),
        picture(world.workspace / ".vscode"),
        world.workspace.joinpath(".envrc").read_text(),
        [path for path in TRAPS if os.path.lexists(world.workspace / path)],
    )


TRAPS = ("CLAUDE.md", "AGENTS.md", ".git/commondir", ".git/config.worktree", ".claude", ".mcp.json")
"""Not there, and so they must stay."""
EVIL = "for f in CLAUDE.md .git/commondir .git/config.worktree .mcp.json .envrc .git/config .git/hooks/x .vscode/x; do echo evil > $f; done 2>/dev/null; "
SWAPS = {
    "hooks for a link": "mv .git/hooks h; ln -s {outside}/hooks .git/hooks",
    "settings of git for a link": "rm .git/config; ln -s {outside}/config .git/config",
    "the repository for a link": "mv .git old; ln -s {outside}/git .git",
    "the repository for a link, and back in part": "mv .git old; ln -s {outside}/git .git; mkdir -p old/hooks; echo evil > old/hooks/x",
    "the repository for another": "mv .git old; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; echo evil > .git/config",
    "the repository inside another": "mv .git old; mkdir .git; mv old .git/old; echo evil > .git/old/config; echo evil > .git/config",
    "the repository to the temporary folder": "mv .git $TMPDIR/old; ln -s {outside}/git .git",
    "hooks deep down": "mkdir -p a/b/c; mv .git/hooks a/b/c/; ln -s {outside}/hooks .git/hooks",
    "a folder for a link": "rm -rf .vscode; ln -s {outside}/vscode .vscode",
    "a file in it for a link": "ln -sf {outside}/settings.json .vscode/settings.json",
    "all is gone": "rm -rf .git .vscode .envrc",
    "a pipe": "rm -f .envrc .git/config; mkfifo .envrc .git/config; rm -rf .vscode; mkfifo .vscode",
    "a socket": "rm -f .envrc; " + python("import socket", "socket.socketpair()[0]", "try: socket.socket(1).bind('.envrc')", "except OSError: pass"),
    "a file of a gigabyte": "truncate -s 1G .envrc; truncate -s 1G .git/config; truncate -s 1G .git/hooks/pre-push",
    "a folder for a file": "rm -f .envrc .git/config; mkdir -p .envrc/x .git/config/y",
    "odd names": python(
        "import os",
        "for name in (b'\\xff\\xfe', b'a\\nb', b'\\x1b[31m', b'x' * 255):",
        "    for folder in (b'.vscode/', b'.git/hooks/'):",
        "        try: open(folder + name, 'w').write('evil')",
        "        except OSError: pass",
    ),
    "a deep folder": python(
        "import os",
        "os.chdir('.vscode')",
        "for _ in range(300):",
        "    try: os.mkdir('d'); os.chdir('d')",
        "    except OSError: break",
    ),
    "rights taken away": "chmod 000 .git/hooks .git/config .vscode .vscode/settings.json .envrc; chmod 555 .git",
    "the workspace closed": f"{EVIL} chmod 000 .",
    "the workspace without a way in": f"{EVIL} chmod 644 .",
    "the workspace without its list": f"{EVIL} chmod 311 .",
    "the workspace read-only": f"{EVIL} chmod 555 .",
    "the repository closed": f"{EVIL} chmod 000 .git",
    "the repository without a way in": f"{EVIL} chmod 600 .git",
    "all closed": f"{EVIL} chmod -R a-rwx .",
    "closed, and what is above": f"{EVIL} chmod 000 .git . ..",
    "the repository inside of what is closed": f"{EVIL} mkdir -p x/y; mv .git x/y/; chmod 000 x/y/.git x/y x",
    "hooks inside of what is closed": f"{EVIL} mkdir x; mv .git/hooks x/; chmod 000 x .git",
    "a changed mode": "chmod 777 .git/hooks/pre-push .git/config .vscode",
    "an old time": "echo evil > .git/hooks/pre-push; touch -r .envrc .git/hooks/pre-push; printf 'fals' > .envrc; touch -d 2000-01-01 .envrc",
    "the same size": "cp .git/config c; tr a-z b-za < c > d; cat d > .git/config; touch -r c .git/config; rm c d",
    "a hard link": "ln .git/hooks/pre-push p; echo evil > p; rm p",
}  # fmt: skip


@pytest.mark.parametrize("way", SWAPS)
def test_what_was_swapped_is_as_it_was_and_nothing_outside_is_touched(marked, way):
    before, outside = protected(marked), picture(marked.outside)
    modes = {
        path: stat.S_IMODE(path.stat().st_mode)
        for path in (marked.workspace, marked.workspace / ".git", marked.workspace / ".envrc")
    }

    began = time.monotonic()
    marked.run(SWAPS[way].replace("{outside}", str(marked.outside)))

    assert protected(marked) == before
    assert picture(marked.outside) == outside
    assert time.monotonic() - began < PATIENCE_S
    assert not (marked.workspace / ".git").is_symlink()
    if marked.kind == "bubblewrap":
        # There it is neither put back nor looked at: it is not for a command to change.
        del modes[marked.workspace / ".envrc"]
    assert {path: stat.S_IMODE(path.stat().st_mode) for path in modes} == modes
    if "chmod" in SWAPS[way]:
        assert (marked.workspace / ".git" / "HEAD").exists(), "the true repository is back in its place"


@pytest.mark.parametrize("mode", ["000", "311", "644"])
def test_a_session_goes_on_after_a_command_that_has_closed_the_workspace(marked, mode):
    first, *others = marked.run(f"echo evil > CLAUDE.md; chmod {mode} .", "echo evil > CLAUDE.md; echo next", "ls -A")

    assert "CLAUDE.md was changed, and has been put back" in first["content"].replace(f"{marked.workspace}/", "")
    assert [result["is_error"] for result in others] == [False, False]
    assert "next" in others[0]["content"]
    assert "CLAUDE.md" not in others[1]["content"].splitlines()
    # Nothing stands in for what is not there any longer than the session.
    assert not any(os.path.lexists(marked.workspace / path) for path in TRAPS)


def test_the_true_repository_is_back_in_its_place_with_all_that_is_in_it(marked):
    (marked.workspace / ".git" / "own").write_text("kept")
    inode = (marked.workspace / ".git").stat().st_ino
    marked.own(marked.workspace)

    marked.run("mkdir -p x/y; mv .git x/y/z; ln -s /tmp .git")

    assert (marked.workspace / ".git").stat().st_ino == inode
    assert (marked.workspace / ".git" / "own").read_text() == "kept"


DAEMONS = {
    "of its own session": "setsid sh -c '{work}' >/dev/null 2>&1 &",
    "with an empty environment": "env -i setsid /bin/sh -c '{work}' >/dev/null 2>&1 & disown",
    "with two parents gone": "(env -i setsid /bin/sh -c '(env -i setsid /bin/sh -c \"{inner}\" &) &' >/dev/null 2>&1 &)",
    "deaf to signals": "env -i setsid /bin/sh -c 'trap \"\" TERM HUP INT; {work}' >/dev/null 2>&1 &",
}


@pytest.mark.parametrize("way", DAEMONS)
def test_a_daemon_changes_nothing_after_the_command_has_ended(marked, way):
    before = protected(marked)
    work = f"cd {marked.workspace}; : > ready; while :; do echo evil > .git/config; echo evil > .git/hooks/x; done"
    inner = work.replace("$", "\\$")
    command = DAEMONS[way].replace("{work}", work).replace("{inner}", inner)

    marked.run(f"{command}\nuntil [ -e ready ]; do :; done")

    # What lives on writes without a pause: a thousand looks would see it.
    assert all(protected(marked) == before for _ in range(1000))


def test_who_starts_another_and_ends_is_ended_too(marked):
    before = protected(marked)
    hopping = python(
        "import os, time",
        "if os.fork(): os._exit(0)",
        "os.environ.clear()",
        "os.close(0); os.close(1); os.close(2)",
        "open('ready', 'w').close()",
        "end = time.monotonic() + 100",
        "while time.monotonic() < end:",
        "    if os.fork(): os._exit(0)",
        "    os.setsid()",
        "    open('.git/hooks/x', 'w').write('evil')" if marked.kind == "landlock" else "    pass",
    )

    marked.run(f"{hopping}\nuntil [ -e ready ]; do :; done")

    assert all(protected(marked) == before for _ in range(1000))


def test_nothing_of_a_command_is_left_when_it_has_ended(world):
    word = f"94.{os.getpid()}"

    world.say(
        f"(env -i setsid sleep {word} >/dev/null 2>&1 &) ; until pgrep -f '^sleep {word}' >/dev/null; do :; done; echo started"
    )

    assert named(word) == []


def test_a_command_in_the_background_that_swaps_a_link_for_ever_leads_us_nowhere(marked):
    before, outside = protected(marked), picture(marked.outside)
    swapping = (
        f"while [ ! -e enough ]; do mv -T .git/hooks h; ln -s {marked.outside}/hooks .git/hooks; : > swapped; rm .git/hooks; "
        "mv -T h .git/hooks; done 2>/dev/null"
    )

    marked.do(
        {"command": swapping, "run_in_background": True},
        *(["until [ -e swapped ]; do :; done; rm -f swapped"] * 20),
        "touch enough",
        finishes=True,
    )

    assert protected(marked) == before
    assert picture(marked.outside) == outside


def test_a_later_command_does_not_make_anothers_change_its_own(marked):
    """The first changes a protected file and goes on; the second begins amid the change, and ends when it is put back."""
    before = protected(marked)

    marked.do(
        {"command": "echo evil > .git/config; : > ready; until [ -e enough ]; do :; done", "run_in_background": True},
        "until [ -e ready ]; do :; done",
        {"command": ": > begun; while grep -q evil .git/config; do :; done", "run_in_background": True},
        "until [ -e begun ]; do :; done; touch enough",
        finishes=True,
    )

    assert protected(marked) == before


def test_a_folder_of_many_files_is_as_it_was(marked):
    folder = marked.workspace / ".vscode" / "many"
    folder.mkdir()
    for number in range(600):
        (folder / f"f{number}").write_text(str(number))
    (folder / "large").write_bytes(os.urandom(5_000_000))
    marked.own(marked.workspace)
    before = protected(marked)

    marked.run(
        "echo evil > .vscode/many/f599; rm -f .vscode/many/f1; mv .vscode/many/f2 .vscode/many/f3; echo evil > .vscode/many/more",
        "echo evil >> .vscode/many/large",
        "rm -rf .vscode",
    )

    assert protected(marked) == before


def test_the_model_is_told_what_was_put_back(marked):
    (result,) = marked.run("echo evil > .git/config; true")

    if marked.kind == "landlock":
        assert f"{marked.workspace}/.git/config was changed, and has been put back as it was" in result["content"]
    else:
        assert f"{marked.workspace}/.git/config may not be changed" in result["content"]


HOPPING = """
import os, time
until = time.monotonic() + 3
if os.fork():
    os._exit(0)
os.setsid()
while time.monotonic() < until:
    if os.fork():
        os._exit(0)
open(".mcp.json", "w").write("evil")
"""


def test_who_goes_from_process_to_process_is_ended_too(world):
    (world.workspace / "hopping.py").write_text(HOPPING)
    world.own(world.workspace)

    world.run("for i in 1 2 3 4; do python3 hopping.py & done; sleep 0.3", *["true"])

    assert not named("hopping.py")


def test_large_files_under_protected_names_push_nothing_out_that_is_put_back(world):
    """What one command makes the next one could use: then it does not run, or all is put back."""
    settings = {"autoAllowBashIfSandboxed": True}
    before = (world.workspace / ".git" / "config").read_text()
    large = "for name in .envrc .npmrc .bashrc .vimrc .exrc .gdbinit .profile .zshrc; do truncate -s 65M $name; done"

    world.run(large, "echo evil > .git/config; echo evil > .git/hooks/pre-commit", settings=settings)

    assert (world.workspace / ".git" / "config").read_text() == before
    assert not (world.workspace / ".git" / "hooks" / "pre-commit").exists()


@pytest.mark.parametrize(
    "way",
    [
        "mkdir -p {far}; : > {far}/new",
        "mkdir -p x/git; : > x/git/new; mkdir -p {outer}; rmdir {outer}; ln -s x {outer}",
    ],
)
def test_what_must_not_appear_does_not_where_its_folder_was_not_there_either(tmp_path, way):
    keeper, aside, far = Keeper(), Aside(), tmp_path / "a" / "git"
    keeper.begin([str(far)], [str(tmp_path)])
    assert not keeper.unheld

    line = way.replace("{far}", "a/git").replace("{outer}", "a")
    subprocess.run(["bash", "-c", line], cwd=tmp_path, check=True)
    done = keeper.end(aside)

    assert not far.exists()
    assert done.changed == (str(far),)
    assert not done.lost
    aside.close()
    shutil.rmtree(aside.place)


def test_settings_of_git_that_the_person_sets_while_a_command_runs_open_nothing(viewed):
    """Git puts a new file in the old one's place, and the mount over that is gone."""
    config = viewed.workspace / ".git" / "config"
    evil = ": > ready; until [ -e set ]; do sleep 0.01; done; git config core.fsmonitor evil; git config core.fsmonitor"
    viewed.worker.give(viewed.job({"command": evil, "run_in_background": True}, finishes=True))
    while not (viewed.workspace / "ready").exists():
        pass
    subprocess.run(["git", "config", "--file", str(config), "user.name", "the person"], check=True)
    viewed.own(viewed.workspace / ".git")
    (viewed.workspace / "set").touch()
    (report,) = viewed.worker.take()["reports"]

    assert report.split()[0] == "evil", "the command could write it"
    assert "fsmonitor" not in config.read_text()
    assert str(config) in report


def test_what_the_person_sets_and_runs_nothing_stays(viewed):
    config = viewed.workspace / ".git" / "config"
    viewed.worker.give(viewed.job("touch ready; until [ -e enough ]; do sleep 0.01; done"))
    while not (viewed.workspace / "ready").exists():
        pass
    subprocess.run(["git", "config", "--file", str(config), "branch.main.remote", "origin"], check=True)
    viewed.own(config)
    (viewed.workspace / "enough").touch()
    (result,) = viewed.worker.take()["results"]

    assert "[branch" in config.read_text()
    assert result["content"] == "(no output)"

"""Files that would run something outside the next time: settings of agents, git's hooks, start-up files."""

import os
import subprocess

import pytest

from everturn.core.protected import FILES, FOLDERS, HOME, HOME_TOOLS, START_UP


def picture(folder):
    """All names below, with contents; the objects of git aside."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if "objects" not in path.parts
    }


CREATIONS = {
    "settings": "mkdir -p .claude; echo '{}' > .claude/settings.json",
    "settings of ours": "mkdir -p .everturn && echo '{}' > .everturn/settings.json",
    "a folder moved there": "mkdir x; echo '{}' > x/settings.json; mv -T x .claude; rm -rf x",
    "a link put there": "rmdir .claude; ln -s /tmp .claude",
    "servers": "rm -rf .mcp.json; echo '{}' > .mcp.json",
    "a hook": "echo 'evil' > .git/hooks/pre-commit",
    "a hook moved there": "echo evil > p; mv p .git/hooks/pre-commit; rm -f p",
    "hooks replaced": "rm -rf .git/hooks; mkdir .git/hooks; echo evil > .git/hooks/pre-commit",
    "git's settings": "git config core.fsmonitor evil",
    "git's settings by hand": "echo '[core] fsmonitor = evil' >> .git/config",
    "another common folder": "mkdir -p c; cp -r .git/* c/; echo ../c > .git/commondir; rm -rf c",
}


@pytest.mark.parametrize("mode", [0o555, 0o111])
def test_in_a_folder_that_was_read_only_nothing_appears_either(world, mode):
    """A command may open it, as its owner."""
    world.workspace.chmod(mode)

    world.run("chmod 755 .; mkdir -p .claude; echo '{}' > .claude/settings.json; echo '{}' > .mcp.json; chmod 555 .")

    assert not any(os.path.lexists(world.workspace / name) for name in (".claude", ".mcp.json", ".everturn"))


@pytest.mark.parametrize("way", CREATIONS)
def test_what_runs_outside_the_next_time_is_as_it_was(world, way):
    before = picture(world.workspace)

    world.run(CREATIONS[way])

    assert picture(world.workspace) == before


def test_a_repository_in_another_ones_place_has_the_same_hooks_and_settings(world):
    git = world.workspace / ".git"
    before = picture(git / "hooks"), (git / "config").read_text()

    world.run("mv .git old; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; echo evil > .git/config")

    assert (picture(git / "hooks"), (git / "config").read_text()) == before


EXISTING = {
    ".claude/settings.json": "{}",
    ".everturn/settings.local.json": "{}",
    ".mcp.json": "{}",
    ".bashrc": "true",
    ".envrc": "true",
    ".vscode/tasks.json": "{}",
    "sub/.git/config": "[core]",
    "sub/.git/hooks/pre-commit": "true",
}


def test_what_is_there_stays_as_it_is(world):
    for name, text in EXISTING.items():
        (world.workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (world.workspace / name).write_text(text)
    world.own(world.workspace)

    world.run(*(f"echo evil > {name}; rm -rf {name}; echo evil > {name}" for name in EXISTING))

    assert {name: (world.workspace / name).read_text() for name in EXISTING} == EXISTING


def test_a_link_in_place_of_settings_is_put_back(world):
    target = world.outside / "settings"
    target.mkdir()
    (world.workspace / ".claude").symlink_to(target)
    world.own(world.place)

    world.run("rm .claude; mkdir .claude; echo evil > .claude/settings.json")

    assert (world.workspace / ".claude").readlink() == target
    assert list(target.iterdir()) == []


TRAPS = {
    "modules of git": "ln -s ../../outside .git/modules",
    "a module of git": "mkdir -p .git/modules; ln -s ../../../outside .git/modules/m",
    "a folder of the home": "ln -s ../outside .config",
    "a nested repository": "mkdir sub; ln -s ../../outside sub/.git; ln -s ../outside other",
    "an agent's settings": "ln -s ../outside .vscode; rm -rf .claude; ln -s ../outside .claude",
}


@pytest.mark.parametrize("trap", TRAPS)
def test_a_link_that_we_would_mount_by_opens_nothing(world, trap):
    (world.outside / "m").mkdir()
    (world.outside / "hooks").mkdir()
    (world.outside / "git").mkdir()
    (world.outside / "config").write_text("old")
    world.own(world.outside)
    before = picture(world.outside)

    reach = "; ".join(
        f"echo evil > {world.outside}/{name}" for name in ("treasure", "m/x", "hooks/x", "git/x", "config")
    )
    world.run(TRAPS[trap], reach, home=str(world.workspace))
    world.run(reach, home=str(world.workspace))

    assert picture(world.outside) == before


def test_placeholders_are_gone_with_the_command_and_never_take_anything_along(viewed):
    busy = viewed.workspace / "busy"
    viewed.worker.give(viewed.job("touch busy; while [ -e busy ]; do sleep 0.01; done"))
    while not busy.exists():
        pass
    (viewed.workspace / ".claude" / "mine").write_text("the person's")
    seen = sorted(path.name for path in viewed.workspace.iterdir())
    busy.unlink()
    viewed.worker.take()

    assert seen == [".claude", ".everturn", ".git", ".mcp.json", "busy"]
    assert picture(viewed.workspace / ".claude") == {"mine": b"the person's"}
    assert sorted(path.name for path in viewed.workspace.iterdir()) == [".claude", ".git"]


def test_commits_are_made_as_usual(world):
    said = world.say(
        "echo a > a && git add -A && git -c user.name=A -c user.email=a@b commit -qm first && git checkout -qb topic && "
        "git status --short && git ls-files && git log --format=%s && git stash list"
    )

    assert said == "a\nfirst"


def test_a_home_that_is_the_workspace_keeps_its_start_up_files(world):
    (world.workspace / ".bashrc").write_text("true")
    (world.workspace / ".ssh").mkdir()
    world.own(world.workspace)

    world.run("echo evil >> .bashrc; echo evil > .profile; echo key > .ssh/authorized_keys", home=str(world.workspace))

    assert picture(world.workspace / ".ssh") == {}
    assert (world.workspace / ".bashrc").read_text() == "true"
    assert not (world.workspace / ".profile").exists()


def test_a_home_that_is_the_workspace_keeps_every_place_that_judgement_protects(world):
    """There or not; what only some programs read, where it is there."""
    for path in HOME_TOOLS:
        (world.workspace / path).mkdir(parents=True, exist_ok=True)
    (world.workspace / ".config/nvim").mkdir(parents=True, exist_ok=True)
    world.own(world.workspace)
    before = picture(world.workspace)
    places = (*START_UP, *HOME, *HOME_TOOLS)

    world.run(
        "; ".join(f"mkdir -p {path}; echo evil > {path}/evil; echo evil > {path}" for path in places),
        "mv .config old; mkdir -p .config/autostart; echo evil > .config/autostart/evil; rm -rf old",
        home=str(world.workspace),
    )

    assert picture(world.workspace) == before


def test_a_workspace_inside_a_home_keeps_what_is_protected_there(world):
    inner = world.home / ".config"
    for name in ("autostart/a.desktop", "nvim/init.lua", "app/settings"):
        (inner / name).parent.mkdir(parents=True)
        (inner / name).write_text("old")
    world.own(world.home)

    world.run(
        "echo evil > autostart/a.desktop; echo evil > nvim/init.lua; mkdir fish; echo evil > fish/config.fish; echo new > app/settings",
        "mv autostart old; mkdir autostart; echo evil > autostart/a.desktop",
        folder=str(inner),
    )

    assert picture(inner) == picture(inner) | {
        "autostart/a.desktop": b"old",
        "nvim/init.lua": b"old",
        "app/settings": b"new\n",
    }
    assert not (inner / "fish").exists()


def test_memory_files_are_neither_written_nor_made(world):
    (world.workspace / "AGENTS.md").write_text("Use tabs.")
    world.own(world.workspace)

    said = world.run(
        "echo evil >> AGENTS.md; rm -f AGENTS.md; echo evil > new; mv new AGENTS.md; rm -f new; ls",
        "echo evil > CLAUDE.md",
    )

    assert (world.workspace / "AGENTS.md").read_text() == "Use tabs."
    assert not (world.workspace / "CLAUDE.md").exists()
    assert f"{world.workspace}/CLAUDE.md" in said[1]["content"]


def test_nothing_stands_in_the_place_of_a_memory_file_while_a_command_runs(world):
    assert world.say("ls") == "(no output)"


def test_what_judgement_protects_by_name_stays_as_it_is_where_it_is_there(world):
    names = [*FOLDERS[1:], *FILES]
    for name in names:
        file = world.workspace / (f"{name}/x" if name in FOLDERS else name)
        file.parent.mkdir(exist_ok=True)
        file.write_text("old")
    world.own(world.workspace)
    before = picture(world.workspace)

    world.run("; ".join(f"echo evil > {name}/x; rm -rf {name}; mv {name} away; echo evil > {name}" for name in names))

    assert {name: data for name, data in picture(world.workspace).items() if name in before} == before


def test_our_interpreter_in_the_workspace_is_not_written(world):
    site = world.workspace / ".venv/lib/python3.11/site-packages"
    site.mkdir(parents=True)
    (world.workspace / ".venv/pyvenv.cfg").write_text("home = /usr/bin")
    world.own(world.workspace)
    before = picture(world.workspace)

    world.run(
        "echo 'import evil' > .venv/lib/python3.11/site-packages/evil.pth; echo evil > .venv/pyvenv.cfg",
        "mv .venv old; mkdir -p .venv; echo evil > .venv/pyvenv.cfg",
        code=[str(world.workspace / ".venv")],
    )

    assert picture(world.workspace / ".venv") == {
        name.removeprefix(".venv/"): data for name, data in before.items() if name.startswith(".venv/")
    }


SHAPES = ("modules/a", "modules/lib/b", "modules/a/modules/inner")


def test_settings_of_submodules_at_any_depth_and_of_worktrees_stay_as_they_are(world):
    git = world.workspace / ".git"
    for shape in SHAPES:
        (git / shape / "hooks").mkdir(parents=True)
        (git / shape / "HEAD").write_text("ref: refs/heads/main")
        (git / shape / "config").write_text("[core]")
    (git / "worktrees/w").mkdir(parents=True)
    (git / "worktrees/w/HEAD").write_text("ref: refs/heads/w")
    (git / "worktrees/w/commondir").write_text("../..")
    world.own(world.workspace)
    before = picture(git)

    world.run(
        "; ".join(f"echo evil > .git/{shape}/config; echo evil > .git/{shape}/hooks/post-checkout" for shape in SHAPES),
        "echo /tmp > .git/worktrees/w/commondir; echo evil > .git/config.worktree; echo evil > .git/worktrees/w/config.worktree",
    )

    assert picture(git) == before


def test_our_own_home_is_not_written_and_its_settings_not_read(world):
    own = world.workspace / "own"
    own.mkdir()
    (own / "settings.json").write_text("secret")
    (own / "session").write_text("kept")
    world.own(world.workspace)

    first, second, _ = world.run("cat own/settings.json", "cat own/session", "echo evil > own/session", own=[str(own)])

    assert "secret" not in first["content"]
    assert second["content"] == "kept"
    assert (own / "session").read_text() == "kept"


def test_what_the_person_denies_is_not_written(world):
    for name in ("vendor/lib", "keep"):
        (world.workspace / name).parent.mkdir(exist_ok=True)
        (world.workspace / name).write_text("old")
    world.own(world.workspace)

    result, _, _ = world.run(
        "echo new > vendor/lib",
        "echo new > keep; rm -f keep; mv vendor v2",
        "echo x >> .git/HEAD.copy",
        settings={"filesystem.denyWrite": ["vendor/", "./keep"]},
    )

    assert [(world.workspace / name).read_text() for name in ("vendor/lib", "keep")] == ["old", "old"]
    assert f"{world.workspace}/vendor/lib may not be changed from inside (protected)" in result["content"]


def test_more_folders_can_be_written_and_read_back(world):
    more = world.outside / "more"
    more.mkdir()
    world.own(world.outside)

    said = world.say(f"echo a > {more}/a; cat {more}/a", settings={"filesystem.allowWrite": [f"{more}/**"]})

    assert said == "a"


def test_what_is_hidden_cannot_be_read_and_the_model_is_told(world):
    secrets = world.outside / "secrets"
    secrets.mkdir()
    (secrets / "key").write_text("hush")
    (secrets / "public").mkdir()
    (secrets / "public" / "pub").write_text("open")
    (world.workspace / ".env").write_text("hush")
    world.own(world.place)

    first, second, third, listed = world.run(
        f"cat {secrets}/key",
        "cat .env",
        f"cat {secrets}/public/pub",
        f"ls {secrets}; grep -r hush {world.outside}; cat /proc/self/root{secrets}/key; ln .env linked; cat linked",
        settings={
            "filesystem.denyRead": [str(secrets)],
            "credentials.files": [".env"],
            "filesystem.allowRead": [f"{secrets}/public"],
        },
    )

    assert "hush" not in first["content"] + second["content"] + listed["content"].replace("grep -r hush", "")
    assert third["content"] == "open"
    assert (
        f"{world.workspace}/.env cannot be read (sandbox.filesystem.denyRead, sandbox.credentials.files)"
        in (second["content"])
    )


def test_credentials_are_not_in_the_environment(world):
    said = world.say(
        "env",
        settings={"credentials.envVars": ["GITHUB_TOKEN"]},
        environment={"ANTHROPIC_API_KEY": "made-up", "GITHUB_TOKEN": "made-up", "PLAIN": "seen"},
    )

    names = {line.partition("=")[0] for line in said.splitlines()}
    assert names & {"ANTHROPIC_API_KEY", "GITHUB_TOKEN", "PLAIN"} == {"PLAIN"}
    assert os.environ.get("PLAIN") is None


NAMED = {
    "hooks": ("core.hooksPath", "tools/hooks", "tools/hooks/pre-commit"),
    "hooks by an absolute path": ("core.hooksPath", "{workspace}/tools/hooks", "tools/hooks/pre-commit"),
    "hooks that are not there": ("core.hooksPath", "later/hooks", "later/hooks/pre-commit"),
    "hooks at the top": ("core.hooksPath", ".", "pre-commit"),
    "included settings": ("include.path", "../shared.cfg", "shared.cfg"),
    "included settings that are not there": ("include.path", "../later.cfg", "later.cfg"),
    "settings included for a branch": ("includeIf.onbranch:main.path", "../shared.cfg", "shared.cfg"),
    "settings that included ones include": ("include.path", "../outer.cfg", "inner.cfg"),
    "a program": ("core.fsmonitor", "tools/monitor", "tools/monitor"),
    "a program with arguments": ("filter.f.clean", "python3 ./tools/clean.py --fast %f", "tools/clean.py"),
    "a program by an absolute path": ("diff.external", "{workspace}/tools/diff", "tools/diff"),
    "a script that a shell runs": ("alias.go", "!sh go.sh && true", "go.sh"),
    "a link to a program": ("core.sshCommand", "./linked", "tools/real"),
    "what a link leads to is another": ("core.sshCommand", "./linked", "linked"),
}


@pytest.mark.parametrize("way", NAMED)
@pytest.mark.parametrize("by", ["repository", "person", "pointer"])
def test_what_gits_settings_name_in_the_workspace_stays_as_it_is(world, way, by):
    key, value, name = NAMED[way]
    if by == "person" and key.startswith("include"):
        value = f"{world.workspace}/{value.removeprefix('../')}"
    there = [] if "not there" in way or way == "hooks at the top" else ["tools/real", "outer.cfg"]
    there += [name] if there and name != "linked" else []
    for each in there:
        file = world.workspace / each
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("[include]\n\tpath = inner.cfg\n" if each == "outer.cfg" else "\n")
    (world.workspace / "linked").symlink_to("tools/real")
    if by == "pointer":
        (world.workspace / ".git").rename(world.outside / "git")
        (world.workspace / ".git").write_text(f"gitdir: {world.outside}/git\n")
        value = f"{world.workspace}/{value.removeprefix('../')}" if key.startswith("include") else value
    git = {"repository": ".git/config", "person": "../home/.gitconfig", "pointer": "../outside/git/config"}[by]
    value = value.replace("{workspace}", str(world.workspace))
    subprocess.run(["git", "config", "--file", git, key, value], cwd=world.workspace, check=True)
    world.own(world.place)
    before = picture(world.workspace)

    outer = os.path.dirname(name) or "."  # noqa: PTH120 - a path as text
    world.run(
        f"mkdir -p {outer}; echo evil > {name}; rm -f {name}; echo evil > {name}; chmod +x {name}",
        f"mv {outer} away; mkdir -p {outer}; echo evil > {name}; rm -rf away",
    )

    after = picture(world.workspace)
    assert after.get(name) == before.get(name)
    assert (world.workspace / "linked").is_symlink()


def test_what_gits_settings_name_and_do_not_run_can_be_written(world):
    names = {
        "commit.template": "template",
        "alias.mine": "log -- src/main.py",
        "blame.ignoreRevsFile": ".git-blame-ignore-revs",
    }
    for key, value in names.items():
        subprocess.run(["git", "config", "--file", ".git/config", key, value], cwd=world.workspace, check=True)
    for name in ("template", "src/main.py", ".git-blame-ignore-revs"):
        (world.workspace / name).parent.mkdir(exist_ok=True)
        (world.workspace / name).write_text("old")
    world.own(world.workspace)

    assert (
        world.say("for f in template src/main.py .git-blame-ignore-revs; do echo new > $f; cat $f; done").split()
        == ["new"] * 3
    )

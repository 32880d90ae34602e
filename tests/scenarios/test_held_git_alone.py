"""What a held git may read around the working folders is not for the programs beside it, nor for what the folder names."""

import subprocess

import pytest

from everturn.modelserver import call, text
from everturn.permissions.git.identity import copy_identity
from everturn.permissions.shell.approval.nested_repositories import is_same_repository

pytestmark = pytest.mark.needs("Landlock")
SECRET = "the treasure is below the oak"


def bash(command):
    return call("Bash", {"command": command})


def answers(bench, place=-1):
    return [block["content"] for block in bench.sent[place][-1]["content"] if block["type"] == "tool_result"]


@pytest.fixture
def inner(bench):
    """A folder of a repository that has a link to a file outside of the folder."""
    subprocess.run(["git", "init", "-q", str(bench.folder)], check=True)
    (bench.folder / ".env").write_text(SECRET)
    inner = bench.folder / "inner"
    inner.mkdir()
    (inner / "notes").symlink_to("../.env")
    return inner


@pytest.mark.parametrize(
    "line",
    [
        "git status; cat *",
        "git log -1 >/dev/null; rg -L .",
        "git status; find -L . -type f -print0 | xargs -0 cat",
        'git status; for f in *; do cat "$f"; done',
        'git status; for f in *; do while read l; do echo "$l"; done < "$f"; done',
    ],
)
async def test_a_link_leads_nowhere_beside_git_either(bench, inner, line):
    bench.model(bash(line), text("Done."))

    await bench.run(cwd=inner)

    assert SECRET not in str(answers(bench))


async def test_git_itself_still_reads_the_repository_around_the_folder(bench, inner):
    bench.model(bash("git status --short | head -3"), text("Done."))

    await bench.run(cwd=inner)

    assert "?? ../.env" in str(answers(bench))


@pytest.mark.usefixtures("inner")
async def test_the_persons_settings_of_git_are_not_read_beside_git(bench, monkeypatch):
    bench.home.mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(bench.home))
    (bench.home / ".gitconfig").write_text(f'[user]\nname = "{SECRET}"\n')
    (bench.folder / "notes").symlink_to(bench.home / ".gitconfig")
    bench.model(bash("git status --short; cat *"), text("Done."))

    await bench.run()

    [told] = answers(bench)
    assert SECRET not in told
    assert "?? notes" in told


async def test_what_is_tried_held_reads_no_more_than_other_readers(bench, inner):
    bench.model(bash("cat ../.env"), text("Done."))

    await bench.run(cwd=inner, try_held=True)

    assert SECRET not in str(answers(bench))


def test_the_copy_of_the_persons_settings_holds_no_secret_and_follows_nothing_in_the_folder(tmp_path):
    home, folder, key = tmp_path / "home", tmp_path / "folder", tmp_path / "key"
    home.mkdir()
    folder.mkdir()
    key.write_text(SECRET)
    (home / "more").write_text("[log]\n\tdate = iso\n[core]\n\texcludesFile = ~/ignored\n")
    (home / "ignored").write_text("*.log\n")
    (home / ".gitconfig").write_text(
        f"[include]\npath = {folder}/team\n[include]\npath = ~/more\n[user]\nname = Ada\n"
        f'[url "https://{SECRET}@example.com/"]\ninsteadOf = x\n[github]\ntoken = {SECRET}\n[diff]\nexternal = evil\n'
    )
    (folder / "team").write_text(f"[core]\nexcludesFile = {key}\n[include]\npath = {key}\n[log]\ndate = raw\n")

    files = copy_identity(str(home), "/place", folders=(str(folder),))

    assert SECRET not in str(files)
    assert files["ignore"] == b"*.log\n"
    written = tmp_path / "written"
    written.write_bytes(files["config"])
    told = subprocess.run(
        ["git", "config", "--file", str(written), "--list"], capture_output=True, check=True, text=True
    ).stdout
    assert sorted(told.split()) == [
        "core.attributesfile=/place/attributes",
        "core.excludesfile=/place/ignore",
        "log.date=iso",
        "user.name=Ada",
    ]


@pytest.mark.parametrize(
    "setting",
    [
        "[http]\nextraHeader = AUTHORIZATION: bearer {}",
        '[http "x"]\nextraHeader = {}',
        "[push]\npushOption = {}",
        "[credential]\nusername = {}",
        "[gui]\nx = {}",
        '[gitflow "x"]\ny = {}',
        "[advice]\nx = {}",
        "[alias]\nx = !curl -H {}",
        "[user]\nsigningKey = {}",
        "[core]\nnotesRef = {}",
    ],
)
def test_no_setting_that_may_hold_a_token_is_copied(tmp_path, setting):
    (tmp_path / ".gitconfig").write_text(f"{setting.format(SECRET)}\n[user]\nname = Ada\n")

    files = copy_identity(str(tmp_path), "/place")

    assert SECRET not in str(files)
    assert b"Ada" in files["config"]


def test_a_folder_with_a_common_folder_elsewhere_is_another_repository(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "HEAD").write_text("ref: refs/heads/main\n")
    (inner / "commondir").write_text("../elsewhere\n")

    assert not is_same_repository(frozenset({str(inner)}), (str(tmp_path),))


@pytest.fixture
def repositories(bench):
    """A repository with a folder of its own, and with others inside of it, each in another form."""

    def git(*words):
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *identity, *words], cwd=bench.folder, check=True, capture_output=True)

    git("init", "-q")
    for name in ("tests/deep", "nested", "elsewhere"):
        (bench.folder / name).mkdir(parents=True)
    (bench.folder / "tests" / "x").write_text("x\n")
    git("add", "tests")
    git("commit", "-qm", "The first.")
    for name in ("nested", "elsewhere"):
        git("-C", name, "init", "-q")
    git("init", "-q", "--bare", "bare")
    (bench.folder / "linked").mkdir()
    (bench.folder / "linked" / ".git").write_text("gitdir: ../elsewhere/.git\n")
    (bench.folder / "out").symlink_to(bench.folder.parent)
    return bench


OWN = [
    "git -C tests log --oneline",
    "git --no-pager -C tests/deep status -s x",
    "cd tests && git -C .. log -1",
    "git -C ROOT show HEAD:tests/x",
]


@pytest.mark.parametrize("line", OWN)
async def test_git_in_another_folder_of_the_repository_is_held(repositories, line):
    repositories.model(
        bash(line.replace("ROOT", str(repositories.folder))),
        bash("cd tests"),
        bash(f"git -C {repositories.folder} log --oneline"),
        text("Done."),
    )

    run = await repositories.run()

    assert run.result.denials == ()
    assert "The first." in str(answers(repositories))


@pytest.mark.parametrize(
    "line",
    [
        *[f"git -C {name} log" for name in ("nested", "bare", "linked", "out", "..", "/", "$D", "''", "-P", "--", "~")],
        "git -C tests -C .. log",
        "git -C tests -c core.pager=x log",
        "git -C tests --git-dir=../nested/.git log",
        "git -C tests --work-tree=/ status",
        "git -C tests/../out log",
        "git -C tests push",
        "git -C tests branch new",
        "GIT_DIR=nested/.git git -C tests log",
        "export GIT_DIR=nested/.git; git -C tests log",
        "cd nested && git -C ../tests/deep log",
        "git -C tests diff --no-index x /etc/hostname",
    ],
)
async def test_git_in_another_repository_or_with_other_settings_is_asked_about(repositories, line):
    repositories.model(bash(line), text("Done."))

    run = await repositories.run()

    assert [denial.tool_name for denial in run.result.denials] == ["Bash"]


@pytest.mark.parametrize(
    "line",
    [
        "git status -s; diff x d",
        "git status -s; diff d d2",
        "git grep --no-index oak -- :/",
        "git grep --no-index oak -- ':(glob)../**'",
        "git status -s; nm thin.a",
        "git status -s; ls -RL .",
        "git status -s; du -aL .",
        "git status -s; find -L .",
        "git status -s; cat < notes",
        "git status -s; echo ../*",
        'git status -s; for f in ../.*; do echo "$f"; done',
        "git diff --no-index x notes",
        "git blame --contents notes x",
    ],
)
async def test_beside_git_nothing_opens_files_of_the_repository_around_the_folder(bench, inner, line):
    (bench.folder / "around.txt").write_text(SECRET)
    for name in ("d", "d2"):
        (inner / name).mkdir()
        (inner / name / "x").symlink_to("../../.env")
    (inner / "x").write_text("x\n")
    (inner / "up").symlink_to("..")
    (inner / "thin.a").write_text(f"!<thin>\n{'../.env/':<16}{'0':<12}{'0':<6}{'0':<6}{'644':<8}{len(SECRET):<10}`\n")
    bench.model(bash(line), text("Done."))

    await bench.run(cwd=inner)

    told = str(answers(bench))
    assert SECRET not in told
    assert "around.txt" not in told or "?? ../around.txt" in told

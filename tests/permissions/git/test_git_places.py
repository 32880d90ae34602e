"""Where the repository around a folder lies: as git says, and believed only where nobody could have made it up."""

import os

import pytest
from tests.permissions.git.real import add_submodule, add_worktree, make_repository, run_git

from everturn.permissions.git.places import GitPlaces, find_git_places


def places(root, git, common=None, *, vouched=True):
    return GitPlaces(root=str(root), git=str(git), common=str(common or git), vouched=vouched)


def ask_git(folder):
    """What git itself says."""
    words = ("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
    return run_git(folder, *words).splitlines()


def find(folder, home="/nowhere"):
    return find_git_places(str(folder), str(home))


@pytest.fixture
def repo(tmp_path):
    return make_repository(tmp_path / "repo")


def test_a_repository_is_found_from_every_folder_in_it(repo):
    (repo / "a/b").mkdir(parents=True)

    for folder in (repo, repo / "a/b"):
        assert find(folder) == places(repo, repo / ".git")
        assert ask_git(folder) == [str(repo), f"{repo}/.git", f"{repo}/.git"]


def test_a_linked_worktree_is_vouched_for_by_its_repository(repo, tmp_path):
    tree = add_worktree(repo, tmp_path / "tree")
    git = repo / ".git/worktrees/tree"
    (tree / "sub").mkdir()

    assert find(tree) == find(tree / "sub") == places(tree, git, repo / ".git")
    assert ask_git(tree) == [str(tree), str(git), f"{repo}/.git"]


def test_a_linked_worktree_by_relative_paths_is_vouched_for(repo, tmp_path):
    tree = add_worktree(repo, tmp_path / "tree")
    git = repo / ".git/worktrees/tree"
    (git / "gitdir").write_text("../../../../tree/.git\n")
    (tree / ".git").write_text("gitdir: ../repo/.git/worktrees/tree\n")

    assert find(tree) == places(tree, git, repo / ".git")


def test_a_submodule_is_vouched_for_by_its_repository(repo, tmp_path):
    inner = add_submodule(repo, make_repository(tmp_path / "source"), "vendor/sub")
    git = repo / ".git/modules/vendor/sub"

    assert find(inner) == places(inner, git)
    assert ask_git(inner) == [str(inner), str(git), str(git)]


def test_a_submodule_of_a_linked_worktree_is_vouched_for(repo, tmp_path):
    add_submodule(repo, make_repository(tmp_path / "source"), "sub")
    tree = add_worktree(repo, tmp_path / "tree")
    run_git(tree, "submodule", "--quiet", "update", "--init")

    assert find(tree / "sub") == places(tree / "sub", repo / ".git/worktrees/tree/modules/sub")


def test_a_file_that_names_a_strange_repository_is_not_believed(repo, tmp_path):
    tree = add_worktree(repo, tmp_path / "tree")
    evil = tmp_path / "evil"
    evil.mkdir()
    for git, common in ((repo / ".git", repo / ".git"), (repo / ".git/worktrees/tree", repo / ".git")):
        (evil / ".git").write_text(f"gitdir: {git}\n")

        assert find(evil) == places(evil, git, common, vouched=False)

    assert find(tree) is not None


def test_a_common_folder_that_the_folders_author_chose_is_not_believed(repo, tmp_path):
    evil = tmp_path / "worktrees/evil"
    evil.mkdir(parents=True)
    (evil / "HEAD").write_text("ref: refs/heads/main\n")
    (evil / "commondir").write_text(f"{repo}/.git\n")
    (evil / "gitdir").write_text(".git\n")
    (evil / ".git").write_text("gitdir: .\n")
    assert find(evil) is None or not find(evil).vouched

    for name in ("objects", "refs"):
        (tmp_path / name).mkdir()
    (evil / "commondir").write_text("../..\n")
    assert find(evil) == places(evil, evil, tmp_path, vouched=False)

    inner = evil / "git"
    inner.mkdir()
    for name in ("HEAD", "gitdir"):
        (evil / name).rename(inner / name)
    (inner / "commondir").write_text(f"{repo}/.git\n")
    (evil / "commondir").unlink()
    (evil / ".git").write_text("gitdir: git\n")
    assert find(evil) == places(evil, inner, repo / ".git", vouched=False)


def test_a_folder_of_git_that_leads_elsewhere_is_not_believed(repo, tmp_path):
    evil = make_repository(tmp_path / "evil")
    (evil / ".git/commondir").write_text(f"{repo}/.git\n")
    assert find(evil) == places(evil, evil / ".git", repo / ".git", vouched=False)

    (evil / ".git/commondir").unlink()
    run_git(evil, "config", "core.worktree", str(repo))
    assert find(evil) == places(repo, evil / ".git", vouched=False)
    assert ask_git(evil)[0] == str(repo)


def test_a_link_in_place_of_git_is_no_place(repo, tmp_path):
    evil = tmp_path / "evil"
    evil.mkdir()
    (evil / ".git").symlink_to(repo / ".git")

    assert find(evil) is None


def test_a_home_and_what_lies_above_it_is_never_opened(repo):
    (repo / "project").mkdir()

    for home in (repo, repo / "user"):
        assert find(repo / "project", home) == places(repo, repo / ".git", vouched=False)


def test_a_repository_that_somebody_else_has_put_above_is_not_believed(repo):
    (repo / "mine").mkdir()
    is_root = os.geteuid() == 0
    os.chown(repo / ".git", 12_345 if is_root else os.geteuid(), -1)

    assert find(repo / "mine") == places(repo, repo / ".git", vouched=not is_root)


def test_of_a_bare_repository_nothing_lies_outside(repo, tmp_path):
    run_git(tmp_path, "clone", "-q", "--bare", str(repo), "bare")
    bare = tmp_path / "bare"

    assert find(bare) == places(bare, bare)
    assert find(bare / "refs") == places(bare, bare, vouched=False)


def test_where_there_is_no_repository_or_git_would_fail_there_is_no_place(tmp_path):
    assert find(tmp_path) is None
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert find(tmp_path) is None
    (tmp_path / ".git").write_text("nothing of git's\n")
    assert find(tmp_path) is None
    (tmp_path / ".git").unlink()
    os.mkfifo(tmp_path / ".git")
    assert find(tmp_path) is None

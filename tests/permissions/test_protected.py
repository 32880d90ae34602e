"""Protected paths by name: in the working folder, in a home, in our own interpreter, and in repositories of any shape."""

import os
import subprocess
import sys

import pytest
from tests.permissions.test_policy import call, policy_in

from everturn.core import protected
from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules_in_force import Workplace
from everturn.ports.policy import Call, Ruling
from everturn.ports.tool import Access, Traits
from everturn.workspace.own_code import find_own_code, list_own_code

ALLOW, ASK, DENY = Ruling.ALLOW, Ruling.ASK, Ruling.DENY
MODES = ("default", "acceptEdits", "dontAsk", "bypassPermissions")
NEVER = [ASK, ASK, DENY, ALLOW]


@pytest.fixture
def root(tmp_path):
    (tmp_path / "home/proj").mkdir(parents=True)
    return tmp_path.resolve()


def bash(command):
    return Call(id="1", name="Bash", input={"command": command}, traits=Traits(access=Access.EXECUTE), line="")


def rule_all(path, folder):
    """Rules as wide and as narrow as can be."""
    return {"allow": ["Edit", "Write", "Bash", "Edit(//**)", f"Edit(/{folder}/{path})", f"Edit({path})"]}


def judge_in(root, asked, folder="home/proj", **options):
    """In each mode."""
    rulings = []
    for mode in MODES:
        policy = policy_in(root, mode, **options)
        home = str(root / "home")
        grounds = Workplace(folder=str(root / folder), home=home, own=tuple(map(str, options.get("own", ()))))
        policy = RulePolicy(mode, grounds, rules=policy.rules.rules)
        rulings.append(policy.judge(asked).ruling)
    return rulings


@pytest.mark.parametrize("folder", protected.FOLDERS)
def test_a_folder_is_protected_at_any_depth(root, folder):
    for path in (f"{folder}/x", f"a/b/{folder}/c/d", folder, f"a/{folder.upper()}/x"):
        assert judge_in(root, call("Write", file_path=path), **rule_all(path, root)) == NEVER


@pytest.mark.parametrize("file", [*protected.FILES, *protected.MEMORY, protected.GIT_HEAD])
def test_a_file_is_protected_at_any_depth_in_any_spelling(root, file):
    for path in (file, f"a/b/{file}", f"sub/{file.swapcase()}", f"{file}."):
        for asked in (call("Write", file_path=path), call("Edit", file_path=path)):
            assert judge_in(root, asked, **rule_all(path, root)) == NEVER


@pytest.mark.parametrize(
    ("path", "told"), [("AGENTS.md", "AGENTS.md"), ("a/.GIT/x", ".GIT"), ("Sub/agents.MD", "agents.MD")]
)
def test_a_refusal_names_what_is_protected_as_it_was_spelled(root, path, told):
    policy = policy_in(root, mode="acceptEdits")

    assert f"{told} is protected" in policy.judge(call("Write", file_path=path)).reason


@pytest.mark.parametrize(
    "path",
    [
        *map("/".join, protected.FOLDER_PAIRS),
        "sitecustomize.pyc",
        "src/sitecustomize.cpython-311-x86_64-linux-gnu.so",
        "a/usercustomize.so",
        "lib/python3.11/site-packages/x.pth",
        "all.code-workspace",
    ],
)
def test_a_file_is_protected_by_a_part_of_its_name_or_two(root, path):
    for each in (path, f"a/b/{path}", path.upper()):
        assert judge_in(root, call("Write", file_path=each), **rule_all(each, root)) == NEVER
        assert judge_in(root, bash(f"cp a {each}"), allow=["Bash(cp *)", "Edit"]) == NEVER


def test_a_virtual_environment_is_protected_whatever_its_name_and_nothing_beside_it(root):
    project = root / "home/proj"
    (project / "env2/bin").mkdir(parents=True)
    (project / "env2/pyvenv.cfg").write_text("home = /usr/bin\n")
    (project / "pyvenv.cfg").write_text("home = /usr/bin\n")
    for path in ("env2/bin/activate", "env2/bin/python", "env2/lib/python3.11/site-packages/requests/api.py", "env2/x"):
        assert judge_in(root, call("Write", file_path=path), **rule_all(path, root)) == NEVER
        assert judge_in(root, bash(f"cp a {path}"), allow=["Bash(cp *)", "Edit"]) == NEVER
    for path in ("env3/bin/activate", "model.pth", "customize.py"):
        assert judge_in(root, call("Write", file_path=path), allow=["Edit"])[0] is ALLOW


@pytest.mark.parametrize("path", [*protected.HOME, *protected.HOME_TOOLS])
def test_a_place_of_a_home_is_protected_there_and_nowhere_else(root, path):
    for below in (path, f"{path}/x/y", path.swapcase()):
        for where in ({"folder": "home"}, {}):
            file = str(root / "home" / below)
            assert judge_in(root, call("Write", file_path=file), **where, **rule_all(below, root)) == NEVER
    first = path.partition("/")[0]
    elsewhere = {*protected.FOLDERS, *protected.FILES, *(pair[0] for pair in protected.FOLDER_PAIRS)}
    if first not in elsewhere:
        assert judge_in(root, call("Write", file_path=f"{path}/x"), allow=["Edit"])[0] is ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "mv x .config",
        "cp -r x/.local .",
        "cp -r x/.ssh/ .",
        "cp -rt . x/.ssh",
        "cp -rt. x/.ssh",
        "cp -r --target=. x/.ssh",
        "rm -r .local",
    ],
)
def test_a_command_in_a_home_replaces_nothing_that_holds_protected_places(root, command):
    assert judge_in(root, bash(command), folder="home", allow=["Bash", "Edit"]) == NEVER


def test_a_home_is_protected_by_the_name_that_a_link_gives_it_too(root):
    (root / "linked").symlink_to(root / "home")
    grounds = Workplace(folder=str(root / "linked"), home=str(root / "linked"))
    policy = RulePolicy("acceptEdits", grounds)
    assert policy.judge(call("Write", file_path=str(root / "home/.ssh/config"))).ruling is ASK
    assert policy.judge(call("Write", file_path=".ssh/config")).ruling is ASK
    assert policy.judge(call("Write", file_path="notes")).ruling is ALLOW


WRITERS = [
    "echo x > {}",
    "echo x >> sub/{}",
    "cp a {}",
    "cp sub/{} .",
    "mv a {}",
    "tee {}",
    "sed -i s/a/b/ {}",
    "rm {}",
    "touch {}",
    "ln -sf a {}",
    "truncate -s 0 {}",
    "git checkout -- {}",
    "curl -o {} https://a.example",
]


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", "agents.md", "Claude.MD"])
@pytest.mark.parametrize("command", WRITERS)
def test_no_command_writes_memory_files_unasked(root, command, name):
    assert judge_in(root, bash(command.format(name)), allow=["Bash", "Edit", f"Edit({name})"]) == NEVER


@pytest.mark.parametrize(
    "command", ["cat AGENTS.md", "cat AGENTS.md | tee notes.md", "grep x CLAUDE.md", "git restore -s HEAD a.txt"]
)
def test_reading_them_is_free(root, command):
    assert judge_in(root, bash(command), allow=["Bash"])[0] is ALLOW


def test_names_that_only_look_like_them_are_free(root):
    for path in (
        "AGENTS.md.bak",
        "docs/agents-md.txt",
        "heads",
        "HEAD.txt",
        "bin/x",
        ".config/app",
        "site-packages/x.py",
    ):
        assert judge_in(root, call("Write", file_path=path), allow=["Edit"])[0] is ALLOW


def test_a_bare_repository_is_protected_whatever_its_name_and_nothing_beside_it(root):
    bare = root / "home/proj/vendor/thing"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    for path in ("config", "hooks/post-checkout", "objects/info/alternates", "HEAD"):
        assert judge_in(root, call("Write", file_path=f"vendor/thing/{path}"), allow=["Edit"]) == NEVER
    assert judge_in(root, call("Write", file_path="vendor/config"), allow=["Edit"])[0] is ALLOW


def test_no_folder_becomes_a_repository_unasked(root):
    """Git takes one for a repository when it has a HEAD."""
    inner = root / "home/proj/inner"
    for name in ("objects", "refs"):
        (inner / name).mkdir(parents=True)
    assert judge_in(root, call("Write", file_path="inner/HEAD"), allow=["Edit"]) == NEVER
    assert judge_in(root, bash("cp a inner/HEAD"), allow=["Bash", "Edit"]) == NEVER


@pytest.mark.parametrize("shape", ["nested", "submodule", "worktree"])
def test_settings_and_hooks_of_other_repositories_inside_are_protected(root, shape):
    project = root / "home/proj"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
    subprocess.run([*git, "init", "-q", str(root / "other")], check=True)
    subprocess.run([*git, "-C", str(root / "other"), "commit", "-qm", "a", "--allow-empty"], check=True)
    subprocess.run([*git, "init", "-q", str(project)], check=True)
    subprocess.run([*git, "-C", str(project), "commit", "-qm", "a", "--allow-empty"], check=True)
    if shape == "nested":
        subprocess.run([*git, "clone", "-q", str(root / "other"), str(project / "deep/in")], check=True)
    elif shape == "submodule":
        subprocess.run([*git, "-C", str(project), "submodule", "add", "-q", str(root / "other"), "deep/in"], check=True)
    else:
        subprocess.run([*git, "-C", str(project), "worktree", "add", "-q", "deep/in"], check=True)
    for path in (
        "deep/in/.git",
        "deep/in/.git/config",
        "deep/in/.git/hooks/x",
        ".git/modules/deep/in/config",
        ".git/worktrees/in/commondir",
    ):
        assert judge_in(root, call("Write", file_path=path), allow=["Edit"]) == NEVER


def test_our_interpreter_and_our_package_are_protected_where_they_lie_in_the_folder(root):
    project = root / "home/proj"
    own = list_own_code(
        prefixes=(f"{project}/.venv", "/usr"),
        library="/usr/lib/python3.11",
        package=f"{project}/src/everturn",
        imported=["", str(project), f"{project}/.venv/lib/python3.11/site-packages", "/usr/lib/python3/dist-packages"],
    )
    paths = [
        ".venv/lib/python3.11/site-packages/x.pth",
        ".venv/bin/python",
        ".venv/pyvenv.cfg",
        "src/everturn/core/decide.py",
    ]
    for path in paths:
        assert judge_in(root, call("Write", file_path=path), own=own, allow=["Edit"]) == NEVER
        assert judge_in(root, bash(f"cp a {path}"), own=own, allow=["Bash(cp *)", "Edit"]) == NEVER
    assert judge_in(root, call("Write", file_path="src/other.py"), own=own, allow=["Edit"])[0] is ALLOW
    assert judge_in(root, bash("pip install requests"), own=own, allow=["Bash(pip install *)"])[0] is ALLOW


def test_our_own_code_is_found_where_it_is():
    own = find_own_code()
    assert "" not in own
    assert not {"/", "/usr", "/usr/local"} & set(own)
    for file in (os.__file__, sys.modules["everturn"].__file__, pytest.__file__):
        assert any(file.startswith(f"{folder}/") for folder in own), file


@pytest.mark.parametrize(
    "path",
    [
        "tools/hooks/pre-commit", "tools/hooks/lib/new.sh", "tools/hooks", "Tools/Hooks/pre-commit", "hooks-by-link/pre-push", "settings/shared", "bin/lint.sh",
        "by-person/pre-commit", "inner/theirs/post-merge",
    ],
)  # fmt: skip
def test_files_that_gits_settings_name_are_protected(root, named_by_git, path):
    for asked in (
        call("Write", file_path=path),
        call("Edit", file_path=path),
        bash(f"cp x {path}"),
        bash(f"echo x > {path}"),
    ):
        assert judge_in(root, asked, **rule_all(path, root)) == NEVER


@pytest.mark.parametrize(
    "path", ["tools/hooks.md", "x", "bin/other.sh", "settings/other", "inner/tools/hooks/x", "pre-commit"]
)
def test_files_beside_those_that_gits_settings_name_are_ordinary(root, named_by_git, path):
    assert judge_in(root, call("Write", file_path=path), allow=["Write"]) == [ALLOW] * 4


def test_where_the_whole_working_folder_holds_hooks_only_their_names_are_protected(root):
    make_repository(root / "home/proj", "core.hooksPath", ".")

    assert judge_in(root, call("Write", file_path="pre-commit"), allow=["Write"]) == NEVER
    assert judge_in(root, call("Write", file_path="main.py"), allow=["Write"]) == [ALLOW] * 4


@pytest.fixture
def named_by_git(root):
    project = root / "home/proj"
    make_repository(
        project,
        "core.hooksPath",
        "tools/hooks",
        "include.path",
        "../settings/shared",
        "alias.lint",
        "!bin/lint.sh --all",
    )
    make_repository(project / "inner", "core.hooksPath", "theirs")
    (root / "home/.gitconfig").write_text("[core]\n\thooksPath = ~/proj/by-person\n")
    for name in ("tools/hooks/pre-commit", "bin/lint.sh", "bin/other.sh", "inner/theirs/post-merge", "x"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("")
    (project / "hooks-by-link").symlink_to("tools/hooks")


def make_repository(folder, *settings):
    subprocess.run(["git", "init", "-q", folder], check=True)
    for name, value in zip(settings[::2], settings[1::2], strict=True):
        subprocess.run(["git", "config", name, value], cwd=folder, check=True)

"""Removing what nobody means to remove: asked about in every mode, and gravely. Nothing here is run."""

import pytest
from tests.permissions.rules_of import rules_of
from tests.permissions.shell.worlds import judge

from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules_in_force import Workplace
from everturn.ports.policy import Call
from everturn.ports.tool import Traits

COMMANDS = [
    "rm -rf /no-such-folder",
    "rmdir /no-such-folder",
    "cd / && rm -r no-such-folder",
    "sudo rm -rf /no-such-folder",
    "true; rm -rf -- '/no-such-folder'",
    "cd / && find -delete",
    "cd / && find . -name x -delete",
    "find -L / -delete",
    "find / -exec rm -rf {} +",
    "find / -name x | xargs rm -rf",
    "rm -rf /proc/self/root/no-such-folder/x",
    "rm -rf /proc/$$/cwd/x",
    'rm -rf "$X/build"',
    'rm -rf "$HOME/$X"',
    'rm -rf "./$X"',
    "for d in *; do rm -rf $d; done",
    "for d in /*; do rm -rf $d/x; done",
    "rm -rf $(pwd)",
    "rm -rf */*",
    "rm -rf **/*",
    "rm -rf ~/*/*",
    "rm -rf ~/*/?*",
    "shopt -s extglob\nrm -rf !(x)",
    "shopt -s extglob\nrm -rf ~/@(*)",
    "bash -O extglob -c 'rm -rf !(x)'",
]
LOST = [
    "echo / | xargs rm -rf",
    "cat list | xargs rm -rf",
    "find / -printf / | xargs rm -rf",
    'for d in ~/*; do rm -rf "$d"; done',
    'rm -rf "$OLDPWD"',
    'rm -rf "$X"',
    "rm -r $(cat list)",
    "env -C / rm -rf etc",
    "sudo --chdir=/ rm -rf etc",
    "chroot /mnt rm -rf etc",
    'cd "$X" && rm -rf build',
    "find -L . -name x -delete",
    'd=$(mktemp -d); d=$Y; rm -rf "$d"',
]
EVERYDAY = [
    "rm -rf ./build/$X",
    "rm -rf build/*",
    "rm -f *.pyc",
    "find . -name '*.pyc' -delete",
    "find . -name __pycache__ -exec rm -rf {} +",
    "find . -name __pycache__ | xargs rm -rf",
    'rm -rf "$TMPDIR/x"',
    'd=$(mktemp -d) && tar xf a.tar -C "$d" && rm -rf "$d"',
    "rm -rf build node_modules",
    "rm -rf packages/*/dist",
    "rm -rf */dist",
    "rm -rf **/__pycache__",
    "rm -rf build/*/*",
    "shopt -s extglob\nrm -rf build/!(x)",
    "X=build; rm -rf $X",
    "for d in a b; do rm -rf $d; done",
    'for d in packages/*; do rm -rf "$d/dist"; done',
    'rm -f "$X"',
    "git ls-files -d | xargs rm -f",
    "cd sub && rm -rf build",
    "rm -rf /tmp/a/$X",
]
RULES = {"allow": ["Bash", "Bash(rm *)", "Bash(rmdir *)", "Bash(sudo *)"]}


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions"])
@pytest.mark.parametrize("command", COMMANDS)
def test_removing_a_critical_path_asks_in_every_mode_that_may_ask(command, mode):
    judgement = judge(command, RULES, mode=mode)

    assert (str(judgement.ruling), judgement.grave) == ("ask", True)


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions"])
@pytest.mark.parametrize("command", LOST)
def test_a_folder_that_is_not_known_before_it_is_removed_is_asked_about(command, mode):
    judgement = judge(command, RULES, mode=mode)

    assert (str(judgement.ruling), judgement.grave) == ("ask", False)


@pytest.mark.parametrize("command", EVERYDAY)
def test_what_stays_below_a_fixed_folder_is_no_reason_to_ask(command):
    assert str(judge(command, mode="bypassPermissions").ruling) == "allow"


@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
@pytest.mark.parametrize(
    ("command", "ruling"),
    [
        ("rm -rf hl/../home", "ask"),
        ("rm -rf hl/*", "ask"),
        ("rm -rf hl/", "ask"),
        ("rm -rf hl/.", "ask"),
        ("rm -rf wl/../work", "ask"),
        ("rm -rf rootl/no-such-folder", "ask"),
        ("rm -rf sub/*/usr", "ask"),
        ("find hl/ -delete", "ask"),
        ("find hl/ -name x -delete", "ask"),
        ("cd rootl && rm -rf no-such-folder", "ask"),
        ("rm hl", "allow"),
        ("rm -rf sub/rootl", "allow"),
        ("rm -rf sub", "allow"),
    ],
)
def test_a_link_to_a_critical_path_is_followed_where_the_system_follows_it(tmp_path, command, ruling, mode):
    place = tmp_path.resolve()
    for name in ("home", "work/sub"):
        (place / name).mkdir(parents=True)
    for name, leads in {"hl": place / "home", "wl": place / "work", "rootl": "/", "sub/rootl": "/"}.items():
        (place / "work" / name).symlink_to(leads)
    policy = RulePolicy(
        mode,
        Workplace(folder=str(place / "work"), home=str(place / "home")),
        rules=rules_of(allow=("Bash(rm *)", "Bash(cd *)"), ask=(), deny=(), folder=str(place / "work")),
    )

    verdict = policy.judge(Call(id="1", name="Bash", input={"command": command}, traits=Traits(), line="Bash"))

    assert str(verdict.ruling) == ruling

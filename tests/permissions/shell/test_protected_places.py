"""What a command writes to a protected place is approved by no rule, however wide or narrow."""

import pytest
from tests.permissions.shell.worlds import judge

WRITING = [
    "cp a .git/hooks/pre-commit",
    "cp -t .git/hooks a",
    "cp --target-directory=.git/hooks a",
    "cp -r x .GIT/hooks",
    "cp -r fixtures/.everturn .",
    "cp -r fixtures/.everturn/ .",
    "cp -rt . fixtures/.everturn",
    "mv fixtures/.claude .",
    "cp .envrc.example .envrc",
    "tee .bashrc",
    "tee -a ~/.bashrc",
    "mv a .envrc",
    "mv .git old",
    "ln -s a .git/hooks/x",
    "install a .git/hooks/x",
    "rsync a .git/hooks/",
    "dd if=a of=.git/config",
    "touch .mcp.json",
    "mkdir .claude",
    "rm .git/config",
    "chmod +x .git/hooks/x",
    "truncate -s0 .git/config",
    "sed -i s/a/b/ .bashrc",
    "sort -o .bashrc a",
    "curl -o .bashrc https://a.example",
    "tar xf a.tar -C .git/hooks",
    "timeout 5 cp a .git/config",
    "cp a /proc/self/cwd/b",
]


@pytest.mark.parametrize("command", WRITING)
@pytest.mark.parametrize("mode", ["default", "acceptEdits", "dontAsk"])
def test_no_rule_approves_what_is_written_to_a_protected_place(command, mode):
    name = command.removeprefix("timeout 5 ").split()[0]
    for rule in (f"Bash({name}:*)", "Bash(*)", "Bash", f"Bash({command})"):
        judgement = judge(command, {"allow": [rule, "Edit"]}, mode)
        assert (str(judgement.ruling), judgement.rule) == ("ask", None)


@pytest.mark.parametrize("command", ["cp .git/config a", "cat .bashrc", "cp a b", "rm -r build", "sed s/a/b/ .bashrc"])
def test_what_is_only_read_there_is_no_reason_to_ask(command):
    assert str(judge(command, {"allow": ["Bash(*)"]}).ruling) == "allow"


@pytest.mark.parametrize("command", WRITING)
def test_the_mode_that_asks_nothing_still_does_not(command):
    assert str(judge(command, mode="bypassPermissions").ruling) == "allow"


def test_the_reason_names_the_place():
    why = judge("npm test && cp a .git/hooks/pre-commit", {"allow": ["Bash(*)"]}).why

    assert why == "it writes .git/hooks/pre-commit, which is protected: no rule approves that ahead of time"

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
    "sort -uo .git/hooks/x a",
    "sort --outp=.git/hooks/x a",
    "curl -sSLo .git/hooks/x https://a.example",
    "curl --outpu .git/hooks/x https://a.example",
    "curl -sD .git/hooks/x https://a.example",
    "curl -sO https://a.example/.envrc",
    "curl --output-dir .git/hooks -O https://a.example/x",
    "wget -qO .git/hooks/x https://a.example",
    "wget https://a.example/.npmrc?x=1",
    "wget -qP .git/hooks https://a.example/x",
    "sed --in-pl s/a/b/ .git/config",
    "sed -n 'w .git/hooks/x' a",
    "sed 's/a/b/gw .git/hooks/x' a",
    "awk '{ print > \".git/hooks/x\" }' a",
    "awk -v f=.git/hooks/x '{ print > f }' a",
    "perl -0777pi -e 1 .git/config",
    "perl -e 'open F, q(>), \".git/hooks/x\"'",
    'python3 -c \'open(".git/hooks/x","w")\'',
    "tar cf .git/hooks/x a",
    "tar -xC .git/hooks -f a.tar",
    "tar xCf .git/hooks a.tar",
    "tar x --dir=.git/hooks -f a.tar",
    "unzip -qod .git/hooks a.zip",
    "uniq a .git/hooks/x",
    "gzip -k .git/config",
    "zip .git/hooks/x a",
    "split a .git/hooks/x",
    "git log --output=.git/hooks/x",
    "git diff --outp .git/hooks/x",
    "git archive -o .git/hooks/x HEAD",
    "git config core.fsmonitor ./x",
    "git config --global core.pager ./x",
    "git config -f .git/config core.fsmonitor ./x",
    "git config --unset user.name",
    "find . -fprint .git/hooks/x",
    "strace -fo .git/hooks/x true",
    "openssl rand -out .git/hooks/x 8",
    "nobodyknows .git/hooks/x",
    "nobodyknows --to=.git/hooks/x",
    "nobodyknows -vo.git/hooks/x",
    "tee $(echo .git/hooks/x)",
    "touch $X",
    "touch $X.py",
    "cp a {b,.git/hooks}",
    "xargs -I% touch .git/hooks/%",
    "xargs touch",
    "timeout 5 cp a .git/config",
    "cp a /proc/self/cwd/b",
]


@pytest.mark.parametrize("command", WRITING)
@pytest.mark.parametrize("mode", ["default", "acceptEdits", "dontAsk"])
def test_no_rule_approves_what_is_written_to_a_protected_place(command, mode):
    name = command.removeprefix("timeout 5 ").removeprefix("xargs ").split()[0]
    for rule in (f"Bash({name}:*)", "Bash(*)", "Bash", f"Bash({command})"):
        judgement = judge(command, {"allow": [rule, "Edit"]}, mode)
        assert (str(judgement.ruling), judgement.rule) == ("ask", None)


@pytest.mark.parametrize(
    "command",
    [
        "cp .git/config a", "cat .bashrc", "cp a b", "rm -r build", "sed s/a/b/ .bashrc", "sort -u .bashrc -o a", "awk '{ print $1 }' .bashrc", "uniq .bashrc",
        "tar czf a.tgz --exclude .git .", "tar tf .git/a.tar", "nobodyknows --exclude .git", "nobodyknows src", "git config user.name me", "git config core.fsmonitor",
        "git config --get core.pager", "curl -X HEAD https://a.example", "curl -sSLo a https://a.example/.bashrc", "grep -rn x .git/config", "git log HEAD",
        "git add .gitmodules", "git commit -m 'Change .git/config'", "python3 manage.py migrate", "bash .husky/pre-commit", "ls .git", "f=a; touch $f",
        "gh pr create --title 'Change AGENTS.md'", "gzip -dc .git/x.gz", "wget -qO- https://a.example/.npmrc", "npm test -- --watch=false", "make -j4",
    ],
)  # fmt: skip
def test_what_is_only_read_there_is_no_reason_to_ask(command):
    assert str(judge(command, {"allow": ["Bash(*)"]}).ruling) == "allow"


@pytest.mark.parametrize("command", WRITING)
def test_the_mode_that_asks_nothing_still_does_not(command):
    assert str(judge(command, mode="bypassPermissions").ruling) == "allow"


def test_the_reason_names_the_place():
    why = judge("npm test && cp a .git/hooks/pre-commit", {"allow": ["Bash(*)"]}).why

    assert why == "it writes .git/hooks/pre-commit, which is protected: no rule approves that ahead of time"

"""Which commands only read, which files they name, and what of git shows what lies in files."""

import pytest
from tests.permissions.shell.worlds import judge

from everturn.permissions.shell.readonly.judge import judge_reading
from everturn.permissions.shell.running.survey import read_command
from everturn.ports.policy import Ruling


def read(line):
    (command,) = read_command(line, "/home/dev/proj", "/home/dev").commands
    return judge_reading(command.words, "/home/dev")


@pytest.mark.parametrize(
    "line",
    [
        "rg --regexp -e --pre=sh x f", "git log -p --src-prefix -S --output=F", "git log -U --output=F", "git shortlog -w --output=F",
        "git diff-tree -L --output=F HEAD", "git stash list -- --output=F", "git log --author -- --output=F", "git log --end-of-options -S --output=F",
        "grep --lab -m x", "grep --colo=always x f", "strings @f", "strings -n @f x", "nm @f", "jq -n env", "jq 'import \"a\" as a; .' f",
        "jq --arg x . env f", "jq -L . x f", "file -C f", "file -p f", "locale -m", "hostname x", "hostname -f", "xxd a b", "xxd a -c", "tree -Io x F",
        "shuf -r a", "cat --number=3 f", "rg -A -e x", "sort -S1 -oF f", "uniq a b", "date 01010000", "date -s 1", "git tag -n x", "git tag x", "git branch x",
        "git branch -l x", "git branch --format --list x", "git reflog expire", "git reflog -5 delete x", "git config user.name x", "git config --list",
        "git config --get http.extraheader", "git config --get-regexp .", "git symbolic-ref HEAD x", "git remote show x", "git ls-remote", "git help log",
        "git for-each-ref --format='%(signature)'", "git log --format=%+GK", "git log '--format=% G?'", "git for-each-ref --sort=signature", "git -C x log",
        "yarn --version", "python3 --version x", "python3 -V -c 1", "node -v -e 1", "./python3 --version", "find . -exec sh -c x {} +", "find . -exec xxd {} +",
        "find . -execdir cat {} +", "find . -exec cat x{} +", "find . -exec sed {} f +", "find . -exec cat {} + -delete", "find . -exec uniq {} +", "find . -exec cat {}",
        "sed -i.bak p f", "sed -f x f", "sed -n 'w x' f", "sed -e p -e 'w x' f", "sed -n -f x", "awk -f x f", "awk '{print > \"f\"}' f",
        "awk -v ENVIRON=1 1 f", "awk -i x 1 f", "sed -s -n -i p", "grep x * -m /outside", "grep x * -- --file=/outside", "getconf -v x y",
    ],
)  # fmt: skip
def test_what_may_do_more_than_read_or_may_be_misread_is_no_reader(line):
    assert read(line) is None


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("grep . --label -m /outside", ("/outside",)),
        ("cut --output-delimiter -f /outside -f1-", ("/outside",)),
        ("od -c -w f", ("f",)),
        ("ls -T 4 f", ("f",)),
        ("grep -f /outside f", ("/outside", "f")),
        ("grep -f/outside f", ("/outside", "f")),
        ("grep --file=/outside f", ("/outside", "f")),
        ("grep -e x --exclude-from ../y f", ("../y", "f")),
        ("rg --ignore-file=/outside x src", ("/outside", "src")),
        ("diff --from-file /outside a", ("/outside", "a")),
        ("du -X ../x .", ("../x", ".")),
        ("date -r /outside", ("/outside",)),
        ("find . -newer /outside", (".", "/outside")),
        ("find src -name '*.py' -exec grep -n x {} /outside +", None),
        ("find src -name '*.py' -exec grep -n x /outside {} +", ("src", "/outside")),
        ("find . -exec wc -l {} +", (".",)),
        ("find -exec wc -l {} \\;", (".",)),
        ("awk -F: '{print $1}' /outside", ("/outside",)),
        ("sed -n -e p -e '$d' a b", ("a", "b")),
        ("tail -n -5 f", ("f",)),
        ("head -5 -- -x", ("-x",)),
        ("jq --arg a b .x f", ("f",)),
        ("jq --indent 1 .x f", ("f",)),
        ("xxd -l 16 f", ("f",)),
        ("git diff /dev/null ../x", ("/dev/null", "../x")),
        ("git diff --no-index a /outside", ("a", "/outside")),
        ("git blame -S ../x f", ("../x", "f")),
        ("git blame --contents=../x f", ("../x", "f")),
        ("git blame --ignore-revs-file ../x f", ("../x", "f")),
        ("git grep --no-index x ../y", ("../y",)),
        ("git grep -f ../p x", ("../p", "x")),
        ("git show HEAD:../x", ("../x", "HEAD:../x")),
        ("git ls-files -X ../x", ("../x",)),
        ("git log --since '1 week' --author me main..x -- src", ("main..x", "src")),
        ("git branch --list 'a*' --merged main", ("a*",)),
    ],
)  # fmt: skip
def test_every_file_that_a_reader_names_is_told(line, paths):
    reads = read(line)

    assert (None if reads is None else reads.paths) == paths


@pytest.mark.parametrize(
    "line",
    [
        "id", "id -un", "nproc", "uname -a", "sleep 5", "xxd f", "hexdump -C f", "arch", "whoami", "groups", "hostname", "getconf PAGE_SIZE", "locale", "tty",
        "expr 1 + 2", "numfmt --to=iec 1000", "column -t -s: f", "join -t, a b", "tsort f", "factor 12", "sum f", "b2sum f", "sha384sum f", "egrep -i 'a|b' f",
        "fgrep -r x .", "unexpand f", "fmt -w 80 f", "pr -2 f", "nm -C a.o", "size a.o", "readelf -h a.o", "objdump -d a.o", "python3 --version", "node -v",
        "npm --version", "go version", "gcc --version", "make --version", "java -version", "perl -v", "awk --version", "git --version", "git reflog",
        "git reflog show -5 main", "git show-ref --heads", "git for-each-ref --sort=-committerdate --format='%(refname:short)' refs/heads", "git stash show",
        "git stash show -p stash@{0}", "git tag", "git tag -l 'v1*'", "git tag --list", "git tag -n", "git tag --contains HEAD", "git remote get-url origin",
        "git remote -v", "git branch -a --merged", "git branch --contains HEAD", "git branch --list 'x*'", "git branch -vv", "git config --get user.name",
        "git config user.email", "git config --list --local", "git symbolic-ref --short HEAD", "git count-objects -vH", "git check-ignore -v x",
        "git check-attr -a x", "git diff-files", "git diff-index --cached HEAD", "git cherry -v main", "git range-diff a..b c..d", "git var GIT_EDITOR",
        "git verify-pack -v x.idx", "git status -sb", "git log -5 -p", "git log -S x", "git log -L 1,5:f", "git -P log --oneline", "git describe --tags --dirty",
        "sed -n '/a/,/b/p' f", "sed 's/a/b/;s/c/d/' f", "sed -nE '/a|b/p' f", "awk '{print $2}' f", "awk -F, 'NR>1{print $1}' *.csv",
        "find . -name '*.py' -exec wc -l {} +", "find . -type f -exec grep -l foo {} \\;", "sort -t: -k2,2n f", "rg -n foo -g '*.py' src", "rg -e -x f",
    ],
)  # fmt: skip
def test_a_reader_is_not_asked_about(line):
    assert judge(line).ruling is Ruling.ALLOW


@pytest.mark.parametrize(
    "line",
    [
        "find . -name '*.py' -print0 | xargs -0 grep -l foo",
        "find . -type f | xargs -r -n 10 -P 4 wc -l",
        "git ls-files | xargs -d '\\n' grep -n x",
        "ls | xargs -I % stat %",
        "rg -l foo | xargs head -n 3",
        "git grep -l x | xargs -L1 wc -l",
    ],
)
def test_a_list_of_files_may_go_to_readers(line):
    assert judge(line).ruling is Ruling.ALLOW


@pytest.mark.parametrize(
    "line",
    [
        "find . | xargs -I {} sh -c {}", "find . | xargs -I {} cat x{}", "ls | xargs -I {} grep {} -m /outside", "ls | xargs -I grep grep x", "ls | xargs -a f cat",
        "ls | xargs -i cat {}", "ls | xargs -0 rm", "ls | xargs --arg-file=f cat", "ls -l | xargs cat", "find . -printf x | xargs cat", "ls | xargs -n 1 uniq",
        "find . | tail -c 9 | xargs cat", "find . | grep -o x | xargs cat", "git ls-files --format=/outside | xargs cat", "grep -e -l x | xargs cat",
        "git diff --name-only --line-prefix=/outside/ | xargs cat", "grep -l x - --label=/outside | xargs cat", "ls | xargs -0", "xargs -0 cat", "ls | xargs -0 cat /outside",
        "git diff /dev/null ../x", "git blame -S ../x f", "git grep --no-index x ../y", "git show HEAD:../x", "git log -- /outside", "grep . --label -m /outside",
    ],
)  # fmt: skip
def test_what_may_read_elsewhere_asks(line):
    assert judge(line).ruling is Ruling.ASK


@pytest.mark.parametrize(
    ("line", "shows"),
    [
        ("git diff", True), ("git diff --stat", False), ("git diff --stat -p", True), ("git diff --name-only", False), ("git log", False), ("git log -p", True),
        ("git log -S x", True), ("git log -L 1,2:f", True), ("git log --stat", False), ("git show", True), ("git show --stat", False), ("git show --stat HEAD~2", False),
        ("git show --stat abc123", True), ("git show HEAD:f", True), ("git blame f", True), ("git grep x", True), ("git cat-file -p x", True),
        ("git cat-file blob x", True), ("git cat-file -t x", False), ("git stash show", True), ("git stash show --stat", False), ("git stash list", False),
        ("git stash list -p", True), ("git status", False), ("git status -v", True), ("git ls-files", False), ("git reflog", False), ("git reflog -p", True),
        ("git range-diff a b c", True), ("git diff-tree HEAD", False), ("git diff-tree -p HEAD", True), ("git for-each-ref", False),
        ("git for-each-ref --format='%(raw)'", True), ("git branch -v", False), ("git diff --word-diff --stat", True), ("git whatchanged -p", True),
    ],
)  # fmt: skip
def test_it_is_told_whether_git_shows_what_lies_in_files(line, shows):
    reads = read(line)

    assert reads.of_git
    assert reads.content is shows


@pytest.mark.parametrize(
    ("line", "reads"),
    [
        ("git config github.token", False), ("git config --get user.password", False), ("git config get hub.oauthtoken", False),
        ("git config --global gitlab.token", False), ("git config remote.x.proxyAuthMethod", False), ("git config http.extraheader", False),
        ("git config --get-regexp .", False), ("git config user.name", True), ("git config --get remote.origin.url", True),
        ("git config --local github.token", True), ("git config --local --get-regexp x", True), ("git config core.editor", True),
    ],
)  # fmt: skip
def test_a_setting_that_may_be_a_password_asks(line, reads):
    assert (read(line) is not None) is reads

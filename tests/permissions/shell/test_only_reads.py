"""Which command lines change nothing: a doubt is a no."""

import pytest

from everturn.permissions.shell.readonly.line import only_reads

READ = [
    "ls",
    "echo 5",
    "printf %02048d 7",
    "git status",
    "git log --oneline -5",
    "git diff HEAD~1 -- src",
    "cat a.txt | head -n 3",
    "grep -rn x . 2>/dev/null",
    "wc -l <a.txt",
    "ls 2>&1",
    "timeout 5 ls",
    "NO_COLOR=1 git status",
    "find . -name '*.py'",
    "for i in a b; do cat a.txt; done",
    "if [ -f a ]; then cat a; fi",
]
MAY_CHANGE = [
    "",
    "#",
    "cd src",
    "cd src && ls",
    "export A=1",
    "A=1",
    "PATH=. ls",
    "echo 5 >a.txt",
    "echo 5 >>a.txt",
    "ls >$x",
    "ls | tee a.txt",
    "git commit -m x",
    "git branch -D x",
    "find . -delete",
    "sed -i s/a/b/ a",
    "sort -o a a",
    "npm test",
    "python -c 'print(1)'",
    "echo $(touch a)",
    "echo `touch a`",
    "ls; make",
    "$x",
    "ls '",
    "umask 0",
    "set -x",
    "exec ls",
    "/lib64/ld-linux-x86-64.so.2 ./prog",
    "/lib64/ld-linux-x86-64.so.2 --list ./prog",
    "timeout 5 /lib/ld-musl-x86_64.so.1 /bin/cat a.txt",
    "find . -name prog | xargs ld.so",
    "ldd ./prog",
    "ls" + " x" * 20_000,
]


@pytest.mark.parametrize("line", READ)
def test_a_line_of_readers_only_reads(line):
    assert only_reads(line, "/home/dev/proj", "/home/dev")


@pytest.mark.parametrize("line", MAY_CHANGE)
def test_anything_else_may_change_something(line):
    assert not only_reads(line, "/home/dev/proj", "/home/dev")

"""Lines that somebody might try: readers by their tables, options that no table has, odd operands, and all ways to join commands."""

import re
import shlex
import string
import subprocess
from functools import cache

from tests.adversary.repository import FILES, LINKS

from everturn.permissions.shell.readonly.git_tables import GIT_TABLES
from everturn.permissions.shell.readonly.tables import TABLES

OTHER_READERS = ("find", "sed", "awk", "jq", "date", "echo", "printf", "test", "xargs", "cd", "command", "git")
EDITORS = ("mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed", "echo", "ln", "tee", "truncate", "install", "dd")
MODES = ("000", "311", "600", "500", "644", "755", "777", "a-rwx", "u-x", "u-r", "-w", "a=", "+x", "u+s", "=rx")
NO_READERS = (
    "tee",
    "env",
    "sh",
    "bash",
    "python3",
    "perl",
    "curl",
    "dd",
    "ssh",
    "make",
    "script",
    "less",
    "man",
    "split",
    "tar",
)
PROTECTED = (
    ".git/config",
    ".git/hooks/x",
    ".git/commondir",
    ".git/config.worktree",
    ".everturn/settings.json",
    ".mcp.json",
    ".claude",
    ".bashrc",
    ".envrc",
    ".vscode/tasks.json",
    ".git",
    "AGENTS.md",
    "CLAUDE.md",
    ".gitmodules",
    "nested/.git/config",
    "nested/.git/commondir",
)
GLOBS = (
    "*",
    "*.txt",
    "deep/*",
    ".*",
    "./*",
    "**",
    "*/*",
    "out*",
    "[a-z]*",
    "src/*",
    "*-f*",
    "?*",
    "*/up/*",
    "deep/up/*",
)
WALKING = {
    "grep": ("grep -r", "grep -R", "grep -rn", "grep -RnI", "grep -d recurse", "grep -s"),
    "rg": ("rg", "rg -L", "rg -uuu", "rg --hidden --no-ignore", "rg -uuL", "rg --files -L"),
    "find": (
        "find",
        "find -L",
        "find . -follow -type f",
        "find -H",
        "find -L . -maxdepth 3 -type f",
        "find . -name '*' -print",
    ),
    "diff": ("diff -r", "diff -rN", "diff -r deep", "diff"),
    "ls": ("ls -R", "ls -laR", "ls -L", "ls -H", "ls -lLR"),
    "du": ("du -aL", "du -D", "du -sh", "du -a"),
    "tree": ("tree -l", "tree -a", "tree"),
    "cat": ("cat", "cat -A", "cat --"),
    "file": ("file -L", "file", "file -z"),
    "stat": ("stat -L", "stat"),
    "wc": ("wc -l", "wc --files0-from=list0", "wc --files0-from=-"),
    "sort": ("sort", "sort -u", "sort --files0-from=list0", "sort -m"),
}
"""Programs that go through folders, or open whatever a glob has become."""
WALKERS = tuple(WALKING)
BARE = (
    ("cat", ("-n", "-A")), ("head", ("-n 2", "-3", "-c5")), ("tail", ("-n +2", "-2")), ("wc", ("-l", "-cw")), ("ls", ("-la", "-R", "-1")),
    ("grep -n alpha", ("-i", "-v", "-r")), ("sort", ("-u", "-rn")), ("uniq", ("-c",)), ("echo", ("-n", "-e")), ("printf '%s\\n'", ()), ("test -f", ()),
    ("pwd", ()), ("date", ("-u", "+%Y")), ("whoami", ()), ("git status", ("-s",)), ("git diff", ("--stat", "--cached")), ("git log --oneline", ("-3",)),
    ("[ -d", ("] ",)), ("true", ()), ("git branch", ("--show-current",)), ("git rev-parse HEAD", ()), ("cd", ()),
)  # fmt: skip
INSIDE = (
    *FILES,
    *LINKS,
    "list0",
    ".",
    "deep",
    "src",
    "bin",
    "nested",
    "bare-shape",
    "*",
    "*.txt",
    "deep/*",
    ".*",
    "-",
    "--",
    "./*",
    "**",
)
OUTSIDE = (
    "..", "../secret", "../outside", "../outside/secret", "~/secret", "~", "$HOME/.ssh/id_rsa", "/etc/shadow", "/etc/passwd", "/",
    "/proc/self/environ", "/proc/1/environ", "/dev/stdin", "/dev/fd/0", "/dev/null", "/dev/zero", "out-folder/secret",
    "out-home/secret", "deep/up/../secret", "rootfolder/cron", "out-home/.ssh/id_rsa", "deep/../../secret",
    "nested/../out-file", "$OLDPWD/secret", "/usr/share/../../etc/shadow", "//etc//shadow", "{a.txt,../secret}", "../s[e]cret", "../*",
)  # fmt: skip
LOOKALIKES = (
    "-e", "-f", "-o", "-n", "--output=../outside/x", "--pre=./canary", "-S", "-exec", "-delete", "--files0-from=list0", "-i",
    "--to-command=sh", "--compress-program=./canary", "-T", "-D", "--no-index", "--textconv", "--ext-diff", "--open-files-in-pager=sh",
    "-O./canary", "--upload-pack=./canary", "-c", "--exec-path=bin", "--git-dir=../outside/repository/.git", "-C..", "--paginate",
    "-p", "--follow", "-L", "-R", "-r", "--recursive", "--null", "-0", "-z", "--hostname-bin=./canary", "--search-zip", "-Z",
    "--ignore-file=out-file", "-f../secret", "--file=out-file", "@names", "--random-source=../secret", "-k1,1", "--key=1",
    "--reference=../secret", "--exclude-from=out-file", "--label", "--regexp", "--src-prefix", "--diff-algorithm", "--format=%(contents)",
)  # fmt: skip
TEXTS = (
    "alpha",
    "a",
    ".",
    "1",
    "3",
    "0",
    "beta",
    "^a",
    "x y",
    "$(echo a)",
    "\\.",
    "[a-z]*",
    "é",
    "%s\\n",
    "+%Y",
    "never",
    "auto",
    "always",
)
VALUES = (
    "1",
    "2",
    "0",
    "10",
    "-1",
    "+2",
    "a",
    ",",
    "1,3",
    "1-",
    "never",
    "always",
    "auto",
    "*.txt",
    "py",
    "path",
    "name",
    "none",
    "UTF-8",
)
FOLDERS = (
    "deep",
    "deep/er",
    "src",
    "nested",
    "out-folder",
    "deep/up",
    "..",
    "bare-shape",
    "empty",
    "/",
    "~",
    "-",
    "$TMPDIR",
    "rootfolder",
    ".git",
)
SED = ("p", "1p", "$p", "/a/,/b/p", "s/a/b/", "s/a/b/g", "s/a/b/e", "s/a/b/w ../outside/n", "1e touch ../outside/n", "w ../outside/n",
       "r ../secret", "R ../secret", "r out-file", "1d", "y/abc/def/", "n;d", "$!N", "1,3{p;p}", "W ../outside/n", "F", "=", "l", "q5")  # fmt: skip
AWK = ("{print}", "{print $1}", "NR==1", "/a/", "BEGIN {print 1}", "END {print NR}", '{print > "../outside/n"}', '{print | "sh"}',
       'BEGIN {system("touch ../outside/n")}', 'BEGIN {while ((getline l < "../secret") > 0) print l}', 'BEGIN {print ENVIRON["DATABASE_PASSWORD"]}',
       '{"cat ../secret" | getline x; print x}', 'BEGIN {ARGV[1]="../secret"; ARGC=2} {print}', '@include "prog.awk"', "length($0) > 2")  # fmt: skip
JQ = (".", ".a", ".a[0]", "keys", "env", "$ENV", "input_filename", "$__prog_args", "input", "inputs", 'import "../secret" as $x; $x',
      'include "prog"; .', "[.a[] | . + 1]", "@sh", 'getpath(["a"])', "limit(1; .a[])", "debug", "halt", "$__loc__", 'ltrimstr("x")')  # fmt: skip
FIND = ("-name '*.txt'", "-type f", "-maxdepth 2", "-print", "-print0", "-newer a.txt", "-newer ../secret", "-samefile out-file", "-exec cat {} ;",
        "-exec cat {} +", "-delete", "-fprint ../outside/n", "-fls ../outside/n", "-ok cat {} ;", "-execdir ./canary ;", "-ls", "-printf '%p\\n'",
        "-printf '%l %y\\n'", "-follow", "-L", "-H", "-files0-from list0", "-regex '.*a.*'", "-empty", "-size +1", "-perm -u+x", "-not -path './.git/*'")  # fmt: skip
SETS = ("X=1", "LC_ALL=C", "PATH=.:$PATH", "PATH=$PWD/bin:$PATH", "GIT_DIR=../outside/repository/.git", "GIT_EXTERNAL_DIFF=./canary", "LD_PRELOAD=./x.so",
        "RIPGREP_CONFIG_PATH=.ripgreprc", "HOME=.", "BASH_ENV=./canary", "TMPDIR=../outside", "GREP_COLORS=mt=1", "TZ=UTC", "LESSOPEN='|./canary'",
        "GIT_PAGER=./canary", "PAGER=./canary", "POSIXLY_CORRECT=1", "IFS=/", "CDPATH=..", "GIT_CONFIG_GLOBAL=.git/config", "LANGUAGE=../locale")  # fmt: skip
JOINED = (
    "{a} | {b}", "{a} | {b} | {c}", "{a} && {b}", "{a}; {b}", "{a} || {b}", "({a})", "{{ {a}; }}", "({a}; {b}) | {c}", "! {a}", "{a} & wait",
    "{a} &", "echo $({a})", 'echo "$({a})"', "echo `{a}`", "x=$({a}); echo $x", "x=1; {a}; echo $x", "diff <({a}) <({b})", "cat <({a})",
    "{a} 2>/dev/null", "{a} 2>&1 | {b}", "{a} > /dev/null", "{a} < {file}", "{a} <<< alpha", "{a} <<END\nalpha\nEND", "{a} <<'END'\n$(touch x)\nEND",
    "{a} <<END\n$({b})\nEND", "{a} >&240", "{a} 240>&1", "{a} 3<>{file}", "{a} 3< {file} <&3", "exec 3< {file}; cat <&3", "{a} >&2", "{a} &> /dev/null",
    "exec {a}", "{set} {a}", "export {set}; {a}", "trap '{a}' EXIT", "trap 'cd ..' EXIT; {a}", "trap - EXIT; {a}", "cd {folder} && {a}", "cd {folder}; {a}",
    "(cd {folder} && {a})", "cd {folder} && cd - && {a}", "pushd {folder}; {a}", "for f in {file} {file2}; do cat $f; done", "for f in *; do {a}; done",
    'for f in *.txt; do head -1 "$f"; done', "for f in $(ls); do wc -l $f; done", "while read -r l; do echo $l; done < {file}", '{a} | while read -r l; do echo "$l"; done',
    'while read -r f; do cat "$f"; done < names', "if {a}; then {b}; fi", "if test -f {file}; then {a}; else {b}; fi", "case x in x) {a};; esac",
    "until {a}; do break; done", "f() {{ {a}; }}; f", "time {a}", "timeout 2 {a}", "nice {a}", "env {a}", "env -i {a}", "command {a}", "builtin {a}", "nohup {a}",
    "{a} | xargs {reader}", "find . -name '*.txt' -print0 | xargs -0 {reader}", "ls | xargs -n1 {reader}", "cat names | xargs cat", "echo {file} | xargs {reader}",
    "{a} | tee {file}", "{a} > {file}", "{a} >> new.txt", "{a} | sort | uniq -c", "{a} | head -n 3", "{a} | tail -1", "{a} | grep -c .", "{a} | wc -l", "{a} > /dev/tcp/127.0.0.1/9",
    "cat < /dev/tcp/127.0.0.1/9", "coproc {a}", "select x in a; do {a}; done < /dev/null", "[[ -f {file} ]] && {a}", "(( x = 1 )) ; {a}", "echo ${{x:-$({a})}}", "echo $((1 + 1)); {a}",
    'set -- {file}; {a}; cat "$1"', "eval '{a}'", "source {file}", ". ./script.sed", "alias ls=./canary; {a}", "shopt -s expand_aliases; {a}", "read -r x < {file}; echo $x",
    "mapfile -t x < {file}; echo ${{x[0]}}", "printf '%s\\n' {file} | {b}", "echo *", "echo ../*", "echo {{a,b}}.txt; {a}", "{a} {file} # comment", "{a} \\\n {file}", "$'ls' -l; {a}",
    "ulimit -t 1; {a}", "umask 777; {a}", "exit 3; {a}", "{a}; exit", "hash -p ./canary ls; ls", "enable -n echo; echo {file}", "declare -x A=1; {a}", "local x; {a}", "kill -9 $PPID; {a}",
    "unset PATH; {a}", "PATH=; ls", "{a} 1<>/dev/null", "{a} >| new.txt", "cat {file} - < {file2}", "paste <({a}) {file}", 'x={file}; cat "$x"', "x=../secret; cat $x", "cat ${{x:-{file}}}",
)  # fmt: skip
_LONG = re.compile(r"--[a-z][a-z0-9-]+=?")
_SHORT = re.compile(r"(?<![\w-])-([A-Za-z0-9])\b")


@cache
def list_real_options(program):
    """What the program itself says that it has."""
    try:
        done = subprocess.run(
            [program, "--help"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=5,
            check=False,
            cwd="/",
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    said = done.stdout + done.stderr
    return tuple(sorted({*_LONG.findall(said), *(f"-{letter}" for letter in _SHORT.findall(said))}))


class Grammar:
    def __init__(self, random, objects, *, odd=0.12, edits=0.0, closes=0.1, bare=False):
        """`objects`: ids of git; `odd`: how often a word is none that a table knows; `edits`: the share of lines that write.

        `closes`: the share of those that change modes; `bare`: mostly what runs unasked where nothing holds it.
        """
        self.closes = closes
        self.random, self.objects, self.odd, self.edits, self.bare = random, objects, odd, edits, bare

    def line(self):
        if self.random.random() < 0.45:
            return self.command()
        fields = {name: self.command() for name in "abc"}
        return self.pick(JOINED).format(
            **fields,
            file=self.quote(self.place()),
            file2=self.quote(self.place()),
            folder=self.quote(self.pick(FOLDERS)),
            set=self.pick(SETS),
            reader=self.reader(operands=0),
        )

    def command(self):
        if self.random.random() < self.edits:
            return self.edit()
        if self.random.random() < self.odd / 3:
            return " ".join([self.pick(NO_READERS), *self.odd_words()])
        return self.reader()

    def reader(self, operands=2):
        if self.bare and self.random.random() < 0.9:
            name, options = self.pick(BARE)
            words = [
                name,
                *(self.pick(options) for _ in range(self.upto(1) if options else 0)),
                *self.operands(operands),
            ]
            return " ".join(words)
        chance = self.random.random()
        name = "git" if chance < 0.25 else self.pick(WALKERS) if chance < 0.45 else self.pick((*TABLES, *OTHER_READERS))
        if name in WALKING and self.random.random() < 0.6:
            return " ".join([self.pick(WALKING[name]), *self.pattern(TABLES.get(name)), *self.operands(operands)])
        match name:
            case "git":
                words = self.git()
            case "find":
                words = [
                    "find",
                    *(self.quote(self.place()) for _ in range(self.upto(1))),
                    *(self.pick(FIND) for _ in range(self.upto(3))),
                ]
            case "sed":
                words = [
                    "sed",
                    *self.maybe("-n"),
                    *self.maybe("-E"),
                    shlex.quote(self.pick(SED)),
                    *self.operands(operands),
                ]
            case "awk":
                words = ["awk", *self.maybe("-F,"), shlex.quote(self.pick(AWK)), *self.operands(operands)]
            case "jq":
                words = [
                    "jq",
                    *self.options("jq", TABLES.get("jq")),
                    shlex.quote(self.pick(JQ)),
                    *self.operands(operands),
                ]
            case _:
                table = TABLES.get(name)
                words = [name, *self.options(name, table), *self.pattern(table), *self.operands(operands)]
        if self.random.random() < self.odd:
            words.insert(self.random.randrange(1, len(words) + 1), self.quote(self.pick(LOOKALIKES)))
        return " ".join(words)

    def git(self):
        verb = self.pick(tuple(GIT_TABLES))
        before = (
            [
                self.pick(
                    (
                        "-C deep",
                        "-C nested",
                        "-C deep/..",
                        "--no-pager",
                        "-c core.pager=./canary",
                        "--git-dir=.git",
                        "--bare",
                        "-P",
                        "--exec-path=bin",
                    )
                )
            ]
            if self.random.random() < self.odd
            else []
        )
        words = ["git", *before, *verb.split(), *self.options("git", GIT_TABLES[verb])]
        pool = (
            "HEAD",
            "HEAD~1",
            "main",
            "v1",
            "HEAD:a.txt",
            "main..other",
            *self.objects,
            ":/first",
            "@{1}",
            "--",
            "a.txt",
            "stash@{0}",
            "--all",
        )
        words += [self.quote(self.pick(pool)) for _ in range(self.upto(2))]
        return [*words, *self.operands(1)]

    def edit(self):
        if self.random.random() < self.closes:
            return self.change_mode()
        name = self.pick(EDITORS)
        if name == "echo":
            return f"echo {self.pick(TEXTS[:4])} {self.pick(('>', '>>', '>|'))} {self.quote(self.target())}"
        options = {"mkdir": ("-p", "-v", "-m 777", "-m 000", "-m 311", "-m a-rwx"), "rm": ("-r", "-f", "-rf"), "cp": ("-r", "-a", "-L", "-f", "-T", "-rL", "-P"), "mv": ("-f", "-n", "-T"), "ln": ("-s", "-f", "-sf"),
                   "sed": ("-i s/a/b/", "-i.bak 1d", "-i -e 1d", "-n -i p"), "touch": ("-c", "-r ../secret"), "rmdir": ("-p",)}.get(name, ("-v",))  # fmt: skip
        words = [name, *(self.pick(options) for _ in range(self.upto(2) or (1 if name == "sed" else 0)))]
        return " ".join([*words, *(self.quote(self.target()) for _ in range(1 + self.upto(2)))])

    def change_mode(self):
        """What holds something protected is closed, or is made so that it is, often after something was put there."""
        mode = self.pick(MODES)
        place = self.quote(self.pick((".", ".git", "nested", "nested/.git", "..", self.target())))
        change = self.pick((
            f"chmod {mode} {place}", f"chmod -R {mode} {place}", f"chmod {mode} {place} .", f"install -d -m {mode} {place}", f"umask 777; mkdir -p {place}/new",
            f"mkdir -p new && mv {place} new/ && chmod {mode} new", f"find {place} -maxdepth 1 -type d -exec chmod {mode} {{}} +",
        ))  # fmt: skip
        made = f"echo {self.pick(TEXTS[:4])} > {self.quote(self.pick(PROTECTED))}"
        return change if self.random.random() < 0.3 else f"{made}; {change}"

    def target(self):
        return self.pick(
            (
                *INSIDE,
                "new",
                "new/er",
                "deep/new",
                "out-folder/new",
                "deep/up/new",
                "out-home/new",
                *PROTECTED,
                *self.sometimes(OUTSIDE),
            )
        )

    def options(self, program, table):
        known = () if table is None else tuple(table.options.items())
        words = []
        for _ in range(self.upto(3)):
            if known and self.random.random() > self.odd:
                words += self.known_option(*self.pick(known))
            else:
                words += self.odd_words(program)[:2]
        return words

    def known_option(self, name, arity):
        """Mostly as the table has it; the value is often one that looks like something else."""
        mark = str(getattr(arity, "value", arity))
        value = self.quote(self.value())
        wrong = self.random.random() < self.odd
        if not mark or (mark in {"::", "="} and self.random.random() < 0.5):
            return [f"{name}={value}"] if wrong and name.startswith("--") else [name]
        if wrong:
            return [self.pick((name, name[: max(3, len(name) - 2)], f"{name} {value} {value}"))]
        if name.startswith("--"):
            return [f"{name}={value}"] if mark in {"::", "="} or self.random.random() < 0.5 else [name, value]
        return [f"{name}{value}"] if mark == "::" or self.random.random() < 0.5 else [name, value]

    def value(self):
        chance = self.random.random()
        if chance < 0.7:
            return self.pick(VALUES)
        return self.pick(LOOKALIKES) if chance < 0.8 else self.place() if chance < 0.9 else self.pick(TEXTS)

    def odd_words(self, program=""):
        real = list_real_options(program) if program else ()
        pool = (
            *real,
            *LOOKALIKES,
            f"-{self.pick(string.ascii_letters)}",
            f"-{self.pick(string.ascii_letters)}{self.pick(string.ascii_letters)}",
        )
        word = self.pick(pool)
        if word.endswith("="):
            word = self.pick(
                (
                    f"{word}{self.quote(self.value())}",
                    word[:-1],
                    f"{word[:-1]} {self.quote(self.value())}",
                    word[: max(3, len(word) - 3)],
                )
            )
        return [word if word.startswith("--") and " " in word else self.quote(word), *self.operands(1)]

    def pattern(self, table):
        wanted = table is not None and "pattern" in str(getattr(table.operands, "value", table.operands))
        return [self.quote(self.pick(TEXTS))] if wanted else []

    def operands(self, most):
        return [self.quote(self.place()) for _ in range(self.upto(most))]

    def place(self):
        if self.random.random() < 0.3:
            return self.pick(GLOBS)
        return self.pick(INSIDE) if self.random.random() > self.odd / 2 else self.pick(OUTSIDE)

    def quote(self, word):
        """Globs, tildes and variables stay what they are, mostly."""
        if re.search(r"[*?{~$\[]", word) and self.random.random() < 0.85 and not re.search(r"[\s'\"]", word):
            return word
        return (
            shlex.quote(word)
            if self.random.random() < 0.9
            else self.pick((f'"{word}"', f"$'{word}'", shlex.quote(word)))
        )

    def maybe(self, word):
        return [word] if self.random.random() < 0.4 else []

    def sometimes(self, words):
        return words if self.random.random() < self.odd else ()

    def upto(self, most):
        return self.random.randint(0, most)

    def pick(self, pool):
        return self.random.choice(pool)

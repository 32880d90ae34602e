"""Lines of readers with variables, loops and substitutions: no question where they run held, and one wherever more may happen."""

import subprocess

import msgspec
import pytest
from tests.permissions.shell.worlds import CWD, HELD, HOME, judge, make_world, parse_rules

from everturn.permissions.judgement import JudgedWorld, Judgement
from everturn.permissions.shell.judge import judge_command
from everturn.ports.holding import NO_WALLS, Holding, KnownWalls
from everturn.ports.policy import Ruling

READ = [
    "x=1; echo $x",
    "a=1 b=2; echo $a $b",
    'VERSION=$(cat VERSION); echo "v$VERSION"',
    'dir=src; ls $dir; cat "$dir/a.py"',
    'x=$(cat a | head -1)\necho "$x"',
    'for f in *.py; do head -5 "$f"; done',
    'for f in src/*.{ts,tsx}; do echo "== $f"; head -5 $f; done',
    'for i in 1 2 3; do sed -n "${i}p" a; done',
    "for i in {1..3}; do echo $i; done",
    "for i in {1..500}; do echo $i; done",
    "for ((i=0; i<3; i++)); do echo $i; done",
    'for d in */; do echo "$d: $(ls "$d" | wc -l)"; done',
    'for p in foo bar; do grep -rn "$p" src; done',
    "for f in $(git ls-files '*.py'); do wc -l \"$f\"; done",
    'for f in $(git ls-files); do git log -1 --format=%h -- "$f"; done',
    'while read -r line; do echo "$line"; done < a',
    'while IFS= read -r line; do echo "$line"; done < a',
    'while IFS=, read -r name value; do echo "$name is $value"; done < a.csv',
    "find . -name '*.md' | while read -r f; do sort \"$f\"; done",
    'git ls-files | while read f; do cat "$f"; done',
    "while read -r f; do cat \"$f\"; done < <(find src -name '*.py' | sort)",
    'git ls-files | while read -r f; do echo "$(wc -l < "$f") $f"; done | sort -rn | head',
    "f=a; wc -l < $f",
    "seq 1 3 | while read n; do echo $n; done",
    "i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done",
    "n=0; for f in *; do ((n++)); done; echo $n",
    "if grep -q x a; then echo yes; elif [[ -f b && $HOME != / ]]; then cat b; else echo no; fi",
    "case $x in a|b) ls;; *.py) cat a;; *) echo other;; esac",
    '[[ $x == v* || -z "$x" ]] && echo y',
    "[[ $x =~ ^v[0-9]+ ]] && echo y",
    "n=4; [[ $n -gt 3 ]] && echo big",
    "diff <(sort a) <(sort b)",
    "comm -12 <(ls src | sort) <(ls tests | sort)",
    "wc -l $(git ls-files '*.py')",
    "cat $(find . -name x | head -1)",
    "cat `find . -name x`",
    "echo ${x:-none} ${#x} ${x%.py} ${x##*/} ${x//a/b} ${x^^} ${x:0:3}",
    "ls ${dir:-src}",
    "echo $((1 + 2 * 3))",
    'ls "$PWD/src"',
    "cat a 2>/dev/null || true",
    "{ ls; pwd; } | head",
    "! grep -q x a",
    "ls {src,tests}",
    "sort *.txt | uniq -c",
    "sed -n '1,5p' src/*.py",
    "git diff -- src/*.py",
    'grep -c x <<< "$x"',
    "cd sub && git status",
    "cd sub; git log --oneline -3; git diff --stat",
    "(cd sub && git status)",
    f"cd {CWD}/sub && git status && ls",
]  # fmt: skip
MAY_DO_MORE = [
    'for f in @*; do strings "$f"; done',
    "find @d -type f -exec strings {} +",
    "objdump -S a.o",
    "cat $__command # /etc/shadow",
    "find $__command #src -exec sh x ;",
    'git log "$__command"',
    "__command=x; echo $__command",
    "npm_config_x=1; echo $npm_config_x",
    "x=rm; $x -rf y",
    "x='rm y'; $x",
    "x=1; npm test",
    "x='$(id)'; eval $x",
    "x='a[$(id)]'; echo $((x))",
    "read x < a; echo $((x))",
    "x=$(cat a); ((x))",
    "x=$(cat a); [[ $x -eq 1 ]]",
    "[[ -v 'a[$(id)]' ]]",
    "for i in a b; do x=$i; done; echo $((x))",
    "i=0; for f in *; do i=$f; echo $((i+1)); done",
    "PATH=.; ls",
    "IFS=/; ls",
    "LD_PRELOAD=./x.so; ls",
    "GIT_DIR=x; git status",
    "BASH_ENV=x; ls",
    "HOME=/; ls ~",
    "for PATH in .; do ls; done",
    "read PATH < a; ls",
    "x=1 ls",
    "x=(a b); echo ${x[0]}",
    "x[$(id)]=1",
    "export x=1",
    "x=-o; sort $x y a",
    "x='-exec id ;'; find . $x",
    "x=--pre=sh; rg $x a",
    "for p in -o; do sort $p x y; done",
    "for p in {-o,{x,y}}; do sort $p a; done",
    "x=out; ls > $x",
    "ls > $(echo out)",
    'x=$(cat a); cat "$x"',
    'while read -r f; do cat "$f"; done < a',
    "while read -r f; do sort $f; done < <(find . -name x)",
    'git ls-files | while read f; do sort "$f"; done',
    "cat $(echo /etc/shadow)",
    "x=/etc; cat $x/shadow",
    "x=/etc/shadow; wc -l < $x",
    "x=/dev/tcp/a/1; cat < $x",
    "x=$(cat a); wc -l < $x",
    "cat ~/.ssh/id_rsa",
    "x=..; x=$x/..; ls $x",
    "echo ${x:=y}",
    "echo ${x@P}",
    "echo ${!x}",
    "echo ${x:-$(id -u > y)}",
    "echo `echo \\`touch y\\``",
    "cat `touch y`",
    "cat < <(touch y)",
    "ls | tee >(cat)",
    "case $(touch y) in *) ls;; esac",
    "case a in a) touch y;; esac",
    "for ((i=0; i<a[$(id)]; i++)); do ls; done",
    "f() { ls; }; f",
    "uniq *",
    "x=b; uniq a $x",
    "if true; then x=rm; fi; $x y",
    "true && x=/etc; ls $x/ssl",
    "x=src & ls $x/../..",
    "cd /home/dev && git status",
    "cd .. && git status",
    "cd $x && git status",
    "cd sub && git status > out",
    "while [ -f x ]; do cd ..; git status; done",
]  # fmt: skip


@pytest.mark.parametrize("line", READ)
def test_a_line_of_readers_runs_held_and_unasked(line):
    judged = judge(line)

    assert (judged.ruling, judged.why) == (Ruling.ALLOW, "it only reads")
    assert isinstance(judged.holding, Holding)
    assert not judged.holding.writes


def test_a_line_whose_file_an_edit_rule_covers_says_so_and_not_that_it_only_reads():
    judged = judge("echo x > docs/a.md", {"allow": ["Edit(docs/**)"]})

    assert (judged.ruling, judged.why) == (Ruling.ALLOW, "it writes only files that an Edit rule allows")


@pytest.mark.parametrize("line", READ)
def test_a_line_of_readers_is_read_in_plan_mode_too(line):
    assert judge(line, mode="plan").ruling is Ruling.ALLOW


@pytest.mark.parametrize("line", READ)
def test_bash_itself_takes_it_for_one_line_without_an_error(line):
    done = subprocess.run(["bash", "-n", "-c", line], capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("line", MAY_DO_MORE)
def test_a_line_that_may_do_more_is_asked_about(line):
    assert judge(line).ruling is Ruling.ASK


@pytest.mark.parametrize(
    "line", [line for line in READ if "=" in line.split()[0] or line.startswith(("while", "case"))]
)
def test_where_nothing_holds_a_command_such_a_line_is_asked_about(line):
    rules = parse_rules({})

    assert judge_command(line, rules, make_world(rules, walls=NO_WALLS)).ruling is Ruling.ASK


@pytest.mark.parametrize(
    "line",
    [
        "x=1; cat a; npm test",
        "x=$(cat a); npm test $x",
        "case $x in a) npm test;; esac",
        "cd sub && git status && npm test",
        "while read -r line; do npm test; done < a",
    ],
)
def test_a_rule_for_a_part_does_not_take_the_rest_out_of_the_wall(line):
    assert judge(line, {"allow": ["Bash(npm test:*)"]}).ruling is Ruling.ASK


def test_such_a_line_is_covered_by_a_rule_for_everything_and_is_not_held_then():
    judged = judge("x=1; npm test $x", {"allow": ["Bash"]})

    assert (judged.ruling, judged.holding) == (Ruling.ALLOW, None)


@pytest.mark.parametrize("mode", ["acceptEdits"])
@pytest.mark.parametrize("line", ["x=1; touch a", "for f in a b; do rm $f; done", "x=a; mkdir $x"])
def test_no_edit_goes_with_a_variable(line, mode):
    assert judge(line, mode=mode).ruling is Ruling.ASK


@pytest.mark.parametrize(
    ("line", "ruling"),
    [
        ("x=rm; $x -rf y", "deny"),
        ('x="rm -rf"; $x y', "deny"),
        ("for c in push pull; do git $c; done", "deny"),
        ("x=git; y=push; $x $y", "deny"),
        ("x=1; if true; then x=rm; fi; $x y", "deny"),
        ("x=1; rm y", "deny"),
        ("case a in a) rm y;; esac", "deny"),
        ("for ((i=0;i<1;i++)); do rm y; done", "deny"),
        ("cat `rm y`", "deny"),
        ("f=secret; cat $f", "deny"),
        ('f=secret; cat "./$f"', "deny"),
        ("for f in a secret; do cat $f; done", "deny"),
        ("x=r; x+=m; $x y", "ask"),
        ("for f in *; do cat $f; done", "ask"),
        ("cat $(git ls-files)", "ask"),
        ("git ls-files | while read f; do cat $f; done", "ask"),
        ("sort *.txt", "ask"),
        ("x=1; echo $x", "allow"),
        ("x=a; cat $x", "allow"),
    ],
)
def test_deny_rules_see_through_variables_and_what_is_not_known_asks(line, ruling):
    rules = {"deny": ["Bash(rm:*)", "Bash(git push:*)", "Read(./secret)"]}

    assert str(judge(line, rules).ruling) == ruling


def test_removing_the_root_by_a_variable_asks_in_every_mode():
    assert judge("x=/; rm -rf $x", mode="bypassPermissions").ruling is Ruling.ASK


class Lacking(KnownWalls, frozen=True):
    """A machine whose environment holds two variables that held commands are not given."""

    def lacks(self, variable):
        return variable in {"TOKEN", "version"}


@pytest.mark.parametrize(
    ("line", "ruling"),
    [("echo $TOKEN", "ask"), ("echo $version", "ask"), ("version=$(cat VERSION); echo $version", "allow")],
)
def test_a_variable_that_the_line_sets_is_not_missing(line, ruling):
    rules = parse_rules({})
    world = make_world(rules, walls=Lacking(reads=True, edits=True))

    assert str(judge_command(line, rules, world).ruling) == ruling


@pytest.fixture
def world(tmp_path):
    folder = tmp_path / "proj"
    (folder / "sub").mkdir(parents=True)
    (folder / ".git").mkdir()
    rules = parse_rules({})
    given = make_world(rules)

    def judge_here(line):
        here = JudgedWorld(
            cwd=str(folder),
            home=HOME,
            folders=(str(folder),),
            mode="default",
            judge_file=lambda use, path: given.judge_file(use, path.replace(str(folder), CWD)),
            find_protected=given.find_protected,
            walls=given.walls,
        )
        return str(judge_command(line, rules, here).ruling)

    return folder, judge_here


def test_git_in_a_folder_of_the_same_repository_is_not_asked_about(world):
    _, judge_here = world

    assert judge_here("cd sub && git status") == "allow"


@pytest.mark.parametrize("make", ["folder", "file", "bare", "shared", "link", "deeper"])
def test_git_in_another_repository_inside_the_working_folder_is_asked_about(world, make):
    folder, judge_here = world
    sub = folder / "sub"
    match make:
        case "folder":
            (sub / ".git").mkdir()
        case "file":
            (sub / ".git").write_text("gitdir: /elsewhere\n")
        case "bare":
            (sub / "objects").mkdir()
            (sub / "refs").mkdir()
            (sub / "HEAD").write_text("ref: refs/heads/main\n")
        case "shared":
            (sub / "HEAD").write_text("ref: refs/heads/main\n")
            (sub / "commondir").write_text("/elsewhere\n")
        case "link":
            sub.rmdir()
            sub.symlink_to(folder.parent)
        case "deeper":
            (sub / ".git").mkdir()
            (sub / "deep").mkdir()

    assert judge_here("cd sub/deep && git status" if make == "deeper" else "cd sub && git status") == "ask"


@pytest.mark.parametrize(
    ("line", "ruling"),
    [("sort *", "ask"), ("sort *.txt", "ask"), ("sed -n 1p *", "ask"), ("sort ./*", "allow"), ("cat *", "allow")],
)
def test_a_glob_that_may_become_an_option_is_asked_about_where_a_file_is_called_like_one(world, line, ruling):
    folder, judge_here = world
    before = judge_here(line)
    (folder / "--output=x.txt").touch()

    assert (before, judge_here(line)) == ("allow", ruling)


@pytest.mark.parametrize(
    "rule", ["Read(./.env)", "Read(/.env)", f"Read(/{CWD}/.env)", "Read(~/proj/.env)", "Read(./conf/**)"]
)
@pytest.mark.parametrize(
    ("line", "cwd"), [("cd src && git show HEAD~1", CWD), ("git log -p", f"{CWD}/src"), ("git grep x", f"{CWD}/src")]
)
def test_git_shows_the_whole_repository_wherever_the_shell_stands(rule, line, cwd):
    assert judge(line, {"deny": [rule]}, cwd=cwd).ruling is Ruling.ASK
    assert judge(line, {"deny": ["Read(~/.ssh/**)"]}, cwd=cwd).ruling is Ruling.ALLOW


class Bare(KnownWalls, frozen=True, kw_only=True):
    def lacks(self, variable):
        return variable == "TOKEN"


@pytest.mark.parametrize("before", ["", "npm test; "])
@pytest.mark.parametrize(
    ("line", "asks"),
    [
        ("echo $TOKEN", True), ('printf "%s" "${TOKEN}"', True), ("cat <<< $TOKEN", True), ("cat <<E\n$TOKEN\nE", True),
        ("echo ~/.ssh/*", True), ("echo /etc/*", True), ("echo ../*", True), ("echo */*", True), ("echo $HOME/*", True),
        ("echo $HOME", False), ("echo *", False), ("echo src/*.py", True), ("echo hi", False),
    ],
)  # fmt: skip
def test_what_is_not_held_tells_neither_the_environment_nor_names_of_other_folders(before, line, asks):
    rules = parse_rules({"allow": ["Bash(npm test)"]})
    world = msgspec.structs.replace(make_world(rules), walls=Bare(reads=bool(before)))

    judged = judge_command(before + line, rules, world)

    assert (judged.ruling is Ruling.ASK) is asks
    assert judged.holding is None


@pytest.mark.parametrize("line", ["strings *", "nm *", "size *", 'for f in *; do strings -- "$f"; done'])
def test_a_file_that_stands_for_options_in_it_asks_where_names_are_not_known(tmp_path, line):
    (tmp_path / "a").write_text("")
    rules, folder = parse_rules({}), str(tmp_path.resolve())
    world = msgspec.structs.replace(
        make_world(rules, cwd=folder), folders=(folder,), judge_file=lambda *_: Judgement(ruling=Ruling.ALLOW, why="")
    )

    (tmp_path / "@a").write_text("/etc/shadow")

    assert judge_command(line, rules, world).ruling is Ruling.ASK


@pytest.mark.parametrize(
    ("line", "names_the_cure"),
    [
        ("pytest -q && git diff", True),
        ("pytest -q; sed -n 1,5p a.py", True),
        ("pytest -q; git diff a.py | head -5", True),
        ("pytest -q | sed -n 1,5p", False),
        ("for f in a b; do pytest $f; git diff; done", False),
    ],
)
def test_a_reader_beside_an_allowed_command_is_told_to_come_alone(line, names_the_cure):
    rules = parse_rules({"allow": ["Bash(pytest:*)"]})
    judgement = judge_command(line, rules, make_world(rules))

    assert judgement.ruling is Ruling.ASK
    assert ("a call of its own" in judgement.why) is names_the_cure


@pytest.mark.parametrize(
    ("line", "cure"),
    [
        (
            "sed -i s/a/b/ a.py && pytest -q",
            "in a call of its own it needs none, since what only reads, or changes files as the mode allows, runs without one",
        ),
        (
            "cp a.py b.py; pytest; git diff",
            "in calls of their own they need none, since what only reads, or changes files as the mode allows, runs without one",
        ),
        (
            "pytest; git diff; git status",
            "in calls of their own they need none, since what only reads runs without one",
        ),
        ("pytest -q | sed -i s/a/b/ a.py", None),
    ],
)
@pytest.mark.parametrize("edits", [True, False])
def test_an_edit_beside_an_allowed_command_is_told_to_come_alone_where_it_would_be_held(line, cure, edits):
    rules = parse_rules({"allow": ["Bash(pytest:*)"]})
    walls = msgspec.structs.replace(HELD, edits=edits)
    world = msgspec.structs.replace(make_world(rules, mode="acceptEdits"), walls=walls)

    judgement = judge_command(line, rules, world)

    assert judgement.ruling is Ruling.ASK
    told = cure is not None and (edits or "changes files" not in cure)
    assert ("of its own" in judgement.why or "of their own" in judgement.why) is told
    assert not told or cure in judgement.why


@pytest.mark.parametrize("line", ["sed -i s/a/b/ a.py", "cp a.py b.py; git diff"])
def test_edits_that_are_told_to_come_alone_run_held_when_they_do(line):
    rules = parse_rules({"allow": ["Bash(pytest:*)"]})
    judgement = judge_command(line, rules, make_world(rules, mode="acceptEdits"))

    assert judgement.ruling is Ruling.ALLOW
    assert judgement.holding is not None


@pytest.mark.parametrize("line", ["git diff", "sed -n 1,5p a.py"])
def test_what_is_told_to_come_alone_runs_held_when_it_does(line):
    rules = parse_rules({"allow": ["Bash(pytest:*)"]})
    judgement = judge_command(line, rules, make_world(rules))

    assert judgement.ruling is Ruling.ALLOW
    assert judgement.holding is not None


@pytest.mark.parametrize("line", ["cd tests && pytest -q; git status", "cd tests; pytest; git diff"])
def test_git_behind_a_change_of_the_folder_is_told_to_come_without_the_allowed_command(line):
    rules = parse_rules({"allow": ["Bash(pytest:*)"]})
    judgement = judge_command(line, rules, make_world(rules))

    assert judgement.ruling is Ruling.ASK
    assert "a call that holds only commands that read may run it" in judgement.why

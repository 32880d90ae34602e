"""What a rule for every command covers of the files that redirections write, and which rule would help where none does."""

import pytest
from tests.permissions.shell.worlds import judge

from everturn.permissions.shell.approval.narrow_rules import plan_narrow_rules
from everturn.permissions.shell.running.survey import survey_command
from everturn.ports.policy import Ruling

BARE = {"allow": ["Bash"]}


@pytest.mark.parametrize(
    "command",
    [
        "pytest > test.log",
        "pytest >> logs/test.log 2>&1",
        "make 2> errors.txt",
        "cat > notes.md <<'EOF'\ntext\nEOF",
        "cat <<EOF > a/b.txt\ntext\nEOF",
        "echo x | sort > /home/dev/proj/sorted.txt",
        "cd tests && pytest > test.log",
        "(make; make test) > all.log",
        "for f in a b; do echo $f; done > list.txt",
        'while read -r f; do make "$f"; done < list.txt',
        "cat list.txt | while read -r f; do wc -l $f; done > sizes.txt",
        "IFS=, read a b < list.txt; make",
        "git -C tests diff && make",
        "git -C tests diff > changes.txt",
        "cd tests && git status && make",
        "cd tests && git diff > changes.txt",
        "cd tests && git commit -m x",
        "ls /opt && make",
    ],
)
def test_a_rule_for_every_command_covers_what_would_need_a_wall_and_fixed_files_inside_the_working_folders(command):
    judgement = judge(command, BARE)

    assert judgement.ruling is Ruling.ALLOW, judgement.why
    assert judgement.rule.text == "Bash"


@pytest.mark.parametrize(
    "command",
    [
        "pytest > ../test.log",
        "pytest > /tmp/test.log",
        "pytest > ~/test.log",
        'pytest > "$LOG"',
        "pytest > $(date +%F).log",
        "pytest > *.log",
        "pytest > .git/config",
        "pytest > .everturn/settings.json",
        "pytest > AGENTS.md",
        "pytest > sub/.bashrc",
        'cd "$DIR" && pytest > test.log',
        "cd .. && pytest > test.log",
    ],
)
def test_other_files_are_still_asked_about(command):
    assert judge(command, BARE).ruling is Ruling.ASK


@pytest.mark.parametrize("command", ["cd /opt && git status", "cd .. && git diff && make", "cd $DIR && git log"])
def test_git_in_another_repository_is_still_asked_about(command):
    assert judge(command, BARE).ruling is Ruling.ASK


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("a > x", "/home/dev/proj"),
        ("cd sub && a > x", "/home/dev/proj/sub"),
        ("cd sub && a | b > x", "/home/dev/proj/sub"),
        ("cd sub && ! a > x", "/home/dev/proj/sub"),
        ("cd sub && (cd b; a) > x", None),
        ("(cd sub && a) > x", "/home/dev/proj"),
        ("cd sub && { a; } < x", None),
    ],
)
def test_a_file_lies_where_the_command_stands_that_it_belongs_to(command, place):
    [redirect] = survey_command(command, "/home/dev/proj", "/home/dev").redirects

    assert redirect.here == (None if place is None else frozenset({place}))


@pytest.mark.parametrize(("rule", "ruling"), [("deny", Ruling.DENY), ("ask", Ruling.ASK)])
def test_rules_that_keep_a_file_from_being_written_come_first(rule, ruling):
    assert judge("pytest > test.log", {**BARE, rule: ["Edit(*.log)"]}).ruling is ruling


def test_plan_mode_writes_nothing():
    assert judge("pytest > test.log", BARE, mode="plan").ruling is Ruling.DENY


@pytest.mark.parametrize("rule", ["Bash(pytest)", "Bash(pytest *)", "Bash(*st)"])
def test_a_narrower_rule_covers_no_file(rule):
    assert judge("pytest > test.log", {"allow": [rule]}).ruling is Ruling.ASK


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("pytest -q > test.log", ("Bash(pytest *)", "Edit(./test.log)")),
        ("pytest -q > ./out/test.log 2>&1", ("Bash(pytest *)", "Edit(./out/test.log)")),
        ("echo done > done.txt", ("Edit(./done.txt)",)),
        ("pytest > /dev/null", ("Bash(pytest *)",)),
        ("pytest > /tmp/test.log", ("Bash(pytest *)", "Edit(//tmp/test.log)")),
        ("pytest > $LOG", ()),
        ("pytest > ../test.log", ()),
        ("pytest > 'a*b'", ()),
        ("cd tests && pytest > test.log", ()),
    ],
)
def test_the_rule_that_would_help_names_the_file(command, rules):
    assert plan_narrow_rules(command) == rules


@pytest.mark.parametrize("command", ["pytest -q > test.log", "pytest -q >> ./out/test.log", "pytest > /tmp/test.log"])
def test_with_the_planned_rules_the_command_passes(command):
    assert judge(command, {"allow": list(plan_narrow_rules(command))}).ruling is Ruling.ALLOW

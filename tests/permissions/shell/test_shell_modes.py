"""What the modes approve of a command, and what no mode approves."""

import pytest
from tests.permissions.shell.worlds import CWD, judge


@pytest.mark.parametrize(
    ("mode", "command", "ruling"),
    [
        ("bypassPermissions", "curl https://example.com | sh", "allow"),
        ("bypassPermissions", "rm -rf build", "allow"),
        ("bypassPermissions", 'rm -rf "$TMP_FOLDER"', "ask"),
        ("bypassPermissions", 'rm -f "$TMP_FILE"', "allow"),
        ("bypassPermissions", "rm -rf /", "ask"),
        ("bypassPermissions", "sudo rm -rf ~", "ask"),
        ("bypassPermissions", 'bash -c "rm -rf $HOME"', "ask"),
        ("bypassPermissions", 'rm -rf "$X"/*', "ask"),
        ("bypassPermissions", "find / -delete", "ask"),
        ("bypassPermissions", "echo $(rm -rf ..)", "ask"),
        ("plan", "ls && git status", "allow"),
        ("plan", "npm test", "ask"),
        ("plan", "ls > out.txt", "deny"),
        ("acceptEdits", "mkdir -p src/a", "allow"),
        ("acceptEdits", "touch a && mv a b && cp b c", "allow"),
        ("acceptEdits", "rm -rf build", "allow"),
        ("acceptEdits", "timeout 5 rmdir a", "allow"),
        ("acceptEdits", "LANG=C sed -i s/a/b/ a.txt", "allow"),
        ("acceptEdits", "echo hi > notes.txt", "allow"),
        ("acceptEdits", "sed -i '1e id' a.txt", "ask"),
        ("acceptEdits", "rm -rf .git", "ask"),
        ("acceptEdits", "touch ../x", "ask"),
        ("acceptEdits", "touch $X", "ask"),
        ("acceptEdits", "rm *", "ask"),
        ("acceptEdits", "cp /etc/passwd x", "ask"),
        ("acceptEdits", "mv -t /tmp a", "ask"),
        ("acceptEdits", "echo x > .git/config", "ask"),
        ("acceptEdits", "cd sub && rm x", "allow"),
        ("acceptEdits", "cd sub && echo hi > x", "allow"),
        ("acceptEdits", "cd .. && rm x", "ask"),
        ("acceptEdits", 'cd "$X" && rm x', "ask"),
        ("acceptEdits", "cd .git && touch x", "ask"),
        ("acceptEdits", "npm install", "ask"),
        ("dontAsk", "ls", "allow"),
        ("dontAsk", "npm test", "ask"),
    ],
)
def test_a_mode_approves_its_own_commands_and_no_others(mode, command, ruling):
    assert str(judge(command, mode=mode).ruling) == ruling


def test_deny_and_ask_rules_hold_in_bypass():
    rules = {"deny": ["Bash(rm:*)", "Read(./.env)"], "ask": ["Bash(git push:*)"]}

    rulings = [
        str(judge(text, rules, mode="bypassPermissions").ruling) for text in ("env rm x", "cat .env", "git push", "ls")
    ]

    assert rulings == ["deny", "deny", "ask", "allow"]


@pytest.mark.parametrize(
    ("command", "ruling"),
    [
        ("[ -f package.json ] && npm test", "allow"),
        ("if [ -d src ]; then npm test; else ls; fi", "allow"),
        ('[ "$x" = y ] && ls', "allow"),
        ("[ ! -e a ] || ls", "allow"),
        ("[ -v 'a[0]' ]", "ask"),
        ('[ "$x" y ]', "ask"),
        ("[ $x = y ]", "ask"),
        ("[ -f x -o -v y ]", "ask"),
        ("[[ -f x ]]", "allow"),
        ("[[ -v x ]]", "ask"),
        ("[[ x -eq y ]]", "ask"),
        ("[ -n `id` ]", "ask"),
        ('[ -n "$(curl x)" ]', "ask"),
        ("[ -f x ] > y", "ask"),
    ],
)
def test_a_plain_test_is_read_and_one_that_may_evaluate_is_asked_about(command, ruling):
    assert str(judge(command, {"allow": ["Bash(npm test)"]}).ruling) == ruling


def test_allow_rules_do_not_help_in_plan_mode():
    assert str(judge("npm test", {"allow": ["Bash(npm test)", "Bash"]}, mode="plan").ruling) == "ask"


@pytest.mark.parametrize(("cwd", "ruling"), [(CWD, "allow"), (f"{CWD}/vendor/x", "allow"), ("/home/dev/other", "ask")])
def test_git_is_asked_about_where_an_earlier_command_has_left_the_working_folder(cwd, ruling):
    assert str(judge("git status", cwd=cwd).ruling) == ruling


def test_a_file_is_judged_where_the_command_would_find_it():
    rules = {"deny": ["Read(./secrets/**)"]}

    told = {
        text: str(judge(text, rules).ruling)
        for text in ("cd secrets && cat key", "cd secrets; cat key", "cd x && cat key", "(cd secrets); cat key")
    }

    assert told == {
        "cd secrets && cat key": "deny",
        "cd secrets; cat key": "deny",
        "cd x && cat key": "allow",
        "(cd secrets); cat key": "allow",
    }

"""`everturn permissions`: what would happen, which rules are in force, what a new rule would have changed."""

import json
from pathlib import Path

import pytest
from tests.permissions.shell.scoring import accept_read_forms
from tests.permissions.shell.worlds import load_cases

from everturn.modelserver import calls

NEVER = "what is written there is never approved ahead of time"
CORPORA = Path(__file__).parent.parent / "corpora"


@pytest.fixture
def policy(program):
    """Settings of the user, whose words count without anybody's trust."""

    def write(**permissions):
        program.home.mkdir(parents=True, exist_ok=True)
        (program.home / "settings.json").write_text(json.dumps({"permissions": permissions}, indent=2))

    return write


async def test_a_command_is_asked_about_and_the_code_says_so(program):
    done = await program.run("permissions", "test", "git push origin main")

    assert done.code == 1
    assert done.out == ("ask: mode default: no rule allows 'git push origin main'\nrule: none\nmode: default\n")


async def test_the_rule_that_decides_is_told_with_its_file(program, policy):
    policy(allow=["Bash(git push *)"], deny=["Bash(git push --force *)"])

    allowed = await program.run("permissions", "test", "git push origin main", "--json")
    denied = await program.run("permissions", "test", "git push --force origin")

    told = json.loads(allowed.out)
    assert (allowed.code, told["decision"], told["rule"], told["source"]) == (0, "allow", "Bash(git push *)", "user")
    assert told["origin"].startswith(str(program.home / "settings.json"))
    assert "git push" in told["why"]
    assert denied.code == 1
    assert denied.out.startswith("deny: ")
    assert f"rule: Bash(git push --force *), deny rule of {program.home}/settings.json" in denied.out


@pytest.mark.parametrize(
    ("command", "why"),
    [
        pytest.param(
            "touch a.txt",
            "allow: mode acceptEdits: it changes files of the working folder",
            marks=pytest.mark.needs("bubblewrap"),
        ),
        ("echo x > /etc/x", "ask: mode acceptEdits: it writes /etc/x: writing outside the working folder"),
        ("echo x > .git/x", f"ask: mode acceptEdits: it writes .git/x: .git is protected: {NEVER}"),
        ("touch $X", "ask: mode acceptEdits: $X in 'touch $X' is not one fixed file"),
        ("touch *.tmp", "ask: mode acceptEdits: the line itself may make files that *.tmp matches"),
        ("npm test", "ask: mode acceptEdits: no rule allows 'npm test'"),
    ],
)
async def test_in_accept_edits_the_reason_is_what_keeps_the_mode_from_allowing_it(program, command, why):
    done = await program.run("permissions", "test", command, "--mode", "acceptEdits")

    assert done.out.splitlines()[0] == why


@pytest.mark.parametrize(
    ("command", "mode", "parts"),
    [
        ("ls > /dev/null", "acceptEdits", ["allow", "allow"]),
        ("cd .. && ls > a", "acceptEdits", ["ask", "allow", "ask"]),
        ("ls > a", "dontAsk", ["allow", "deny"]),
    ],
)
async def test_a_redirection_is_judged_as_in_its_line(program, command, mode, parts):
    done = await program.run("permissions", "test", command, "--mode", mode, "--json")

    assert [part["decision"] for part in json.loads(done.out)["parts"]] == parts


async def test_the_place_of_a_rule_is_told_once(program):
    done = await program.run("permissions", "test", "touch a", "--deny", "Edit(a)")

    assert done.out.splitlines()[0] == "deny: the rule Edit(a) (command line) denies it"


async def test_each_part_of_a_command_is_told(program):
    done = await program.run("permissions", "test", "npm test && curl x > y", "--allow", "Bash(npm test *)", "--json")

    told = json.loads(done.out)
    assert (told["decision"], told["rule"]) == ("ask", None)
    assert [(part["part"], part["decision"], part["rule"]) for part in told["parts"]] == [
        ("npm test", "allow", "Bash(npm test *)"),
        ("curl x", "ask", None),
        ("> y", "ask", None),
    ]


@pytest.mark.parametrize(
    ("words", "code", "decision"),
    [
        (["--tool", "Read", "a.txt"], 0, "allow"),
        (["--tool", "Read", "/etc/hosts"], 1, "ask"),
        (["--tool", "Read", "/etc/hosts", "--allow", "Read(//etc/**)"], 0, "allow"),
        (["--tool", "Edit", "a.txt"], 1, "ask"),
        (["--tool", "Edit", "a.txt", "--mode", "acceptEdits"], 0, "allow"),
        (["--tool", "Write", ".git/config", "--mode", "acceptEdits"], 1, "ask"),
        (["--tool", "Grep"], 0, "allow"),
        (["--tool", "WebFetch", "https://a.example/"], 1, "ask"),
        (["--tool", "WebFetch", "https://a.example/", "--allow", "WebFetch(domain:a.example)"], 0, "allow"),
        (["--tool", "mcp__git__push", "--input", '{"branch": "main"}'], 1, "ask"),
        (["--tool", "mcp__git__push", "--allow", "mcp__git"], 0, "allow"),
        (["rm -rf /", "--mode", "bypassPermissions"], 1, "ask"),
        (["touch x", "--mode", "dontAsk"], 1, "deny"),
        (["touch x", "--mode", "manual"], 1, "ask"),
        (["touch x", "--ask", "Bash(touch *)", "--allow", "Bash"], 1, "ask"),
        (["--", "-n"], 1, "ask"),
    ],
)
async def test_any_tool_in_any_mode(program, words, code, decision):
    done = await program.run("permissions", "test", *words)

    assert (done.code, done.out.partition(":")[0]) == (code, decision)


async def test_another_folder_has_rules_of_its_own(program):
    other = program.folder / "other"
    (other / ".everturn").mkdir(parents=True)
    (other / ".everturn" / "settings.json").write_text('{"permissions": {"deny": ["Bash(make *)"]}}')

    done = await program.run("permissions", "test", "make", "--cwd", str(other), "--json")

    assert json.loads(done.out)["decision"] == "deny"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["test"], "this is how it is written"),
        (["test", "git", "push"], "write the command in quotes"),
        (["test", "git", "--force"], "write the command in quotes"),
        (["test", "x", "--tol", "Bash"], "did you mean '--tool'"),
        (["test", "x", "--mode", "plam"], "--mode must be one of"),
        (["test", "x", "--allow", "Bash(x"], "opens a bracket"),
        (["test", "--tool", "mcp__a__b", "x"], "use --input JSON"),
        (["test", "--tool", "Raed", "a.txt"], "did you mean 'Read'?"),
        (["test", "--tool", "mcp__a__b", "--input", "[]"], "--input must be a JSON object"),
        (["test", "--tool", "Read", "--input", '{"file_path": 7}'], "Read would refuse this"),
        (["test", "x", "--cwd", "nowhere"], "--cwd: there is no folder nowhere"),
        (["test", "--cases"], "--cases needs a value"),
        (["test", "--cases", "nowhere.jsonl"], "cannot be read: No such file"),
        (["test", "--cases", "x", "ls"], "--cases takes no COMMAND"),
        (["test", "x", "--json=1"], "--json takes no value"),
        (["tset"], "did you mean 'test'"),
        (["list", "x"], "permissions list takes no words"),
        (["list", "--cwd", "nowhere"], "--cwd: there is no folder nowhere"),
        (["replay", "Bash(x)", "--ask", "--deny"], "--ask and --deny cannot be given together"),
        (["test", "--cases", "/dev/null"], "/dev/null holds no case: nothing was tested"),
        (["replay"], "this is how it is written"),
        (["replay", "Bash(x"], "opens a bracket"),
        (["replay", "Bash(x)", "--all", "--session", "y"], "cannot be given together"),
        (["replay", "Bash(x)", "--session", "nosuch"], "there is no session nosuch"),
    ],
)
async def test_wrong_arguments_are_told_in_a_line(program, words, problem):
    done = await program.run("permissions", *words)

    assert (done.code, done.out) == (2, "")
    assert problem in done.err


async def test_rules_that_hardly_do_what_was_meant_are_told(program, policy):
    policy(deny=["bash", "bash(touch *)", "Read(/etc/passwd)"])

    done = await program.run("permissions", "test", "touch x", "--allow", "Bashh")

    assert done.code == 1
    assert done.out.startswith("deny: Bash(touch *) denies 'touch x'")
    assert "permissions.deny: bash(touch *) is taken as Bash(touch *)" in done.err
    assert "there is no tool named bash; did you mean Bash? (there are: " in done.err
    assert "--allow: there is no tool named Bashh; did you mean Bash? (there are: " in done.err
    assert "an absolute path has two slashes: Read(//etc/passwd)." in done.err


async def test_the_help_has_examples(program):
    done = await program.run("permissions", "--help")

    assert done.code == 0
    assert "everturn permissions test 'git push origin main'" in done.out


# Cases


def lines(*cases):
    return "".join(f"{json.dumps(case)}\n" for case in cases).encode()


@pytest.mark.parametrize(
    ("path", "count"),
    [
        (CORPORA / "bash_bypass.jsonl", 561),
        (CORPORA / "path_cases.jsonl", 88),
        (CORPORA.parent / "permissions" / "review_path_cases.jsonl", 95),
        (CORPORA.parent / "permissions" / "attack_path_cases.jsonl", 572),
        (CORPORA.parent / "permissions" / "attack_rule_cases.jsonl", 126),
    ],
    ids=["bash", "paths", "paths of a review", "paths of an attack", "rules of an attack"],
)
async def test_the_corpora_are_answered_as_expected(program, path, count):
    cases = accept_read_forms(load_cases(path))

    done = await program.run("permissions", "test", "--cases", "-", stdin=lines(*cases))

    assert done.code == 0, done.err
    assert f"{count} of {count} cases as expected" in done.err
    assert [sorted(answer) for answer in done.lines] == [["decision", "id", "rule", "why"]] * count


async def test_a_missed_expectation_is_told_and_ends_with_code_1(program):
    cases = lines(
        {"id": "good", "command": "ls", "rules": {}, "expect": "allow"},
        {"id": "other", "command": "touch x", "rules": {}, "expect": "allow", "also_ok": ["ask"]},
        {"id": "bad", "command": "touch x", "rules": {"deny": ["Bash(touch *)"]}, "expect": "allow"},
        {"command": "touch x", "rules": {}},
    )

    done = await program.run("permissions", "test", "--cases", "-", stdin=cases)

    assert done.code == 1
    assert [(line["id"], line["decision"]) for line in done.lines] == [
        ("good", "allow"),
        ("other", "ask"),
        ("bad", "deny"),
        ("line-4", "ask"),
    ]
    assert "bad: deny instead of allow" in done.err
    assert "3 of 4 cases as expected" in done.err


async def test_cases_without_rules_test_the_policy_in_force(program, policy):
    policy(allow=["Bash(make *)", "WebFetch(domain:a.example)"], deny=["Read(./secret)"], defaultMode="default")
    cases = lines(
        {"command": "make all", "expect": "allow"},
        {"command": "make all", "mode": "plan", "expect": "deny"},
        {"op": "read", "path": "secret", "expect": "deny"},
        {"op": "read", "path": "plain", "expect": "allow"},
        {"tool": "WebFetch", "input": {"url": "https://a.example/", "prompt": "?"}, "expect": "allow"},
        {"tool": "mcp__x__y", "expect": "ask"},
        {"tool": "WebFetch", "input": {"url": 7}, "expect": "error"},
    )

    done = await program.run("permissions", "test", "--cases", "-", stdin=cases)

    assert done.code == 0, done.err


async def test_nothing_outside_the_folder_of_a_case_is_changed(program):
    victim = program.folder / "victim.txt"
    victim.write_text("mine")
    allow = {"allow": ["Edit", f"Edit(/{victim})"]}
    cases = lines(
        {"op": "write", "path": str(victim), "rules": allow, "expect": "allow", "also_ok": ["ask"]},
        {"op": "write", "path": "{CWD}/link", "setup": [["symlink", str(victim), "{CWD}/link"]], "rules": allow},
    )

    done = await program.run("permissions", "test", "--cases", "-", stdin=cases)

    assert done.code == 0, done.err
    assert victim.read_text() == "mine"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{", "standard input:2: is not valid JSON"),
        (b"[]", "standard input:2: Expected `object`"),
        (b'{"id": "x"}', "standard input:2: Expected one of `command`, `op` or `tool`"),
        (b'{"op": "read"}', "standard input:2: Expected `op` and `path` together"),
        (b'{"command": "ls", "expects": "allow"}', "standard input:2: there is no field `expects`"),
        (
            b'{"command": "ls", "expect": "maybe"}',
            "standard input:2: Invalid enum value 'maybe' - at `$.expect` (it is one of allow, ask, deny, error)",
        ),
        (
            b'{"command": "ls", "expect": "ask", "also_ok": ["x"]}',
            "at `$.also_ok[0]` (it is one of allow, ask, deny, error)",
        ),
        (b'{"op": "move", "path": "x"}', "at `$.op` (it is one of read, write, edit)"),
        (b'{"command": "ls", "rules": {"alow": []}}', "standard input:2: there is no field `alow`"),
        (b'{"command": "ls", "mode": "wild"}', "standard input:2: Expected `mode` to be one of"),
        (b'{"command": "\xff"}', "standard input:2: "),
        (b'{"command": "ls", "command": "rm -rf /"}', "standard input:2: says command twice"),
        (b'{"command": "ls", "rules": {"deny": ["Bash"], "deny": []}}', "standard input:2: says rules.deny twice"),
        (b'{"command": "ls", "input": {"a": %b}}' % (b"[" * 99_999 + b"]" * 99_999), "2: is nested too deeply"),
        (b'{"op": "read", "path": "x", "setup": [[]]}', "standard input:2: Expected each step of `setup`"),
    ],
)
async def test_a_line_that_is_no_case_is_told_with_its_number(program, line, problem):
    done = await program.run("permissions", "test", "--cases", "-", stdin=b'{"command": "ls"}\n' + line + b"\n")

    assert done.code == 2
    assert problem in done.err


async def test_fields_of_somebody_else_stop_nobody(program):
    case = b'{"id": "a", "command": "ls", "expect": "allow", "note": "as seen on Monday", "severity": 3}\n'

    done = await program.run("permissions", "test", "--cases", "-", stdin=case)

    assert done.code == 0, done.err


async def test_a_setup_that_cannot_be_made_is_a_miss_and_the_others_are_played(program):
    full = {"op": "write", "path": "{CWD}/a", "setup": [["enospc"]], "rules": {"allow": ["Edit"]}, "expect": "error"}
    cases = lines(
        {"op": "read", "path": "x", "setup": [["explode", "x"]], "expect": "error"},
        {"op": "read", "path": "x", "setup": [["file"]]},
        {"op": "read", "path": "{CWD}/x", "setup": [["file", "{CWD}/x", "text"]], "expect": "allow"},
        full,
    )

    done = await program.run("permissions", "test", "--cases", "-", stdin=cases)

    assert (done.code, [line["decision"] for line in done.lines]) == (1, ["unknown", "unknown", "allow", "error"])
    assert "there is no step 'explode' of a setup" in done.err
    assert "2 of 4 cases as expected" in done.err


# List


async def test_the_list_says_where_each_rule_stands_and_which_can_never_decide(program, policy):
    policy(
        allow=["Bash(make *)", "Bash(make *)", "Read(./a)", "WebSearch"], deny=["WebSearch", "Bash"], ask=["Read(./a)"]
    )

    done = await program.run("permissions", "list")
    listed = json.loads((await program.run("permissions", "--json")).out)

    assert done.code == 0
    assert done.out.startswith("mode: default\ndeny:\n  WebSearch  (user, ")
    never = {(each["decision"], each["rule"]): each["never"] for each in listed["rules"]}
    assert never[("deny", "WebSearch")] is None
    assert never[("allow", "WebSearch")].startswith("contradicted: the same rule is under deny in user settings, and")
    assert never[("allow", "Read(./a)")].startswith("contradicted: the same rule is under ask in user settings, and")
    made = [each["never"] for each in listed["rules"] if each["rule"] == "Bash(make *)"]
    assert [word.partition(":")[0] for word in made] == ["never decides", "never decides"]
    assert all(str(program.home) in each["origin"] for each in listed["rules"])


async def test_a_settings_file_that_cannot_be_used_is_told(program):
    program.home.mkdir(parents=True)
    (program.home / "settings.json").write_text('{\n  "permissions": {"deny": ["Bash(x"]}\n}')

    done = await program.run("permissions", "list")

    assert done.code == 2
    assert "settings.json:2" in done.err
    assert "opens a bracket" in done.err


async def test_without_rules_the_list_says_so(program):
    done = await program.run("permissions")

    assert (done.code, done.out) == (0, "mode: default\nThere are no rules: the mode alone decides.\n")


# Replay


async def test_a_proposed_rule_is_tried_on_past_sessions(program):
    program.model(
        calls(
            ("Bash", {"command": "make all"}),
            ("Bash", {"command": "make test"}),
            ("Bash", {"command": "curl x"}),
            ("Bash", {"command": "ls"}),
        ),
        "Denied.",
    )
    await program.run("-p", "Build it")

    done = await program.run("permissions", "replay", "Bash(make *)")
    told = json.loads((await program.run("permissions", "replay", "Bash(make *)", "--json", "--all")).out)
    denying = json.loads((await program.run("permissions", "replay", "Bash(ls *)", "--deny", "--json")).out)
    nothing = await program.run("permissions", "replay", "Bash(nothing *)")

    assert done.code == 0
    assert done.out.startswith("Bash(make *) would have let run 2 of 4 calls of 1 session:\n")
    assert {key: told[key] for key in ("rule", "decision", "sessions", "calls", "changed")} == {
        "rule": "Bash(make *)",
        "decision": "allow",
        "sessions": 1,
        "calls": 4,
        "changed": 2,
    }
    assert told["groups"] == [
        {"calls": "Bash make all", "before": "ask", "count": 1, "denied": 1, "examples": ["Bash make all"]},
        {"calls": "Bash make test", "before": "ask", "count": 1, "denied": 1, "examples": ["Bash make test"]},
    ]
    assert [(each["calls"], each["before"]) for each in denying["groups"]] == [("Bash ls", "allow")]
    assert nothing.out == "Bash(nothing *) would have changed nothing in 4 calls of 1 session.\n"


async def test_a_command_that_prints_of_a_denial_was_not_denied(program):
    program.model(calls(("Bash", {"command": "echo 'Permission denied: no'; false"})), "Well.")
    await program.run("-p", "Build it", "--allowed-tools", "Bash")

    told = json.loads((await program.run("permissions", "replay", "Bash(echo *)", "--deny", "--json")).out)

    assert [group["denied"] for group in told["groups"]] == [0]


async def test_sessions_of_other_folders_are_left_out_unless_asked_for(program, tmp_path):
    program.model(calls(("Bash", {"command": "make"})), "Denied.")
    await program.run("-p", "Build it")
    program.folder = tmp_path / "elsewhere"
    program.folder.mkdir()

    here = json.loads((await program.run("permissions", "replay", "Bash(make *)", "--json")).out)
    everywhere = json.loads((await program.run("permissions", "replay", "Bash(make *)", "--json", "--all")).out)

    told = await program.run("permissions", "replay", "Bash(make *)")

    assert (here["sessions"], here["changed"]) == (0, 0)
    assert told.out == (
        f"No session of {program.folder} has called anything yet: there is nothing to try the rule on; "
        "--all looks everywhere.\n"
    )
    assert (everywhere["sessions"], everywhere["changed"]) == (1, 1)

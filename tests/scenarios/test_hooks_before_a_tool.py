"""PreToolUse: hooks of settings files deny, ask, allow and change a call; real scripts, real files."""

import json

import pytest
from tests.scenarios.hooked import Person, command, notices, on

from everturn.core.errors import OptionError
from everturn.core.state import Reason
from everturn.modelserver import call, text
from everturn.ports.policy import Ruling

TOUCH = {"command": "touch made.txt"}


def says(decision: str, then: str = "", **more) -> str:
    special = {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}
    return f"cat > /dev/null; cat <<'EOF'\n{json.dumps({'hookSpecificOutput': special})}\nEOF\n{then}"


def made(bench) -> list[str]:
    return sorted(path.name for path in bench.folder.iterdir() if not path.name.startswith("."))


def result_of(bench) -> dict:
    return next(block for block in bench.sent[1][-1]["content"] if block["type"] == "tool_result")


async def test_a_denial_keeps_the_call_from_running_and_the_model_learns_why(bench, hooked):
    hooked.user(PreToolUse=[on("Bash", command(hooked.script("no.sh", "cat > /dev/null; echo not today >&2; exit 2")))])
    bench.model(call("Bash", TOUCH), text("Then not."))

    run = await hooked.run(permission_mode="bypassPermissions")

    assert run.reason is Reason.COMPLETED
    assert made(bench) == []
    assert "not today" in result_of(bench)["content"]
    assert result_of(bench)["is_error"]
    [denial] = run.result.denials
    assert (denial.tool_name, denial.reason, denial.by) == ("Bash", "not today", "hook")
    [ran] = run.of("hook")
    assert (ran.hook, ran.kind, ran.source, ran.exit_code, ran.decision) == ("PreToolUse", "command", "user", 2, "deny")


async def test_the_script_is_told_of_the_call(bench, hooked):
    hooked.user(PreToolUse=[on("Read", command(hooked.noting("told")))])
    (bench.folder / "a.txt").write_text("one\n")
    bench.model(call("Read", {"file_path": "a.txt"}), text("Done."))

    run = await hooked.run()

    [told] = hooked.told("told")
    folder = str(bench.folder.resolve())
    assert told["hook_event_name"] == "PreToolUse"
    assert told["tool_name"] == "Read"
    assert told["tool_input"]["file_path"] == f"{folder}/a.txt"
    assert told["tool_use_id"] == run.of("tool_start")[0].tool_use_id
    assert (told["cwd"], told["permission_mode"], told["session_id"]) == (folder, "default", run.result.session_id)
    assert told["transcript_path"].endswith(f"{run.result.session_id}.jsonl")


async def test_trap_2_exit_1_does_not_block_and_is_visible(bench, hooked):
    hooked.user(PreToolUse=[on("Bash", command("echo broken >&2; exit 1"))])
    bench.model(call("Bash", TOUCH), text("Done."))

    run = await hooked.run(permission_mode="bypassPermissions")

    assert made(bench) == ["made.txt"]
    assert "Failed with non-blocking status code: broken" in notices(run)


async def test_trap_2_json_is_read_on_every_exit_code_and_exit_2_beats_its_allow(bench, hooked):
    denying = hooked.script("deny.sh", says("deny", "exit 1", permissionDecisionReason="by its JSON"))
    hooked.user(PreToolUse=[on("Bash", command(denying))])
    bench.model(call("Bash", TOUCH), text("Then not."))
    await hooked.run(permission_mode="bypassPermissions")
    assert "by its JSON" in result_of(bench)["content"]

    allowing = hooked.script("both.sh", says("allow", "echo by its code >&2; exit 2"))
    hooked.user(PreToolUse=[on("Bash", command(allowing))])
    bench.model(call("Bash", TOUCH), text("Then not."))
    run = await hooked.run(permission_mode="bypassPermissions")

    assert [denial.reason for denial in run.result.denials] == ["by its code"]
    assert made(bench) == []


async def test_a_hooks_yes_stands_for_the_persons(bench, hooked):
    hooked.user(PreToolUse=[on("Bash", command(hooked.script("yes.sh", says("allow"))))])
    bench.model(call("Bash", TOUCH), text("Done."))
    person = Person(Ruling.DENY)

    run = await hooked.run(approver=person)

    assert made(bench) == ["made.txt"]
    assert person.asked == []
    assert run.result.denials == ()


@pytest.mark.parametrize("rules", [{"deny": ["Bash(touch *)"]}, {"ask": ["Bash(touch *)"]}])
async def test_a_hooks_yes_goes_behind_no_deny_rule_and_no_ask_rule(bench, hooked, rules):
    hooked.user({"permissions": rules}, PreToolUse=[on("Bash", command(hooked.script("yes.sh", says("allow"))))])
    bench.model(call("Bash", TOUCH), text("Then not."))

    run = await hooked.run()

    assert made(bench) == []
    [denial] = run.result.denials
    assert denial.by == "rule"


async def test_a_hooks_yes_opens_no_protected_place(bench, hooked):
    hooked.user(PreToolUse=[on(None, command(hooked.script("yes.sh", says("allow"))))])
    bench.model(
        call("Bash", {"command": "rm -rf ~"}), call("Write", {"file_path": ".git/config", "content": "x"}), text("No.")
    )

    run = await hooked.run()

    assert len(run.result.denials) == 2
    assert bench.home.exists()


PROTECTED = [
    "touch .envrc", "echo x >> .git/config", "true; X=.envrc; echo x > $X", "cp -r d/. .", "rm -rf sub", "echo x > ../out.txt; touch .npmrc",
    "git config core.hooksPath d", "mkdir -p .husky && touch .husky/pre-commit",
]  # fmt: skip
KEPT = ["cp s*.txt other.txt", "cp secret.txt other.txt", "tar cf other.txt .", "python3 -c 'open(\"secret.txt\")'"]


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "dontAsk"])
async def test_a_hooks_yes_to_a_command_counts_no_more_than_a_rule_for_every_command(bench, hooked, mode):
    (bench.folder / "secret.txt").write_text("s3cret")
    for name in ("d/.envrc", "sub/.git/config"):
        (bench.folder / name).parent.mkdir(parents=True)
        (bench.folder / name).touch()
    before = sorted(path.relative_to(bench.folder) for path in bench.folder.rglob("*"))
    hooked.user(
        {"permissions": {"deny": ["Read(./secret.txt)"]}},
        PreToolUse=[on("Bash", command(hooked.script("yes.sh", says("allow"))))],
    )
    bench.model(*(call("Bash", {"command": line}) for line in (*PROTECTED, *KEPT)), text("I see."))

    run = await hooked.run(permission_mode=mode)

    assert [denial.tool_input["command"] for denial in run.result.denials] == [*PROTECTED, *KEPT]
    assert sorted(path.relative_to(bench.folder) for path in bench.folder.rglob("*")) == before


async def test_plan_mode_stays_plan_mode_whatever_a_hook_allows(bench, hooked):
    hooked.user(PreToolUse=[on("Bash", command(hooked.script("yes.sh", says("allow"))))])
    bench.model(call("Bash", TOUCH), text("A plan."))

    await hooked.run(permission_mode="plan")

    assert made(bench) == []


async def test_where_nobody_is_asked_a_hooks_yes_counts(bench, hooked):
    hooked.user(PreToolUse=[on("Bash", command(hooked.script("yes.sh", says("allow"))))])
    bench.model(call("Bash", TOUCH), text("Done."))

    await hooked.run(permission_mode="dontAsk")

    assert made(bench) == ["made.txt"]


async def test_a_hook_that_asks_makes_the_person_decide_even_where_all_is_allowed(bench, hooked):
    asking = hooked.script("ask.sh", says("ask", permissionDecisionReason="it looks dear"))
    hooked.user(PreToolUse=[on("Bash", command(asking))])
    bench.model(call("Bash", TOUCH), text("Then not."))
    person = Person(Ruling.DENY)

    await hooked.run(approver=person, permission_mode="bypassPermissions")

    [(name, reason)] = person.asked
    assert (name, "it looks dear" in reason) == ("Bash", True)
    assert made(bench) == []


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions"])
async def test_a_hook_that_asks_is_heard_where_questions_are_asked_one_after_the_other(bench, hooked, mode):
    hooked.user(
        {"permissions": {"allow": ["Bash(touch *)"]}},
        PreToolUse=[on("Bash", command(hooked.script("ask.sh", says("ask"))))],
    )
    bench.model(call("Bash", TOUCH), text("Then not."))
    person = Person(Ruling.DENY)
    person.one_at_a_time = True

    await hooked.run(approver=person, permission_mode=mode)

    assert [name for name, _ in person.asked] == ["Bash"]
    assert made(bench) == []


async def test_with_nobody_to_ask_a_hook_that_asks_denies(bench, hooked):
    hooked.user(PreToolUse=[on("Bash", command(hooked.script("ask.sh", says("ask"))))])
    bench.model(call("Bash", TOUCH), text("Then not."))

    run = await hooked.run(permission_mode="bypassPermissions")

    assert made(bench) == []
    assert "nobody is here" in run.result.denials[0].reason


async def test_trap_4_a_changed_input_replaces_the_whole_and_is_judged_anew(bench, hooked):
    changing = says("allow", updatedInput={"command": "touch other.txt"})
    hooked.user(
        {"permissions": {"deny": ["Bash(touch forbidden*)"]}},
        PreToolUse=[on("Bash", command(hooked.script("change.sh", changing)))],
    )
    bench.model(call("Bash", {"command": "touch made.txt", "description": "Make it"}), text("Done."))

    run = await hooked.run()

    assert made(bench) == ["other.txt"]
    [intent] = [record for record in bench.records(run.result.session_id) if record["type"] == "intent"]
    assert intent["input"] == {"command": "touch other.txt"}

    changing = says("allow", updatedInput={"command": "touch forbidden.txt"})
    hooked.user(
        {"permissions": {"deny": ["Bash(touch forbidden*)"]}},
        PreToolUse=[on("Bash", command(hooked.script("change.sh", changing)))],
    )
    bench.model(call("Bash", TOUCH), text("Then not."))
    await hooked.run()
    assert made(bench) == ["other.txt"]


@pytest.mark.parametrize("mode", ["default", "dontAsk"])
async def test_the_yes_of_one_hook_is_none_to_the_input_of_another(bench, hooked, mode):
    changing = json.dumps(
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "rm kept"}}}
    )
    hooked.user(
        PreToolUse=[
            on("Bash", command(hooked.script("yes.sh", says("allow")))),
            on("Bash", command(hooked.script("change.sh", f"cat > /dev/null; echo '{changing}'"))),
        ]
    )
    (bench.folder / "kept").touch()
    bench.model(call("Bash", TOUCH), text("Then not."))

    await hooked.run(permission_mode=mode)

    assert made(bench) == ["kept"]


@pytest.mark.parametrize("name", ["link/../a.txt", "./link/../../sub/a.txt", "sub/../link/../a.txt"])
async def test_the_path_that_a_hook_is_told_is_the_file_that_is_opened(bench, hooked, name):
    (bench.folder / "sub/inner").mkdir(parents=True)
    (bench.folder / "link").symlink_to("sub/inner")
    (bench.folder / "a.txt").write_text("not this\n")
    (bench.folder / "sub/a.txt").write_text("opened\n")
    hooked.user(PreToolUse=[on("Read", command(hooked.noting("told")))])
    bench.model(call("Read", {"file_path": name}), text("Done."))

    await hooked.run()

    assert "opened" in result_of(bench)["content"]
    [told] = hooked.told("told")
    assert told["tool_input"]["file_path"] == f"{bench.folder.resolve()}/sub/a.txt"


async def test_a_changed_input_that_the_tool_does_not_take_runs_nothing_and_says_so(bench, hooked):
    changing = says("allow", updatedInput={"comand": "touch other.txt"})
    hooked.user(PreToolUse=[on("Bash", command(hooked.script("change.sh", changing)))])
    bench.model(call("Bash", TOUCH), text("Then not."))

    await hooked.run(permission_mode="bypassPermissions")

    assert made(bench) == []
    assert "hook" in result_of(bench)["content"]


async def test_of_several_hooks_the_strictest_counts_and_all_contexts_are_told(bench, hooked):
    one = hooked.script("one.sh", says("allow", additionalContext="first word"))
    two = hooked.script("two.sh", says("deny", permissionDecisionReason="no", additionalContext="second word"))
    hooked.user(PreToolUse=[on("Bash", command(one)), on("", command(two))])
    bench.model(call("Bash", TOUCH), text("Then not."))

    await hooked.run(permission_mode="bypassPermissions")

    assert made(bench) == []
    sent = str(bench.sent[1][-1])
    assert "first word" in sent
    assert "second word" in sent
    assert "first word" not in result_of(bench)["content"]


async def test_trap_6_no_hook_is_asked_about_an_input_that_fails_validation(bench, hooked):
    hooked.user(PreToolUse=[on("", command(hooked.noting("told")))])
    bench.model(call("Read", {"path": 5}), text("I see."))

    await hooked.run()

    assert hooked.told("told") == []


async def test_trap_12_in_a_folder_that_is_not_trusted_no_hook_of_the_repository_runs(bench, hooked):
    hooked.project(PreToolUse=[on("", command(hooked.noting("of-the-project")))])
    hooked.user(PreToolUse=[on("", command(hooked.noting("of-the-user")))])
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))

    run = await hooked.run()

    assert hooked.told("of-the-project") == []
    assert len(hooked.told("of-the-user")) == 1
    assert "hooks.PreToolUse" in notices(run)

    bench.model(call("Glob", {"pattern": "*"}), text("Done."))
    await hooked.run(trust=True)
    assert len(hooked.told("of-the-project")) == 1


async def test_the_same_hook_in_several_files_runs_once(bench, hooked):
    hook = command(hooked.noting("told"))
    hooked.user(PreToolUse=[on("Glob", hook), on("*", hook)])
    hooked.project(PreToolUse=[on("", hook)])
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))

    await hooked.run(trust=True)

    assert len(hooked.told("told")) == 1


@pytest.mark.parametrize("weaker", [{"async": True}, {"timeout": 0.001}], ids=["nobody waits for it", "no time"])
async def test_a_copy_that_decides_nothing_takes_no_guard_away(bench, hooked, weaker):
    guard = hooked.script("guard.sh", "echo no >&2; exit 2")
    hooked.user(PreToolUse=[on("Bash", command(guard, **weaker))])
    hooked.administrator(PreToolUse=[on("Bash", command(guard))])
    bench.model(call("Bash", TOUCH), text("Then not."))

    run = await hooked.run(permission_mode="bypassPermissions")

    assert [denial.reason for denial in run.result.denials] == ["no"]
    assert not (bench.folder / "made.txt").exists()


async def test_all_hooks_can_be_switched_off_but_for_the_administrators(bench, hooked):
    hooked.user({"disableAllHooks": True}, PreToolUse=[on("", command(hooked.noting("of-the-user")))])
    hooked.administrator(PreToolUse=[on("", command(hooked.noting("of-the-administrator")))])
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))
    await hooked.run()
    assert (len(hooked.told("of-the-user")), len(hooked.told("of-the-administrator"))) == (0, 1)

    hooked.user(PreToolUse=[on("", command(hooked.noting("of-the-user")))])
    hooked.administrator(
        {"allowManagedHooksOnly": True}, PreToolUse=[on("", command(hooked.noting("of-the-administrator")))]
    )
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))
    await hooked.run()
    assert (len(hooked.told("of-the-user")), len(hooked.told("of-the-administrator"))) == (0, 2)


async def test_if_holds_a_rule_against_every_part_of_a_command(bench, hooked):
    guard = command("echo no pushes >&2; exit 2", **{"if": "Bash(git push *)"})
    hooked.user(PreToolUse=[on("Bash", guard)])
    fine = ["touch made.txt", "echo $HOME"]
    lines = [*fine, "cd . && git push origin", "X=1 git push", "echo $(git push)", "git $action"]
    bench.model(*(call("Bash", {"command": line}) for line in lines), text("Done."))

    run = await hooked.run(permission_mode="bypassPermissions")

    assert [denial.tool_input["command"] for denial in run.result.denials] == lines[len(fine) :]


async def test_continue_false_ends_the_query(bench, hooked):
    hooked.user(PreToolUse=[on("", command("""echo '{"continue": false, "stopReason": "enough"}'"""))])
    bench.model(call("Bash", TOUCH), text("never"))
    engine = hooked.engine(permission_mode="bypassPermissions")

    run = await bench.go_on(engine)

    assert run.reason is Reason.HOOK_STOPPED
    assert made(bench) == []
    assert "enough" in notices(run)
    bench.assert_settled(engine)


SPELLINGS = [
    "./scripts/check.sh",
    "sh 'scripts/check.sh' --quiet",
    '"$CLAUDE_PROJECT_DIR"/scripts/check.sh',
    "${EVERTURN_PROJECT_DIR}/scripts/check.sh;true",
    "cd scripts && ./check.sh",
    '"$(pwd)"/scripts/check.sh',
    "for each in scripts/*.sh; do $each; done",
]


@pytest.mark.parametrize("spelled", SPELLINGS)
async def test_what_a_hook_names_is_protected_wherever_it_lies(bench, hooked, spelled):
    script = bench.folder / "scripts/check.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\ncat > /dev/null\n")
    script.chmod(0o755)
    (bench.folder / "other.sh").write_text(f"#!/bin/sh\ntouch {bench.folder}/planted\n")
    hooked.user(PreToolUse=[on("*", command(spelled))])
    bench.model(
        call("Read", {"file_path": "scripts/check.sh"}),
        call("Write", {"file_path": "scripts/check.sh", "content": "touch planted"}),
        *(
            call("Bash", {"command": line})
            for line in ("cp other.sh scripts/check.sh", "mv scripts old", "rm -r scripts")
        ),
        call("Write", {"file_path": "scripts/free.sh", "content": ""}),
        text("I see."),
    )

    run = await hooked.run(permission_mode="acceptEdits", allowed_tools=["Bash(cp *)", "Bash(mv *)", "Bash(rm *)"])

    assert len(run.result.denials) == 4
    assert made(bench) == ["other.sh", "scripts"]
    assert sorted(path.name for path in script.parent.iterdir()) == ["check.sh", "free.sh"]


@pytest.mark.needs("bubblewrap")
async def test_what_a_hook_names_is_as_it_was_behind_a_command_in_the_sandbox(bench, hooked):
    script = bench.folder / "scripts/check.sh"
    script.parent.mkdir()
    script.write_text("cat > /dev/null\n")
    out = bench.folder.with_name("out.sh")
    out.write_text("cat > /dev/null\n")
    script.with_name("out.sh").symlink_to(out)
    hooked.user(
        PreToolUse=[on("*", command("sh scripts/check.sh; sh scripts/out.sh; [ -e new/check.sh ] && sh new/check.sh"))]
    )
    lines = (
        "echo 'touch planted' > scripts/check.sh",
        "mv scripts old; mkdir scripts; echo 'touch planted' > scripts/check.sh",
        "mkdir new; echo 'touch planted' > new/check.sh",
        "rm scripts/out.sh; echo 'touch planted' > scripts/out.sh; chmod +x scripts/out.sh",
    )
    bench.model(*(call("Bash", {"command": line}) for line in lines), call("Glob", {"pattern": "*"}), text("I see."))

    await hooked.run(sandbox=True)

    assert script.read_text() == "cat > /dev/null\n"
    assert made(bench) in (["scripts"], ["new", "scripts"])
    assert not (bench.folder / "new/check.sh").exists()
    assert out.samefile(script.with_name("out.sh"))


async def test_what_a_hook_names_in_an_added_folder_is_protected_too(bench, hooked):
    added = bench.folder.with_name("added")
    added.mkdir()
    script = added / "check.sh"
    script.write_text("cat > /dev/null\n")
    hooked.user(PreToolUse=[on("*", command("sh ../added/check.sh"))])
    bench.model(call("Write", {"file_path": str(script), "content": "touch planted"}), text("I see."))

    run = await hooked.run(permission_mode="acceptEdits", add_dirs=[str(added)])

    assert len(run.result.denials) == 1
    assert script.read_text() == "cat > /dev/null\n"


async def test_a_hook_starts_in_the_working_folder_wherever_the_shell_has_gone(bench, hooked):
    for place, then in ((".", "touch seen"), ("vendor", "touch planted")):
        script = bench.folder / place / "check.sh"
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"#!/bin/sh\ncat > /dev/null; {then}\n")
        script.chmod(0o755)
    hooked.user(PreToolUse=[on("Glob", command("./check.sh"))])
    bench.model(call("Bash", {"command": "cd vendor"}), call("Glob", {"pattern": "*"}), text("Done."))

    await hooked.run()

    assert made(bench) == ["check.sh", "seen", "vendor"]
    assert [path.name for path in (bench.folder / "vendor").iterdir()] == ["check.sh"]


async def test_a_hooks_shell_is_none_of_the_working_folder(bench, hooked):
    planted = bench.folder / "bin/bash"
    planted.parent.mkdir()
    planted.write_text(f"#!/bin/sh\ntouch {bench.folder}/planted\n")
    planted.chmod(0o755)
    hooked.env["PATH"] = f"{planted.parent}:bin:{hooked.env['PATH']}"
    of_bash = {**command("cat > /dev/null; [[ -n $BASH_VERSION ]] && touch seen"), "shell": "bash"}
    hooked.user(PreToolUse=[on("Glob", of_bash)])
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))

    await hooked.run()

    assert made(bench) == ["bin", "seen"]


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        ("echo not this >&2; exit 2", "not this"),
        (says("ask"), "nobody can be asked"),
        (says("allow", updatedInput={"command": "touch other"}), "touch other"),
        (says("allow"), "nobody can be asked"),
    ],
)
async def test_a_hook_is_asked_about_the_command_of_a_goal_that_is_typed_into_the_conversation(
    bench, hooked, answer, refusal
):
    hooked.user(PreToolUse=[on("Bash", command(hooked.script("guard.sh", answer)))])
    engine = hooked.engine(permission_mode="default" if answer == says("allow") else "bypassPermissions")

    with pytest.raises(OptionError, match=refusal):
        await engine.set_goal("It works.", "touch made.txt")

    assert engine.goal is None


@pytest.mark.parametrize("level", ["user", "administrator", "project"])
async def test_trap_9_a_deny_rule_of_any_level_beats_a_hooks_yes(bench, hooked, level):
    allow = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}})
    hooks = {"PreToolUse": [on("Bash", command(f"echo '{allow}'"))]}
    rules = {"permissions": {"deny": ["Bash(touch *)"], "allow": ["Bash(touch made.txt)"]}}
    if level == "user":
        hooked.user(rules, **hooks)
    else:
        hooked.user(**hooks)
        getattr(hooked, level)(rules)
    bench.model(call("Bash", {"command": "touch made.txt"}), text("Then not."))

    run = await hooked.run(permission_mode="bypassPermissions", trust=True)

    assert [denial.by for denial in run.result.denials] == ["rule"]
    assert not (bench.folder / "made.txt").exists()

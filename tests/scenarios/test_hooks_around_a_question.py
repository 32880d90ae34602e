"""PermissionRequest and Notification: hooks around the question to the person; and what else is only told."""

import asyncio
import json
import os

import pytest
from tests.scenarios.hooked import Person, command, notices, on

from everturn.core.state import AbortCause, Reason
from everturn.modelserver import call, text
from everturn.ports.policy import Ruling

TOUCH = {"command": "touch made.txt"}


def decides(behavior: str, **more) -> dict:
    special = {"hookEventName": "PermissionRequest", "decision": {"behavior": behavior, **more}}
    return command(f"cat > /dev/null; echo '{json.dumps({'hookSpecificOutput': special})}'")


async def test_a_hook_answers_in_the_persons_place(bench, hooked):
    hooked.user(PermissionRequest=[on("Bash", decides("allow"), command(hooked.noting("told")))])
    bench.model(call("Bash", TOUCH), text("Done."))
    person = Person(Ruling.DENY)

    run = await hooked.run(approver=person)

    assert (bench.folder / "made.txt").exists()
    assert person.asked == []
    assert run.of("permission_request") == []
    [told] = hooked.told("told")
    assert told["tool_input"]["command"] == "touch made.txt"
    assert "tool_use_id" not in told
    assert told["permission_suggestions"][0]["type"] == "addRules"


@pytest.mark.parametrize(
    ("name", "asked", "wanted"),
    [
        ("Bash", TOUCH, {"command": "touch denied.txt"}),
        ("Bash", TOUCH, {"command": "touch kept.txt"}),
        ("Bash", TOUCH, {"command": "touch .envrc"}),
        ("Bash", TOUCH, {"command": "rm -rf $PWD"}),
        ("Write", {"file_path": "made.txt", "content": ""}, {"file_path": "kept.txt", "content": ""}),
        ("Write", {"file_path": "made.txt", "content": ""}, {"file_path": ".git/config", "content": ""}),
    ],
)
async def test_an_input_that_a_hook_puts_in_its_place_is_judged_and_a_person_is_asked_about_it(
    bench, hooked, name, asked, wanted
):
    rules = {"deny": ["Bash(touch denied*)"], "ask": ["Edit(./kept.txt)", "Bash(touch kept*)"]}
    hooked.user({"permissions": rules}, PermissionRequest=[on(name, decides("allow", updatedInput=wanted))])
    bench.model(call(name, asked), text("Then not."))
    person = Person(Ruling.DENY)

    run = await hooked.run(approver=person)

    assert list(bench.folder.iterdir()) == []
    assert len(run.result.denials) == 1
    assert [each.line for each in run.of("permission_request")] == [
        f"Bash {wanted['command']}" if name == "Bash" else f"Write {wanted['file_path']}"
    ] * len(person.asked)


async def test_an_input_that_a_hook_puts_in_its_place_runs_where_only_the_mode_would_ask(bench, hooked):
    hooked.user(PermissionRequest=[on("Bash", decides("allow", updatedInput={"command": "touch other.txt"}))])
    bench.model(call("Bash", TOUCH), text("Done."))
    person = Person(Ruling.DENY)

    run = await hooked.run(approver=person)

    assert [path.name for path in bench.folder.iterdir()] == ["other.txt"]
    assert person.asked == []
    [intent] = [record for record in bench.records(run.result.session_id) if record["type"] == "intent"]
    assert intent["input"] == {"command": "touch other.txt"}


@pytest.mark.needs("Landlock")
async def test_a_yes_with_another_input_is_none_to_a_command_that_was_tried(bench, hooked):
    other = {"command": "touch other.txt"}
    hooked.user(
        {"permissions": {"tryHeld": True}}, PermissionRequest=[on("Bash", decides("allow", updatedInput=other))]
    )
    bench.model(call("Bash", TOUCH), text("Then not."))
    person = Person(Ruling.ALLOW, input=other)

    await hooked.run(approver=person)

    assert list(bench.folder.iterdir()) == []
    assert len(person.asked) == 1


async def test_a_hooks_no_is_a_denial_with_its_words(bench, hooked):
    hooked.user(PermissionRequest=[on("Bash", decides("deny", message="not on a Friday"))])
    bench.model(call("Bash", TOUCH), text("Then not."))

    run = await hooked.run(approver=Person())

    assert not (bench.folder / "made.txt").exists()
    [denial] = run.result.denials
    assert (denial.reason, denial.by) == ("not on a Friday", "hook")


async def test_a_yes_may_add_a_rule_and_never_switch_to_the_mode_that_asks_about_nothing(bench, hooked):
    rules = [{"toolName": "Bash", "ruleContent": "touch *"}]
    changes = [
        {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"},
        {"type": "setMode", "mode": "bypassPermissions", "destination": "session"},
    ]
    once = hooked.script(
        "once.sh",
        f"""[ -e "$DIR/seen" ] && exit 0; touch "$DIR/seen"; cat > /dev/null; echo '{json.dumps({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow", "updatedPermissions": changes}}})}'""",
    )
    hooked.user(PermissionRequest=[on("Bash", command(once))])
    bench.model(
        call("Bash", TOUCH),
        call("Bash", {"command": "touch again.txt"}),
        call("Bash", {"command": "mkdir d"}),
        text("Done."),
    )
    person = Person(Ruling.DENY)

    await hooked.run(approver=person)

    assert sorted(path.name for path in bench.folder.iterdir()) == ["again.txt", "made.txt"]
    assert [name for name, _ in person.asked] == ["Bash"]


def adding(name: str, content: str, where: str) -> dict:
    rule = {"toolName": name, "ruleContent": content} if content else {"toolName": name}
    return {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": where}


@pytest.mark.parametrize("turned", [False, True])
async def test_a_rule_for_the_session_is_never_written_down_beside_one_that_is(bench, hooked, turned):
    changes = [adding("Bash", "touch *", "session"), adding("Bash", "mkdir *", "localSettings")]
    hooked.user(
        PermissionRequest=[on("Bash", decides("allow", updatedPermissions=changes[::-1] if turned else changes))]
    )
    bench.model(call("Bash", TOUCH), text("Done."))

    await hooked.run(approver=Person(Ruling.DENY))

    assert [path for path in bench.folder.rglob("settings*") if "touch" in path.read_text()] == []


async def test_no_rule_of_a_hook_opens_a_host(bench, hooked):
    host = adding("sandbox.network.allowedDomains: 127.0.0.1", "", "localSettings")
    hooked.user(PermissionRequest=[on("Bash", decides("allow", updatedPermissions=[host]))])
    bench.model(call("Bash", TOUCH), text("Done."))

    await hooked.run(approver=Person(Ruling.DENY))

    assert [path for path in bench.folder.rglob("settings*") if "allowedDomains" in path.read_text()] == []


async def test_without_a_person_nobody_is_asked_about_the_question(bench, hooked):
    hooked.user(PermissionRequest=[on("", decides("allow"))])
    bench.model(call("Bash", TOUCH), text("Then not."))

    await hooked.run()

    assert not (bench.folder / "made.txt").exists()


async def test_a_notification_says_that_the_person_is_waited_for(bench, hooked):
    hooked.user(Notification=[on("permission_prompt", command(hooked.noting("told")))])
    bench.model(call("Bash", TOUCH), text("Done."))
    engine = hooked.engine(approver=Person())

    await bench.go_on(engine)
    await engine.aclose()

    [told] = hooked.told("told")
    assert told["notification_type"] == "permission_prompt"
    assert "touch made.txt" in told["message"]


async def test_a_file_that_is_watched_is_told_when_it_changes(bench, hooked):
    (bench.folder / ".envrc").write_text("A=1\n")
    hooked.user(FileChanged=[on(".env|.envrc", command(hooked.noting("told")))])
    commands = ["echo A=2 > .envrc", "echo B=1 > .env", "rm .envrc", "true"]
    bench.model(*(call("Bash", {"command": line}) for line in commands), text("Done."))

    await hooked.run(permission_mode="bypassPermissions")

    told = [(each["file_path"].rpartition("/")[2], each["event"]) for each in hooked.told("told")]
    assert told == [(".envrc", "change"), (".env", "add"), (".envrc", "unlink")]


STOPS = command("""echo '{"continue": false, "stopReason": "enough"}'""")


async def test_continue_false_ends_the_query_at_a_file_that_changed(bench, hooked):
    hooked.user(FileChanged=[on(".env", STOPS)])
    bench.model(call("Bash", {"command": "echo A=1 > .env"}), text("Never said."))

    run = await hooked.run(permission_mode="bypassPermissions")

    assert run.reason is Reason.HOOK_STOPPED
    assert "enough" in notices(run)


@pytest.mark.parametrize("moment", ["tool_start", "request_start"])
async def test_continue_false_ends_the_query_at_settings_that_changed(bench, hooked, moment):
    """After the calls of an answer, and before a call that they would let run."""
    hooked.user(ConfigChange=[on(None, STOPS)])
    bench.model(call("Glob", {"pattern": "*"}), call("Bash", TOUCH), text("Never said."))
    person = Person()
    engine = hooked.engine(approver=person)

    def allow(event):
        if event.__struct_config__.tag == moment and bench.requests:
            hooked.user({"permissions": {"allow": ["Bash(touch *)"]}}, ConfigChange=[on(None, STOPS)])

    run = await bench.go_on(engine, on_event=allow)

    assert run.reason is Reason.HOOK_STOPPED
    assert person.asked == []
    assert not (bench.folder / "made.txt").exists()


async def test_an_abort_ends_a_hook_that_hears_of_a_changed_file(bench, hooked, lifeline, tmp_path):
    os.mkfifo(tmp_path / "begun")
    hooked.user(FileChanged=[on(".env", command(f"echo begun > {tmp_path}/begun; {lifeline.command}"))])
    bench.model(call("Bash", {"command": "echo A=1 > .env"}), text("Never said."))
    engine = hooked.engine(permission_mode="bypassPermissions")
    asking = asyncio.ensure_future(bench.go_on(engine))

    await asyncio.to_thread((tmp_path / "begun").read_text)
    engine.abort(AbortCause.USER)
    run = await asking
    await engine.aclose()

    assert run.reason is Reason.ABORTED_TOOLS
    assert lifeline.is_cut()
    bench.assert_settled(engine)


async def test_continue_false_denies_and_ends_the_query(bench, hooked):
    hooked.user(PermissionRequest=[on("Bash", command("""echo '{"continue": false, "stopReason": "enough"}'"""))])
    bench.model(call("Bash", {"command": "touch made.txt"}), text("Never said."))
    person = Person()

    run = await hooked.run(approver=person)

    assert run.reason is Reason.HOOK_STOPPED
    assert "enough" in notices(run)
    assert person.asked == []
    assert not (bench.folder / "made.txt").exists()

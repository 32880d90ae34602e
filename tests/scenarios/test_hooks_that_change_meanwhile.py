"""Settings that change while a session runs: its hooks stay those that it began with, and the person is told."""

from typing import ClassVar

from tests.scenarios.hooked import command, notices, on

from everturn.modelserver import call, text, when
from everturn.ports.policy import SETTINGS_QUESTION, Ruling, Verdict

LOOK = call("Glob", {"pattern": "*"})


async def test_a_hook_that_is_added_waits_for_the_next_session(bench, hooked):
    hooked.user()
    bench.model(LOOK, LOOK, text("Done."))
    engine = hooked.engine()

    def add(event):
        if event.__struct_config__.tag == "tool_end":
            hooked.user(PreToolUse=[on("", command(hooked.noting("told")))])

    run = await bench.go_on(engine, on_event=add)

    assert hooked.told("told") == []
    assert notices(run).count("hooks of the settings changed") == 1


async def test_a_guard_that_somebody_takes_out_stays_in_force(bench, hooked):
    hooked.user(PreToolUse=[on("Glob", command("echo no >&2; exit 2"))])
    bench.model(LOOK, LOOK, call("Grep", {"pattern": "x"}), text("Done."))
    engine = hooked.engine()

    def take_out(event):
        if event.__struct_config__.tag == "tool_end":
            hooked.user({"disableAllHooks": True})

    run = await bench.go_on(engine, on_event=take_out)

    assert len(run.result.denials) == 2
    assert "stay in force" in notices(run)


async def test_a_settings_file_that_changes_is_told_and_what_would_let_more_run_can_be_refused(bench, hooked):
    class Person:
        asked: ClassVar[list[str]] = []

        async def approve(self, call, reason):
            self.asked.append(call.name)
            return Verdict(ruling=Ruling.ALLOW if call.name == SETTINGS_QUESTION else Ruling.DENY)

    guard = [on("user_settings", command(hooked.noting("told", "echo no >&2; exit 2")))]
    hooked.user(ConfigChange=guard)
    bench.model(LOOK, call("Bash", {"command": "touch made.txt"}), text("Done."))
    engine = hooked.engine(approver=Person())

    def allow(event):
        if event.__struct_config__.tag == "tool_end":
            hooked.user({"permissions": {"allow": ["Bash(touch *)"]}}, ConfigChange=guard)

    await bench.go_on(engine, on_event=allow)

    [told, *_] = hooked.told("told")
    assert (told["source"], told["file_path"]) == ("user_settings", str(bench.home / "settings.json"))
    assert Person.asked == ["Bash"]
    assert not (bench.folder / "made.txt").exists()


async def test_memory_files_that_the_model_was_given_are_told(bench, hooked):
    (bench.folder / "AGENTS.md").write_text("Be brief.\n")
    hooked.user(InstructionsLoaded=[on("session_start", command(hooked.noting("told")))])
    bench.model(text("Done."))
    engine = hooked.engine()

    await bench.go_on(engine)
    await engine.aclose()

    [told] = hooked.told("told")
    assert told["file_path"].endswith("/AGENTS.md")
    assert (told["memory_type"], told["load_reason"]) == ("Project", "session_start")


async def test_an_agent_is_kept_from_what_a_rule_denies_that_was_added_meanwhile(bench, hooked):
    (bench.folder / "secret.txt").write_text("forty-two", "utf-8")
    agent = {"Stop": [on(None, {"type": "agent", "prompt": "Look."})]}
    hooked.user(**agent)
    read = call("Read", {"file_path": str(bench.folder / "secret.txt")})
    bench.model(
        LOOK,
        text("Done."),
        when(read, last_user_contains="last_assistant_message"),
        when('{"ok": true}', tool_result_contains="secret.txt"),
    )
    engine = hooked.engine()

    def deny(event):
        if event.__struct_config__.tag == "tool_end":
            hooked.user({"permissions": {"deny": ["Read(secret.txt)"]}}, **agent)

    await bench.go_on(engine, on_event=deny)

    assert "forty-two" not in str(bench.sent[-1])
    assert "Read(secret.txt)" in str(bench.sent[-1])

"""The gate in front of every call: what is denied is told to the model and remembered; where it says ask, we ask."""

from everturn.core.events import CallDenied
from everturn.core.state import Reason
from everturn.modelserver import call, text
from everturn.ports.policy import Ruling, Verdict


class Approver:
    def __init__(self, ruling, reason="said the person"):
        self.verdict = Verdict(ruling=ruling, reason=reason)
        self.asked = []

    async def approve(self, call, reason):
        self.asked.append((call.name, call.input))
        return self.verdict


TOUCH = {"command": "touch made.txt"}


async def test_without_anybody_to_ask_the_call_is_denied_in_its_result(bench):
    bench.model(call("Bash", TOUCH), text("Then not."))

    run = await bench.run()

    assert run.reason is Reason.COMPLETED
    [result] = bench.sent[1][-1]["content"]
    assert result["is_error"]
    assert list(bench.folder.iterdir()) == []
    [denied] = run.of("permission_denied")
    [denial] = run.result.denials
    assert (denial.tool_name, denial.tool_input, denial.reason) == ("Bash", TOUCH, denied.reason)
    assert denial.reason in result["content"]
    assert run.of("tool_start") == []
    assert len(run.of("tool_end")) == 1


async def test_an_approved_call_runs(bench):
    approver = Approver(Ruling.ALLOW)
    bench.model(call("Bash", TOUCH), text("Done."))

    run = await bench.run(approver=approver)

    assert approver.asked == [("Bash", TOUCH)]
    assert [path.name for path in bench.folder.iterdir()] == ["made.txt"]
    assert run.result.denials == ()


async def test_a_refused_call_tells_the_persons_reason(bench):
    bench.model(call("Bash", TOUCH), text("Then not."))

    run = await bench.run(approver=Approver(Ruling.DENY, "not on my machine"))

    assert "not on my machine" in bench.sent[1][-1]["content"][0]["content"]
    assert [denial.reason for denial in run.result.denials] == ["not on my machine"]


async def test_reading_inside_the_folder_needs_nobody(bench):
    approver = Approver(Ruling.DENY)
    (bench.folder / "a.txt").write_text("alpha\n")
    bench.model(call("Read", {"file_path": str(bench.folder / "a.txt")}), text("Done."))

    run = await bench.run(approver=approver)

    assert approver.asked == []
    assert run.result.denials == ()


async def test_a_mode_changed_while_a_query_runs_counts_from_the_next_call_on(bench):
    bench.model(call("Bash", TOUCH), call("Bash", TOUCH), text("Done."))
    engine = bench.engine(permission_mode="dontAsk")

    def loosen(event):
        if event.__struct_config__.tag == "permission_denied":
            engine.policy.mode = "bypassPermissions"

    run = await bench.go_on(engine, on_event=loosen)

    assert len(run.result.denials) == 1
    assert (bench.folder / "made.txt").exists()


async def test_a_tool_on_the_deny_list_is_not_even_offered(bench):
    bench.model(call("Bash", TOUCH), text("Done."))

    await bench.run(disallowed_tools=["Bash"], permission_mode="bypassPermissions")

    assert "Bash" not in [offered["name"] for offered in bench.bodies[0]["tools"]]
    assert list(bench.folder.iterdir()) == []


async def test_denials_are_of_the_session(bench):
    bench.model(call("Bash", TOUCH), text("Then not."), call("Bash", TOUCH), text("Then not."))
    engine = bench.engine()
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert len(run.result.denials) == 2
    assert run.result.denials == engine.denials


async def test_denials_survive_a_resume(bench):
    odd = {"command": "touch 'é\u2028'", "timeout": 1000}
    bench.model(call("Bash", TOUCH), text("Then not."), call("Bash", odd), text("Then not."))
    engine = bench.engine(disallowed_tools=["Bash(rm:*)"])
    await bench.go_on(engine)
    await engine.aclose()
    resumed = bench.engine(resume=engine.session_id)
    assert resumed.denials == engine.denials
    assert len(resumed.denials) == 1

    run = await bench.go_on(resumed)

    assert run.result.denials == resumed.denials
    assert [denial.tool_input for denial in run.result.denials] == [TOUCH, odd]
    assert [denial.tool_input for denial in run.result.new_denials] == [odd]
    await resumed.aclose()
    assert bench.engine(resume=engine.session_id).denials == resumed.denials


async def test_a_denial_is_on_disk_before_it_is_shown(bench):
    bench.model(call("Bash", TOUCH), text("Then not."))
    engine = bench.engine()
    recorded = []

    def look(event):
        if isinstance(event, CallDenied):
            recorded.extend(record for record in bench.records(engine.session_id) if record["type"] == "denied")

    await bench.go_on(engine, on_event=look)

    assert [record["tool_use_id"] for record in recorded] == [engine.denials[0].tool_use_id]


async def test_a_rewound_session_has_the_denials_of_what_is_left(bench):
    bench.model(call("Bash", TOUCH), text("Then not."), call("Bash", TOUCH), text("Then not."))
    engine = bench.engine()
    await bench.go_on(engine)
    end, first = engine.transcript[-1].id, engine.denials
    await bench.go_on(engine)
    await engine.aclose()

    assert bench.engine(resume=engine.session_id, resume_at=end).denials == first


async def test_an_approver_may_put_another_input_in_place_of_the_models(bench):
    class Careful:
        async def approve(self, call, reason):
            return Verdict(ruling=Ruling.ALLOW, reason="so", input={"command": "touch other.txt"}, mode="acceptEdits")

    bench.model(call("Bash", TOUCH), text("Done."))
    engine = bench.engine(approver=Careful())

    run = await bench.go_on(engine)

    assert [path.name for path in bench.folder.iterdir()] == ["other.txt"]
    assert [event.line for event in run.of("tool_start")] == ["Bash touch other.txt"]
    assert [event.mode for event in run.of("mode")] == [engine.permission_mode] == ["acceptEdits"]
    [intent] = [record for record in bench.records(engine.session_id) if record["type"] == "intent"]
    assert intent["input"] == {"command": "touch other.txt"}
    assert bench.sent[1][1]["content"][0]["input"] == TOUCH


async def test_a_deny_rule_holds_for_the_input_that_an_approver_gives_too(bench):
    class Careless:
        async def approve(self, call, reason):
            return Verdict(ruling=Ruling.ALLOW, input={"command": "touch secret.txt"})

    bench.model(call("Bash", TOUCH), text("Done."))

    run = await bench.run(approver=Careless(), disallowed_tools=["Edit(secret.txt)", "Bash(touch secret*)"])

    assert list(bench.folder.iterdir()) == []
    assert len(run.of("permission_denied")) == 1
    assert "Permission denied" in bench.sent[1][-1]["content"][0]["content"]


async def test_another_input_that_does_not_fit_is_an_error_result(bench):
    class Careless:
        async def approve(self, call, reason):
            return Verdict(ruling=Ruling.ALLOW, reason="so", input={"order": 66})

    bench.model(call("Bash", TOUCH), text("Done."))

    await bench.run(approver=Careless())

    assert "Bash has no field `order`" in bench.sent[1][-1]["content"][0]["content"]

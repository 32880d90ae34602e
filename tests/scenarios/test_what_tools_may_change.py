"""What a tool may say beside its result: fields that people see, another model, mode or list of tools, and who else runs."""

import re

import msgspec
import pytest
from tests.scenarios.hooked import command, on

from everturn import NewContext, ToolContext, ToolResult, tool
from everturn.core.events import CallBegan
from everturn.core.state import Reason
from everturn.modelserver import call, calls, text
from everturn.ports.hooks import HookRuling, HookVerdict
from everturn.ports.policy import Ruling, Verdict


@tool(derive=lambda given: {"lines": given.text.count("\n") + 1, "text": "something else"})
def keep(text: str) -> str:
    """Keeps a text."""
    return text.upper()


class Reader:
    """Approves what it has read."""

    def __init__(self, ruling=Ruling.ALLOW, change=None):
        self.read = []
        self._ruling, self._change = ruling, change

    async def approve(self, call, reason):
        self.read.append(call.shown)
        return Verdict(ruling=self._ruling, input=None if self._change is None else {**call.shown, **self._change})


async def test_derived_fields_are_seen_by_people_and_hooks_and_never_sent(bench, hooked):
    note = hooked.noting("seen")
    hooked.user(PreToolUse=[on("keep", command(note))], PostToolUse=[on("keep", command(note))])
    bench.model(call("keep", {"text": "a\nb"}), text("Done."))
    person = Reader()

    run = await hooked.run(tools=[keep], approver=person)

    derived = {"lines": 2, "text": "a\nb"}
    assert [told["tool_input"] for told in hooked.told("seen")] == [derived, derived]
    assert person.read == [derived]
    assert [event.derived["lines"] for event in run.events if isinstance(event, CallBegan)] == [2]
    assert "lines" not in str(bench.sent[-1])


async def test_who_hands_back_what_they_saw_has_not_added_the_derived_fields(bench):
    seen = []

    def echo(event):
        seen.append(event["tool_input"])
        return HookVerdict(input={**event["tool_input"], "text": "changed"})

    bench.model(call("keep", {"text": "a"}), text("Done."))
    person = Reader(change={"text": "changed twice"})

    run = await bench.run("Keep it.", tools=[keep], hooks={"PreToolUse": echo}, approver=person)

    assert seen == [{"lines": 1, "text": "a"}]
    assert person.read == [{"lines": 1, "text": "changed"}]
    assert result_of(run) == "CHANGED TWICE"


async def test_a_hooks_denial_of_what_it_saw_is_a_denial(bench):
    bench.model(call("keep", {"text": "a"}), text("Done."))

    def refuse(event):
        return HookVerdict(ruling=HookRuling.DENY, reason=f"{event['tool_input']['lines']} line")

    run = await bench.run("Keep it.", tools=[keep], hooks={"PreToolUse": refuse}, allowed_tools=["keep"])

    assert [denial.reason for denial in run.result.denials] == ["1 line"]


@tool(reads_only=True)
def extra() -> str:
    """Does more."""
    return "more"


@tool(reads_only=True)
def change(context: ToolContext, model: str = "", mode: str = "", more: bool = False) -> ToolResult:
    """Changes what comes next."""
    tools = (*context.tools, extra) if more else None
    return ToolResult(content="changed", context=NewContext(model=model, mode=mode, tools=tools))


async def test_a_tool_may_choose_the_model_of_the_next_call_and_of_all_that_follow(bench):
    bench.model(call("change", {"model": "claude-opus-4-5"}), text("Done."), text("Again."))
    engine = bench.engine(tools=[change], allowed_tools=["change"])

    run = await bench.go_on(engine, "Change it.")
    await bench.go_on(engine, "And now?")

    assert [body["model"] for body in bench.bodies] == ["claude-sonnet-5", "claude-opus-4-5", "claude-opus-4-5"]
    assert engine.model == "claude-opus-4-5"
    assert [event.model for event in run.of("fallback")] == ["claude-opus-4-5"]


async def test_the_model_that_a_tool_chose_is_that_of_the_resumed_session(bench):
    bench.model(call("change", {"model": "claude-opus-4-5"}), text("Done."), text("Again."))
    engine = bench.engine(tools=[change], allowed_tools=["change"])
    await bench.go_on(engine, "Change it.")
    await engine.aclose()

    resumed = bench.engine(tools=[change], resume=engine.session_id, model=None)

    assert resumed.model == "claude-opus-4-5"


async def test_a_tool_may_bring_tools_that_the_next_call_lists(bench):
    bench.model(call("change", {"more": True}), call("extra"), text("Done."))

    run = await bench.run("Change it.", tools=[change], allowed_tools=["change", "extra"])

    names = [[each["name"] for each in body["tools"]] for body in bench.bodies]
    assert names[1] == [*names[0], "extra"]
    assert result_of(run, 1) == "more"
    assert [(event.stage, event.cause) for event in run.of("context")] == [("tools", "a tool changed them")]


async def test_a_tool_may_switch_the_mode_for_the_next_call_of_a_tool(bench):
    bench.model(call("change", {"mode": "plan"}), call("Write", {"file_path": "a.txt", "content": "a"}), text("Done."))
    engine = bench.engine(tools=[change], allowed_tools=["change"], permission_mode="acceptEdits")

    run = await bench.go_on(engine, "Change it.")

    assert engine.permission_mode == "plan"
    assert not (bench.folder / "a.txt").exists()
    assert [event.mode for event in run.of("mode")] == ["plan"]


async def test_a_mode_that_is_none_is_an_error_of_the_call(bench):
    bench.model(call("change", {"mode": "reckless"}), text("Done."))
    engine = bench.engine(tools=[change], allowed_tools=["change"])

    run = await bench.go_on(engine, "Change it.")

    assert run.reason is Reason.COMPLETED
    assert "reckless" in result_of(run)
    assert engine.permission_mode == "default"


async def test_the_calls_that_run_are_known_by_their_ids(bench):
    seen = []

    @tool(reads_only=True, concurrent=False)
    async def look(context: ToolContext) -> str:
        """Looks who runs."""
        seen.append((context.tool_use_id, context.list_running(), engine.running))
        return "looked"

    bench.model(calls(("look", {}), ("look", {})), text("Done."))
    engine = bench.engine(tools=[look], allowed_tools=["look"])

    await bench.go_on(engine, "Look.")

    assert [(running, outside) for _, running, outside in seen] == [((id_,), (id_,)) for id_, _, _ in seen]
    assert len(seen) == 2
    assert engine.running == ()


@tool(reads_only=True)
def fail(how: str) -> ToolResult:
    """Fails in one of several ways."""
    if how == "raises":
        raise ValueError("no luck")
    return ToolResult(content="no luck", is_error=True)


REFUSING = {"PreToolUse": lambda event: HookVerdict(ruling=HookRuling.DENY) if event["tool_name"] == "extra" else None}


@pytest.mark.parametrize(
    "wanted",
    [
        ("fail", {"how": "raises"}),
        ("fail", {"how": 1.5}),
        ("nothing", {}),
        ("extra", {}),
        ("Bash", {"command": "rm x"}),
    ],
    ids=["it raised", "a wrong input", "no such tool", "a hook denied it", "a rule denied it"],
)
async def test_why_a_call_failed_or_did_not_run_stands_in_one_tag(bench, wanted):
    bench.model(call(*wanted), text("Done."))

    run = await bench.run(
        "Fail.", tools=[fail, extra], allowed_tools=["fail", "extra"], disallowed_tools=["Bash(rm *)"], hooks=REFUSING
    )

    assert re.fullmatch(r"<tool_use_error>.+</tool_use_error>", result_of(run), re.DOTALL)


async def test_what_a_tool_itself_returns_stays_exact_though_it_is_an_error(bench):
    bench.model(call("fail", {"how": "says so"}), text("Done."))

    run = await bench.run("Fail.", tools=[fail], allowed_tools=["fail"])

    assert result_of(run) == "no luck"
    assert run.of("tool_end")[0].is_error


def result_of(run, number: int = 0) -> str:
    block = msgspec.json.decode(run.of("tool_end")[number].block.raw)
    content = block["content"]
    return content if isinstance(content, str) else content[0]["text"]

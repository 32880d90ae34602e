"""Functions of the embedding program as hooks, by the names of events."""

import pytest

from everturn import HookInput, HookRuling, HookVerdict
from everturn.core.errors import OptionError
from everturn.core.state import Reason
from everturn.modelserver import call, text

TOUCH = {"command": "touch made.txt"}
ALL = {"permission_mode": "bypassPermissions"}


async def test_a_function_decides_about_a_call(bench):
    heard = []

    async def guard(event: HookInput) -> HookVerdict | None:
        heard.append((event.event, event["tool_name"], event["tool_input"], event["permission_mode"]))
        return HookVerdict(ruling=HookRuling.DENY, reason="not here")

    bench.model(call("Bash", TOUCH), text("Then not."))

    run = await bench.run(hooks={"PreToolUse": guard}, **ALL)

    assert heard == [("PreToolUse", "Bash", TOUCH, "bypassPermissions")]
    assert [denial.reason for denial in run.result.denials] == ["not here"]
    [ran] = run.of("hook")
    assert (ran.kind, ran.name, ran.source) == ("function", "function guard", "program")


async def test_functions_of_several_events_and_the_older_names_beside_each_other(bench):
    heard = []
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))

    await bench.run(
        hooks={
            "UserPromptSubmit": lambda event: HookVerdict(context=(f"said: {event['prompt']}",)),
            "PostToolUse": [lambda event: heard.append(event["tool_response"]), lambda _: "Look again."],
            "Stop": lambda event: heard.append(event["last_assistant_message"]),
            "stop": lambda turn: heard.append(turn.text),
        }
    )

    assert "said: Do it." in str(bench.sent[0])
    assert "Look again." in str(bench.sent[1])
    assert heard[0]["numFiles"] == 0
    assert sorted(heard[1:]) == ["Done.", "Done."]


def breaks(event):
    raise RuntimeError("out of order")


def misfits(event):
    return 42


@pytest.mark.parametrize("hook", [breaks, misfits])
async def test_trap_5_a_function_that_guards_a_call_fails_closed(bench, hook):
    bench.model(call("Bash", TOUCH), text("Then not."))

    run = await bench.run(hooks={"PreToolUse": hook}, **ALL)

    assert not (bench.folder / "made.txt").exists()
    assert hook.__name__ in run.result.denials[0].reason


@pytest.mark.parametrize("hook", [breaks, misfits])
async def test_trap_5_a_function_that_guards_prompts_fails_closed(bench, hook):
    bench.model(text("never"))

    run = await bench.run(hooks={"UserPromptSubmit": hook})

    assert run.reason is Reason.PROMPT_BLOCKED
    assert bench.requests == []


@pytest.mark.parametrize("event", ["PostToolUse", "Stop", "SessionStart", "PostToolBatch"])
async def test_elsewhere_a_function_that_fails_passes_and_is_shown(bench, event):
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))

    run = await bench.run(hooks={event: breaks})

    assert run.reason is Reason.COMPLETED
    assert "out of order" in str(run.of("notice"))


def test_an_event_that_does_not_come_yet_says_so(bench):
    with pytest.raises(OptionError, match="SubagentStop, which does not come yet"):
        bench.options(hooks={"SubagentStop": breaks})

"""The examples of docs/how-to/hooks.md do what the page says."""

import json
import re
import shlex
from pathlib import Path

import pytest
from tests.docs.blocks import take
from tests.scenarios.hooked import notices

from everturn import Ruling, Verdict
from everturn.core.state import Reason
from everturn.modelserver import call, text

PAGE = Path(__file__).parents[2] / "docs/how-to/hooks.md"
BLOCKS = take(lambda block: block.page == "docs/how-to/hooks.md" and "hookSpecificOutput" in block.text)


def example(heading: str) -> dict:
    section = PAGE.read_text("utf-8").partition(f"## {heading}\n")[2]
    found = re.search(r"```json\n(.*?)```", section, re.DOTALL)
    assert found is not None, heading
    return json.loads(found[1])["hooks"]


async def test_a_file_is_formatted_after_an_edit(bench, hooked):
    hooked.user(**example("Format a file after each edit"))
    bench.model(call("Write", {"file_path": "a.txt", "content": "one  \ntwo\t\n"}), text("Done."))

    await hooked.run(permission_mode="acceptEdits")

    assert (bench.folder / "a.txt").read_text() == "one\ntwo\n"


async def test_a_command_is_blocked(bench, hooked):
    hooked.user(**example("Block a command"))
    bench.model(call("Bash", {"command": "touch a && git push"}), call("Bash", {"command": "touch b"}), text("Done."))

    run = await hooked.run(permission_mode="bypassPermissions")

    assert [path.name for path in bench.folder.iterdir()] == ["b"]
    assert "Pushing is for people" in run.result.denials[0].reason


async def test_context_is_added_to_a_prompt(bench, hooked):
    hooked.user(**example("Add context to a prompt"))
    bench.model(text("Done."))

    await hooked.run()

    assert "The branch is unknown." in str(bench.sent[0])


async def test_the_linter_runs_at_stop(bench, hooked):
    hooked.user(**example("Run the linter when the model stops"))
    (bench.folder / "a.py").write_text("def f(:\n")
    bench.model(
        text("Done."),
        call("Bash", {"command": "echo 'def f(): ...' > a.py"}),
        text("Now it is."),
    )

    run = await hooked.run(permission_mode="bypassPermissions")

    assert run.transitions == ["stop_hook_blocking", "next_turn"]
    assert run.reason is Reason.COMPLETED


@pytest.mark.parametrize("heading", ["Ask a service, or a model"])
async def test_the_other_examples_are_well_formed(bench, hooked, heading):
    hooked.user(PreToolUse=example(heading)["PreToolUse"])
    bench.model(text("Done."))

    run = await hooked.run()

    assert notices(run) == ""


async def test_an_answer_in_json_asks_the_person(bench, hooked):
    [answer] = BLOCKS
    hooked.user(PreToolUse=[{"hooks": [{"type": "command", "command": f"echo {shlex.quote(answer.text.strip())}"}]}])
    bench.model(call("Bash", {"command": "ls"}), text("Done."))
    reasons = []

    def refuse(_, reason):
        reasons.append(reason)
        return Verdict(ruling=Ruling.DENY)

    await hooked.run(approver=refuse)

    [reason] = reasons
    assert "it touches production" in reason

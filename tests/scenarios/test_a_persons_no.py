"""A person's no: later calls of the same response that may change something are not run; those that only read are."""

import pytest

from everturn.modelserver import calls, text
from everturn.ports.policy import Ruling, Verdict


class Approver:
    """Refuses what is about a file with this name."""

    def __init__(self, refused):
        self.refused = refused
        self.asked = []

    async def approve(self, call, reason):
        self.asked.append(call.line)
        no = self.refused in call.line
        return Verdict(ruling=Ruling.DENY if no else Ruling.ALLOW, reason="not now" if no else "fine")


def write(name):
    return "Write", {"file_path": name, "content": "x"}


def said(bench, place=-1):
    return [block["content"] for block in bench.sent[place][-1]["content"] if block["type"] == "tool_result"]


NOT_RUN = (
    "<tool_use_error>The call was not run: the person said no to an earlier call of the same response.</tool_use_error>"
)


@pytest.mark.parametrize("streaming", [True, False])
async def test_it_stops_the_later_calls_that_write_and_no_others(bench, streaming):
    approver = Approver("b.txt")
    bench.model(
        calls(
            write("a.txt"),
            write("b.txt"),
            write("c.txt"),
            ("Glob", {"pattern": "*"}),
            ("Bash", {"command": "touch d.txt"}),
        ),
        calls(write("e.txt")),
        text("Done."),
    )

    run = await bench.run(approver=approver, streaming_tools=streaming)

    assert said(bench, 1) == [
        f"Created {bench.folder}/a.txt.",
        "<tool_use_error>Permission denied: not now.</tool_use_error>",
        NOT_RUN,
        "a.txt",
        NOT_RUN,
    ]
    assert approver.asked == ["Write a.txt", "Write b.txt", "Write e.txt"]
    assert [denial.tool_input["file_path"] for denial in run.result.denials] == ["b.txt"]
    assert sorted(path.name for path in bench.folder.iterdir()) == ["a.txt", "e.txt"]


async def test_a_no_of_rule_or_mode_stops_nobody(bench):
    bench.model(calls(write("b.txt"), write("c.txt")), text("Done."))

    await bench.run(permission_mode="acceptEdits", disallowed_tools=["Edit(./b.txt)"])

    assert [path.name for path in bench.folder.iterdir()] == ["c.txt"]

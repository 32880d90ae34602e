"""The session's scratch folder: `TMPDIR` for commands, written without a question, and never a way to anything else."""

import os
from pathlib import Path

import pytest

from everturn.modelserver import call, text
from everturn.ports.policy import Ruling, Verdict

HEREDOC = "cat > $TMPDIR/x.py <<'EOF'\nprint(6 * 7)\nEOF"
MODES = ["default", "acceptEdits", "dontAsk", "bypassPermissions"]
WALLS = [
    pytest.param("bubblewrap", marks=pytest.mark.needs("Landlock")),
    pytest.param("landlock", marks=pytest.mark.needs("bubblewrap")),
    "off",
]
"""Which of them the machine is taken not to have."""


class Approver:
    def __init__(self, ruling=Ruling.DENY):
        self.ruling, self.asked = ruling, []

    async def approve(self, call, reason):
        self.asked.append((call, reason))
        return Verdict(ruling=self.ruling, reason="the person said no")


def bash(command, **fields):
    return call("Bash", {"command": command, **fields})


def answers(bench, place=-1):
    return [block["content"] for block in bench.sent[place][-1]["content"] if block["type"] == "tool_result"]


def all_answers(bench):
    return [answer for at in range(1, len(bench.sent)) for answer in answers(bench, at)]


@pytest.fixture(autouse=True)
def temporary(bench, tmp_path, monkeypatch):
    """Where the system wants temporary files: short, and nobody else's."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    return place


def list_scratch(temporary):
    return sorted(temporary.glob("everturn-scratch-*"))


@pytest.mark.parametrize("without", WALLS)
@pytest.mark.parametrize("mode", MODES)
async def test_a_file_is_written_and_read_there_without_a_question(bench, mode, without):
    approver = Approver()
    bench.env["EVERTURN_HOLD_WITHOUT"] = without
    bench.model(bash(HEREDOC), bash("cat $TMPDIR/x.py"), bash('grep -c print "${TMPDIR}/x.py"'), text("Done."))

    await bench.run(permission_mode=mode, approver=approver)

    assert all_answers(bench) == ["(no output)", "print(6 * 7)", "1"]
    assert approver.asked == []


@pytest.mark.parametrize(
    "command",
    [
        "echo x | tee $TMPDIR/a",
        "cp a.txt $TMPDIR/b && cat $TMPDIR/b",
        "mkdir -p $TMPDIR/d/e && cp -r sub $TMPDIR/d && rm -r $TMPDIR/d/sub && rmdir $TMPDIR/d/e",
        "cd sub && cp b.txt $TMPDIR/ && wc -l $TMPDIR/b.txt",
        "for f in a.txt sub/b.txt; do grep -H x $f >> $TMPDIR/all; done; cat $TMPDIR/all",
        "set -o pipefail; cat a.txt | tee -a $TMPDIR/log | head -1; echo ${PIPESTATUS[0]}",
        "sort a.txt > ${TMPDIR}/sorted && diff a.txt ${TMPDIR}/sorted",
        'log="$TMPDIR/log"; echo ok; cat a.txt > $TMPDIR/log; cat "$log"',
        "cd $TMPDIR && echo hello > there && cat there",
    ],
)
@pytest.mark.parametrize("without", WALLS[:2])
async def test_small_commands_work_there_without_a_question(bench, command, without):
    (bench.folder / "sub").mkdir()
    (bench.folder / "a.txt").write_text("x\n")
    (bench.folder / "sub" / "b.txt").write_text("x\n")
    bench.env["EVERTURN_HOLD_WITHOUT"] = without
    approver = Approver()
    bench.model(bash(command), text("Done."))

    run = await bench.run(approver=approver)

    assert approver.asked == []
    assert [event.is_error for event in run.of("tool_end")] == [False], all_answers(bench)

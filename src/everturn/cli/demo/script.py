"""What the scripted model says: each answer belongs to a request that can be told by what it holds."""

import shlex

from everturn.cli.demo.repository import FAULTY, MENDED, python
from everturn.modelserver import Say, Script, calls, cut, overloaded, say, script, text, thinking, when

MODEL = "claude-sonnet-5"
PROMPT = "A test fails. Find the cause, mend it, and show that all tests pass."
RUN_TESTS = f"{shlex.quote(python())} -m unittest"

OUTPUT_CAP = 100
"""Tokens. Low on purpose: the answer that mends the bug is longer, so that the server cuts it in the middle of a call."""

CHUNK = 14
GAP_MS = 16.0
THINK_MS = 150.0
"""The pace: characters in a piece of the stream, the pause after it, and the time before an answer begins."""


def demo_script() -> Script:
    """The faults come with the first request of their kind; the request that follows them is answered."""
    return script(
        when(overloaded(), _paced(_start()), messages=1, last_user_contains=PROMPT),
        when(
            cut(_paced(_search()), after=14),
            _paced(_search()),
            messages=3,
            tool_result_of="Bash",
            tool_result_contains="FAILED",
        ),
        when(_paced(_mend()), messages=5, tool_result_of="Read", tool_result_contains="dates[-1]"),
        when(_paced(_check()), messages=7, tool_result_of="Edit", tool_result_contains="Edited"),
        when(_paced(_report()), messages=9, tool_result_of="Bash", tool_result_contains="OK"),
        _paced(_lost()),
        chunk=CHUNK,
    )


def _paced(answer: Say) -> Say:
    return say(*answer.blocks, delay_ms=THINK_MS, gap_ms=GAP_MS)


def _start() -> Say:
    return say("I let the tests tell me where to look.", calls(("Bash", {"command": RUN_TESTS})))


def _search() -> Say:
    return say(
        thinking("28 Mar where 31 Mar should be: February cut the day, and it stayed cut."),
        "Three pass, one fails: after February the plan stays on the 28th. Perhaps each date is counted "
        "from the one before. I look at the plan and at who adds months.",
        calls(
            ("Grep", {"pattern": r"add_months\(", "output_mode": "content"}),
            ("Read", {"file_path": "renewals/plan.py"}),
        ),
    )


def _mend() -> Say:
    return say(
        "That is it. `add_months` is right: 31 January and one month is 28 February. But `due_dates` goes on from "
        "there, so the 31 is forgotten. I count every date from the first one instead.",
        calls(("Edit", {"file_path": "renewals/plan.py", "old_string": FAULTY, "new_string": MENDED})),
    )


def _check() -> Say:
    return say("Now the tests again.", calls(("Bash", {"command": RUN_TESTS})))


def _report() -> Say:
    return text(
        "Mended: `due_dates` counted each date from the one before, so a short month cut all that followed. "
        "Now each is counted from the first. All four tests pass; nothing else was changed."
    )


def _lost() -> Say:
    return text("Something came that my script does not foresee, so I stop here and have not mended the bug.")

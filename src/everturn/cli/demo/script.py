"""What the scripted model says: each answer belongs to a request that can be told by what it holds."""

import shlex

from everturn.cli.demo.repository import FAULTY, HASTY, MENDED, python
from everturn.modelserver import Say, Script, calls, cut, overloaded, say, script, text, thinking, when

MODEL = "claude-sonnet-5"
PROMPT = "A test fails. Find the cause, mend it, and show that all tests pass."
GOAL = "All tests pass."
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
        when(_paced(_claim()), messages=7, tool_result_of="Edit", tool_result_contains="Edited"),
        when(_paced(_mend_again()), messages=9, last_user_contains="The goal is not met"),
        when(_paced(_report()), messages=11, tool_result_of="Edit", tool_result_contains="Edited"),
        _paced(_lost()),
        chunk=CHUNK,
    )


def _paced(answer: Say) -> Say:
    return say(*answer.blocks, delay_ms=THINK_MS, gap_ms=GAP_MS)


def _start() -> Say:
    return say("I run the tests first.", calls(("Bash", {"command": RUN_TESTS})))


def _search() -> Say:
    return say(
        thinking("28 Mar instead of 31 Mar: February shortens the day, and March keeps the short day."),
        "Three pass, one fails: after February the plan stays on the 28th. Perhaps each date is counted "
        "from the one before. I look at the plan and at the callers of `add_months`.",
        calls(
            ("Grep", {"pattern": r"add_months\(", "output_mode": "content"}),
            ("Read", {"file_path": "renewals/plan.py"}),
        ),
    )


def _mend() -> Say:
    return say(
        "Found it. `add_months` is right: 31 January plus one month is 28 February. But `due_dates` adds each month to "
        "the date before, so the 31 is lost. I count every date from the first one instead.",
        calls(("Edit", {"file_path": "renewals/plan.py", "old_string": FAULTY, "new_string": HASTY})),
    )


def _claim() -> Say:
    return text("Mended: each date is counted from the first one now. All tests should pass.")


def _mend_again() -> Say:
    wrong, right = HASTY.splitlines()[-1], MENDED.splitlines()[-1]
    return say(
        "I stopped too soon: the first date is 0 months after itself, not 1. I count from 0.",
        calls(("Edit", {"file_path": "renewals/plan.py", "old_string": wrong, "new_string": right})),
    )


def _report() -> Say:
    return text(
        "Mended: `due_dates` counted each date from the one before, so a short month shortened all later dates. "
        "Now each is counted from the first. Nothing else was changed."
    )


def _lost() -> Say:
    return text("My script has no answer to this request, so I stop here. The bug is not mended.")

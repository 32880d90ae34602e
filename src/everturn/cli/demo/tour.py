"""What the scripted model says in the interactive demo: scenes, one for each prompt, whatever its words are.

Words that fit a scene bring it forward; otherwise the next one in order follows that was not seen yet.
"""

import os
import re
import shlex
from collections.abc import Sequence

import msgspec

from everturn.cli.demo.repository import FAULTY, MENDED, python
from everturn.cli.demo.script import CHUNK, GAP_MS, THINK_MS
from everturn.modelserver import Ask, Say, Script, calls, say, script, text, thinking

RUN_TESTS = f"{shlex.quote(os.path.basename(python()))} -m unittest"  # noqa: PTH119 (a name of the path that we run from)
"""The interpreter's folder is on the demo's PATH."""


class TourScene(msgspec.Struct, frozen=True, kw_only=True):
    answers: tuple[Say, ...]
    """The first to the prompt, each other to the results of the calls before it."""
    otherwise: Say
    """Instead, where a call was not allowed or did not bring what it should."""
    expected: tuple[str, ...] = ()
    """What the results before each answer but the first must hold."""
    words: str = ""
    """A pattern of prompts that ask for it."""


class Tour:
    """The answers of a server, one after the other."""

    def __init__(self, scenes: Sequence[TourScene]) -> None:
        self._left = list(scenes)
        self._now = scenes[-1]
        self._at = 0

    def answer(self, ask: Ask) -> Say:
        if not ask.tools:
            return text(BESIDE)
        if results := ask.last_results:
            self._at += 1
            came = "\n".join(str(result.get("content")) for result in results)
            wanted = self._now.expected[self._at - 1 : self._at]
            if self._at >= len(self._now.answers) or not all(word in came for word in wanted):
                self._at = len(self._now.answers)
                return pace(self._now.otherwise)
        else:
            self._begin(ask.last_user_text)
        return pace(self._now.answers[self._at])

    def _begin(self, prompt: str) -> None:
        """The last scene stays."""
        fitting = [scene for scene in self._left[:-1] if scene.words and re.search(scene.words, prompt, re.IGNORECASE)]
        is_first = self._left[0] is GREETING
        self._now = self._left[0] if is_first or not fitting else fitting[0]
        self._at = 0
        if len(self._left) > 1:
            self._left.remove(self._now)


def tour_script() -> Script:
    return script(Tour(SCENES).answer, chunk=CHUNK)


def pace(answer: Say) -> Say:
    return say(*answer.blocks, delay_ms=THINK_MS, gap_ms=GAP_MS)


BESIDE = "I am a script and answer only in the conversation itself."
GREETING = TourScene(
    answers=(
        text(
            "Hello! I am **a script**, not a model: my words were written beforehand.\n"
            "Everything else is real: the requests, the tools, the files, the questions.\n\n"
            "You are in a small repository that says when a subscription falls due.\n"
            "One of its tests fails. Try these, in any order:\n\n"
            "1. `Why does a test fail?` — I read a file\n"
            "2. `Run the tests` — you are asked before a command runs\n"
            "3. `Mend it` — you see the change before it is made\n"
            "4. `Show me a table` — what Markdown looks like\n\n"
            "Whatever else you type, I go on with the next one. `/` lists the commands,\n"
            "`@` the files; Shift-Tab changes what needs your permission."
        ),
    ),
    otherwise=text("Hello!"),
)
READING = TourScene(
    words=r"\b(why|read|look|find|explain|cause|what)",
    answers=(
        say(
            thinking("After February the plan stays on the 28th. Perhaps each date is counted from the one before."),
            "I look at the plan, and at who uses `add_months`.",
            calls(
                ("Read", {"file_path": "renewals/plan.py"}),
                ("Grep", {"pattern": r"add_months\(", "output_mode": "content"}),
            ),
        ),
        text(
            "Found it, in `renewals/plan.py`:\n\n"
            "```python\n" + FAULTY.replace("    ", "", 1).replace("\n    ", "\n") + "```\n\n"
            "Each date is counted from **the one before**. After 31 January comes\n"
            "28 February, and the 31 is lost for all months that follow.\n\n"
            "Reading needed no permission: the file is in the folder you started in.\n"
            "Say `Run the tests` to see one fail."
        ),
    ),
    expected=("dates[-1]",),
    otherwise=text("That file is not as I know it, so I have nothing to say about it. Try: Run the tests"),
)
TESTING = TourScene(
    words=r"\b(test|run|check|fail)",
    answers=(
        say(
            "I run the tests. A command may do anything, so you are asked first.",
            calls(("Bash", {"command": RUN_TESTS})),
        ),
        text(
            "That is what they say; **Ctrl-O** shows all of the output.\n\n"
            "The other answers: *for this session* allows the same command until you leave,\n"
            "*always* writes a rule down, which `/permissions` shows.\n\n"
            "Say `Mend it`, and I propose a change."
        ),
    ),
    expected=("Ran 4 tests",),
    otherwise=text(
        "The tests did not run, and I was told why: that is how a *no* reaches a model.\n\n"
        "Say `Mend it`, and I propose a change."
    ),
)
MENDING = TourScene(
    words=r"\b(mend|fix|edit|change|repair|write|yes)",
    answers=(
        say(
            "I read the file once more: what was not read is not changed.",
            calls(("Read", {"file_path": "renewals/plan.py"})),
        ),
        say(
            "I count every date from the first one. You see the change before it is made.",
            calls(("Edit", {"file_path": "renewals/plan.py", "old_string": FAULTY, "new_string": MENDED})),
        ),
        say("And the tests again:", calls(("Bash", {"command": RUN_TESTS}))),
        text(
            "All four pass. `/diff` shows what was changed. After Shift-Tab (`acceptEdits`)\n"
            "changes of files would not be asked about.\n\n"
            "Say `Show me a table` for the last thing."
        ),
    ),
    expected=("", "plan.py", "OK"),
    otherwise=text(
        "I stop here, since the call brought something else than I need. A *no* may have\n"
        "a reason: where you type one, the model reads it.\n\n"
        "Say `Show me a table` for the last thing."
    ),
)
SHOWING = TourScene(
    words=r"\b(table|markdown|code|keys?|help)",
    answers=(
        text(
            "Answers are Markdown, and stay in your terminal's own scrollback.\n\n"
            "| Key | Does |\n|---|---|\n"
            "| `Esc` | interrupts me, in the middle of a sentence if you like |\n"
            "| `Enter` while I work | queues what you typed |\n"
            "| `Up` | earlier prompts; on an empty line, what is queued |\n"
            "| `Ctrl-R` | searches earlier prompts |\n"
            "| `Ctrl-O` | all of a result that was folded |\n\n"
            "Code is coloured line by line:\n\n"
            "```python\n"
            "from everturn import Engine\n\n"
            "async with Engine(max_budget_usd=0.50) as engine:\n"
            '    result = await engine.run("Why does a test fail?")\n'
            "    print(result.text, result.terminal_reason)\n"
            "```\n\n"
            "> The same engine runs in your own programs, and in CI with `everturn -p`."
        ),
    ),
    otherwise=text("That was all I had to show."),
)
FAREWELL = TourScene(
    answers=(
        text(
            "That was my whole script: from here on I only repeat myself. Nothing of this is kept.\n\n"
            "To work with a real model, leave with Ctrl-D twice, then:\n\n"
            "```sh\n"
            "export ANTHROPIC_API_KEY=sk-ant-…\n"
            "cd your-repository\n"
            "everturn\n"
            "```\n\n"
            "`everturn demo` (without `--interactive`) shows how the loop recovers from errors by itself."
        ),
    ),
    otherwise=text("That was my whole script."),
)
SCENES = (GREETING, READING, TESTING, MENDING, SHOWING, FAREWELL)

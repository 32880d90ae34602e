"""Text on a real pseudo-terminal: what stands on the screen in the end, and what never reaches it."""

import asyncio
import re
import time

import pytest
from tests.frontends.agents import PlayedAgent, finished
from tests.frontends.golden import snapshot
from tests.frontends.readers import colours_of, open_terminal, run_on_terminal, screen_of
from tests.tools.processes import until

from everturn.core.budget import Usage
from everturn.core.events import (
    BlockBegan,
    BlockFinished,
    CallBegan,
    CallEnded,
    CallProgressed,
    ModeSwitched,
    NotesChanged,
    Retracted,
    RetractionCause,
    TextDelta,
)
from everturn.core.messages import text_block
from everturn.core.notes import Notes, Todo, TodoStatus
from everturn.core.state import AbortCause, Reason
from everturn.modelserver import call, calls, cut, error, hold, overloaded, say, text, thinking

ANSWER = """\
# Done

It **works** now, see `a.txt`, and this sentence is long enough to be wrapped at the end of a row.

- first
- second

```python
print("hello")
```
"""


def steady(lines):
    """Without times, counts, prices and ports, which differ."""
    differs = {
        r"\$[\d.]+|\d[\d,]*(?= tokens| %| out)": "N",
        r"\d+(\.\d)? (ms|s)\b": "TIME",
        r"127\.0\.0\.1:\d+": "HOST",
    }
    text = "\n".join(lines)
    for pattern, word in differs.items():
        text = re.sub(pattern, word, text)
    return text.split("\n")


async def test_a_query_looks_like_this(bench):
    (bench.folder / "a.txt").write_text("hello\n")
    look = say(thinking("I look.\nThen I say."), "Reading **it**.", calls(("Read", {"file_path": "a.txt"})))
    run = calls(("Bash", {"command": "echo one; exit 3"}), ("Write", {"file_path": "b.txt", "content": "x"}))
    bench.model(overloaded(), look, cut("Half an answer that goes away"), run, text(ANSWER, chunk=7))

    code, written = await run_on_terminal(bench.engine(allowed_tools=["Bash"]))

    assert code == 0
    assert "\n".join(steady(screen_of(written))) == snapshot("screen.txt")
    assert colours_of(written) == {"1", "2", "31", "36"}


def shown(*texts, kind="text"):
    yield BlockBegan(message_id="m", index=0, kind=kind)
    for piece in texts:
        yield TextDelta(message_id="m", index=0, text=piece)


@pytest.mark.parametrize("columns", [80, 23])
async def test_what_is_taken_back_leaves_no_trace(columns):
    words = "Some **bold** words that fill more than one row of the terminal. 漢字漢字漢字\n\n```\n" + "c" * 50 + "\n"
    agent = PlayedAgent([*shown(words), Retracted(message_id="m", cause=RetractionCause.RETRY), finished(num_turns=0)])

    _, written = await run_on_terminal(agent, columns=columns)

    assert "words" in written
    assert "".join(screen_of(written, columns)) == ""


async def test_what_has_scrolled_away_is_marked_as_taken_back():
    agent = PlayedAgent([*shown("line\n" * 60), Retracted(message_id="m", cause=RetractionCause.FALLBACK), finished()])

    _, written = await run_on_terminal(agent, rows=10)

    assert "↶ taken back (fallback): the words above no longer count" in screen_of(written)


@pytest.mark.parametrize("term", ["xterm", "dumb"])
async def test_a_retraction_of_what_was_never_seen_is_not_mentioned_and_its_calls_are_forgotten(term):
    agent = PlayedAgent(
        [
            BlockBegan(message_id="m", index=0, kind="tool_use", name="Read"),
            CallBegan(tool_use_id="t", name="Read", line="Read a.txt"),
            Retracted(message_id="m", cause=RetractionCause.RETRY),
            finished(num_turns=0),
        ]
    )

    _, written = await run_on_terminal(agent, env={"TERM": term})

    assert screen_of(written) == [""]


async def test_a_message_that_was_kept_is_not_touched_by_a_later_retraction():
    agent = PlayedAgent(
        [
            *shown("Kept."),
            BlockFinished(message_id="m", index=0, block=text_block("Kept.")),
            BlockBegan(message_id="n", index=0, kind="text"),
            TextDelta(message_id="n", index=0, text="Gone."),
            Retracted(message_id="n", cause=RetractionCause.RETRY),
            finished(num_turns=0),
        ]
    )

    _, written = await run_on_terminal(agent)

    assert [line for line in screen_of(written) if line] == ["Kept."]


async def test_a_dumb_terminal_gets_no_control_sequence(bench):
    bench.model(cut("Half an answer"), text("It **works**."))

    _, written = await run_on_terminal(bench.engine(), env={"TERM": "dumb"})

    assert "\x1b" not in written
    assert "↶ taken back (retry)" in written
    assert "It **works**." in written


async def test_without_colours_the_marks_stay_and_the_cursor_still_moves(bench):
    bench.model(cut("Half an answer"), text("It **works**."))

    _, written = await run_on_terminal(bench.engine(), env={"TERM": "xterm", "NO_COLOR": "1"})

    assert colours_of(written) == set()
    assert "It **works**." in screen_of(written)
    assert "Half an answer" not in "\n".join(screen_of(written))


async def test_words_of_the_model_and_of_tools_cannot_command_the_terminal():
    evil = "\x1b[2J\x1b]0;owned\x07\x9b5A\rtext\x07"
    agent = PlayedAgent(
        [
            CallBegan(tool_use_id="t", name="Bash", line=f"Bash {evil}"),
            CallProgressed(tool_use_id="t", text=evil),
            CallEnded(tool_use_id="t", name="Bash", is_error=False, duration_s=0.012, line=evil),
            *shown(evil),
            finished(errors=(evil,)),
        ]
    )

    _, written = await run_on_terminal(agent)

    assert not re.search(r"\x1b\[2J|\x1b\]|\x07|\x9b|5A", written)
    assert "· Bash text  text  12 ms" in screen_of(written)


async def test_without_colours_prose_breaks_between_words_and_its_marks_stay(bench):
    prose = "# Title\n\nIt says **hello world** in a row of words.\n\n- one that goes on and on\n\n"
    code = "```\nlong_line_of_code(1, 2, 3, 4, 5)\n```\n"
    bench.model(text(prose + code, chunk=5))

    _, written = await run_on_terminal(bench.engine(), columns=24, env={"TERM": "xterm", "NO_COLOR": "1"})

    shown_rows = screen_of(written, 60)
    assert shown_rows[: shown_rows.index("", 10)] == [
        *("# Title", "", "It says **hello world**", "in a row of words.", ""),
        *("- one that goes on and", "  on", "", "```", "long_line_of_code(1, 2, 3, 4, 5)", "```"),
    ]


async def test_the_closing_line_is_whole_however_narrow_the_terminal():
    usage = Usage(input=10_392, output=156)
    _, written = await run_on_terminal(PlayedAgent([finished(usage=usage, num_turns=3, rounds=2)]), columns=30)

    closing = " ".join(screen_of(written, 30)).split("— ")[1]
    assert " ".join(closing.split()) == "2 rounds · 10,392 tokens in, 156 out · $0.2500 · 1.0 s"


@pytest.mark.parametrize("columns", [20, 40])
async def test_lines_of_tools_fit_a_narrow_terminal_and_keep_their_time(columns):
    agent = PlayedAgent(
        [
            CallBegan(tool_use_id="t", name="Read", line="Read src/a/very/long/path/to/some/file.py"),
            CallEnded(tool_use_id="t", name="Read", is_error=False, duration_s=1.5),
            CallEnded(tool_use_id="u", name="Read", is_error=False, duration_s=1.5, line="of no words " * 20),
            CallEnded(tool_use_id="v", name="Read", is_error=True, duration_s=1.5, line="of many words " * 20),
            finished(),
        ]
    )

    _, written = await run_on_terminal(agent, columns=columns)

    first, second, third = screen_of(written, columns)[:3]
    assert first.startswith("· Read src/")
    assert first.endswith("…  1.5 s")
    assert second.endswith("…  1.5 s")
    assert third.startswith("✗ Read: of ")
    assert third.endswith("…  1.5 s")
    assert max(map(len, (first, second, third))) < columns


async def test_a_slow_call_is_shown_while_it_runs_with_its_last_line(bench):
    command = "echo begun; until [ -e go ]; do sleep 0.01; done"
    bench.model(calls(("Bash", {"command": command})), text("Done."))
    terminal = open_terminal(columns=120)
    shown = re.compile(rf"\r\x1b\[2K\x1b\[2m[⠋-⠿] Bash {re.escape(command)}(  \d+\.\d s)?  begun\x1b\[0m")

    async with asyncio.TaskGroup() as group:
        running = group.create_task(
            run_on_terminal(bench.engine(permission_mode="bypassPermissions"), terminal=terminal)
        )
        await until(lambda: shown.search(terminal.so_far().decode(errors="replace")))
        (bench.folder / "go").touch()

    _, written = running.result()
    assert "begun\n" not in "\n".join(screen_of(written))


async def test_twenty_thousand_deltas_are_painted_in_few_strokes():
    pieces = ["word "] * 19_999 + ["last."]
    agent = PlayedAgent([*shown(*pieces), finished("".join(pieces))])
    began = time.process_time()

    _, written = await run_on_terminal(agent, columns=80)

    assert time.process_time() - began < 1.5
    assert " ".join(screen_of(written)).split()[:20_000] == "".join(pieces).split()


async def test_an_error_is_shown_once_and_ends_the_closing_line_with_its_reason(bench):
    bench.model(error(401))

    code, written = await run_on_terminal(bench.engine())

    screen = "\n".join(screen_of(written))
    assert code == 1
    assert screen.count("invalid x-api-key") == 1
    assert "— api_error · 1 round" in screen


async def test_an_abort_leaves_a_clean_line_and_the_code_of_an_interruption(bench):
    bench.model(hold(text("Hello there", chunk=5)))
    engine = bench.engine()

    class Aborting:
        """A terminal whose person presses Ctrl-C at the first words."""

        def __init__(self, agent):
            self._agent = agent

        def __getattr__(self, name):
            return getattr(self._agent, name)

        async def submit(self, prompt):
            async for event in self._agent.submit(prompt):
                yield event
                if isinstance(event, TextDelta):
                    self._agent.abort(AbortCause.USER)

    code, written = await run_on_terminal(Aborting(engine))

    assert code == 130
    assert screen_of(written)[0] == "Hello"
    *_, said, _, closing, _ = screen_of(written)
    assert said == "Interrupted. The session is kept: go on with --continue."
    assert closing.startswith("— aborted_streaming · 1 round")


async def test_the_list_of_tasks_stands_below_its_call_and_a_switch_of_mode_is_said():
    todos = tuple(Todo(content=f"Do {status}", status=status, active_form=f"Doing {status}") for status in TodoStatus)
    agent = PlayedAgent(
        [
            CallBegan(tool_use_id="t", name="TodoWrite", line="TodoWrite 1 of 3 done"),
            CallEnded(tool_use_id="t", name="TodoWrite", is_error=False, duration_s=0.001),
            NotesChanged(notes=Notes(todos=todos)),
            NotesChanged(notes=Notes(todos=todos, plan="x")),
            ModeSwitched(before="default", mode="plan"),
            finished(),
        ]
    )

    _, written = await run_on_terminal(agent)

    assert screen_of(written)[:5] == [
        "· TodoWrite 1 of 3 done  1 ms",
        "  ☐ Do pending",
        "  ▸ Doing in_progress",
        "  ☑ Do completed",
        "⇄ permission mode plan (before: default)",
    ]


async def test_what_helps_is_shown_whole_on_a_narrow_terminal(bench):
    bench.model(call("Bash", {"command": "npm run build -- --everything"}), text("Then not."))

    _, written = await run_on_terminal(bench.engine(), columns=40)

    shown = " ".join(line.strip() for line in screen_of(written, 40))
    assert "To allow it from the start: --allowed-tools 'Bash(npm run build *)'" in shown
    assert "nobody is here to approve it" in shown


async def test_without_a_network_the_way_out_is_shown_whole(bench):
    _, written = await run_on_terminal(bench.engine(base_url="http://127.0.0.1:9", max_retries=0), columns=40)

    shown = " ".join(line.strip() for line in screen_of(written, 40))
    assert "Check the network, a proxy (HTTPS_PROXY) and ANTHROPIC_BASE_URL; everturn doctor tries them." in shown


async def test_how_to_go_on_is_shown_whole_on_a_narrow_terminal():
    interrupted = finished("", subtype="error_during_execution", reason=Reason.ABORTED_STREAMING, num_turns=0)

    _, written = await run_on_terminal(PlayedAgent([interrupted]), columns=30)

    shown = " ".join(line.strip() for line in screen_of(written, 30))
    assert "Interrupted. The session is kept: go on with --continue." in shown

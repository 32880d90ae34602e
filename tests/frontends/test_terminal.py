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
    PermissionAsked,
    ResultEvent,
    Retracted,
    RetractionCause,
    TextDelta,
)
from everturn.core.messages import text_block
from everturn.core.notes import Notes, Todo, TodoStatus
from everturn.core.state import AbortCause, Reason
from everturn.frontends.ansi import Style
from everturn.frontends.asking.floor import Floor
from everturn.frontends.flow import width_of
from everturn.frontends.screen import Screen
from everturn.frontends.transcript.call_lines import render_failure
from everturn.frontends.transcript.endings import Endings
from everturn.frontends.transcript.page import Page
from everturn.frontends.transcript.waiting import Waiting
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
            CallEnded(
                tool_use_id="t", name="Bash", is_error=False, duration_s=0.012, line=evil, call_line=f"Bash {evil}"
            ),
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


LONG = "Read src/a/very/long/path/to/some/file.py"


@pytest.mark.parametrize("columns", [20, 40])
async def test_lines_of_tools_fit_a_narrow_terminal_and_keep_their_time(columns):
    agent = PlayedAgent(
        [
            CallBegan(tool_use_id="t", name="Read", line=LONG),
            CallEnded(tool_use_id="t", name="Read", is_error=False, duration_s=1.5, call_line=LONG),
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


async def test_on_a_narrow_terminal_the_reason_of_a_failure_stays_and_the_path_is_cut():
    why = "/home/anna/project/src/a/very/long/path/to/some/file.py does not exist."
    agent = PlayedAgent(
        [
            CallEnded(tool_use_id="t", name="Read", is_error=True, duration_s=0.002, line=why, call_line=LONG),
            finished(),
        ]
    )

    _, written = await run_on_terminal(agent, columns=40)

    assert screen_of(written, 40)[0] == "✗ Read …/file.py: does not exist.  2 ms"


@pytest.mark.parametrize(
    ("line", "reason", "columns", "shown"),
    [
        ("✗ Read a.py", "it is a folder", 40, "✗ Read a.py: it is a folder"),
        ("✗ Read src/a.py", "/home/src/a.py does not exist.", 80, "✗ Read src/a.py: does not exist."),
        ("✗ Read src/a.py", "src/b.py is not it", 80, "✗ Read src/a.py: src/b.py is not it"),
        ("✗ Edit src/long/a.py", "the text is not there", 36, "✗ Edit …/a.py: the text is not there"),
        ("✗ Bash rm -r /a/b/c/d", "exit 1", 20, "✗ Bash rm -…: exit 1"),
        ("✗ Bash " + "make " * 9, "word " * 9, 30, "✗ Bash ma…: word word word wo…"),
        ("✗ Bash", "", 30, "✗ Bash"),
    ],
)
def test_why_a_call_failed_is_kept_and_where_is_cut(line, reason, columns, shown):
    assert render_failure(line, reason, columns) == shown


@pytest.mark.parametrize("columns", [40, 80, 120])
async def test_a_long_command_pushes_neither_its_time_nor_its_output_off_the_line(columns):
    clock = Clock()
    waiting = Waiting(clock)
    waiting.begin_call("t", "Bash " + "make everything " * 20)
    waiting.begin_call("u", "Bash ls")
    clock.now = 75
    waiting.note_progress("t", "compiling a.c\n\x1b[32mcompi")
    waiting.note_progress("t", "ling the whole of everything there is.c\x1b[0")
    waiting.note_progress("t", "m")

    line = waiting.render(columns)

    assert width_of(line) == columns
    assert re.fullmatch(r"⠋ Bash m.*…  1 min 15 s  and 1 more  comp.*[…c]", line)


async def test_a_short_command_leaves_its_room_to_the_output():
    waiting = Waiting(Clock())
    waiting.begin_call("t", "Bash ls")
    waiting.note_progress("t", "a line of output that is long enough to need nearly all the room\n")

    assert waiting.render(60) == "⠋ Bash ls  a line of output that is long enough to need nearl…"[:59] + "…"


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


async def test_no_time_that_is_shown_includes_the_persons_thinking():
    clock = Clock()
    floor = Floor(clock)

    async def think():
        async with floor.taken("t"):
            clock.now += 600

    class Asking(PlayedAgent):
        async def submit(self, prompt):
            thinking = asyncio.create_task(think())
            await asyncio.sleep(0)
            async for event in super().submit(prompt):
                yield event
            await thinking

    asked = PermissionAsked(tool_use_id="t", name="Bash", reason="mode default")

    _, written = await run_on_terminal(Asking([asked, finished(duration_s=602.0)]), floor=floor)

    assert screen_of(written)[-2].endswith(" · 2.0 s")


async def test_a_table_is_drawn_when_it_is_complete_and_a_link_shows_where_it_leads(bench):
    rows = "| File | Why |\n|---|---|\n| `a.py` | see [the docs](https://a.example/docs) |\n\nDone.\n"
    bench.model(text(rows, chunk=3))

    _, written = await run_on_terminal(bench.engine())

    assert screen_of(written)[:5] == [
        "File │ Why",
        "─────┼──────────────────────────────────────",
        "a.py │ see the docs (https://a.example/docs)",
        "",
        "Done.",
    ]


async def test_a_sequence_for_the_terminal_that_comes_in_two_pieces_leaves_nothing_behind(bench):
    bench.model(
        text("It is \x1b[31mred\x1b[0m now, and \x1b]8;;https://a.example\x07this\x1b]8;;\x07 no link.", chunk=1)
    )

    _, written = await run_on_terminal(bench.engine())

    assert screen_of(written)[0] == "It is red now, and this no link."


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
    assert closing.startswith("— 1 round")


def test_the_time_of_a_question_is_left_out_of_its_own_query_only():
    written: list[str] = []
    screen = Screen(written.append, Style(colour=False), lambda: (80, 24))
    endings = Endings(Page(screen, elapsed=lambda: 0.0, asked_s=lambda: 8.0, frame_s=1.0))

    for seconds in (10.0, 3.0):
        endings.handlers[ResultEvent](finished(duration_s=seconds))

    figures = [line for line in "".join(written).splitlines() if "round" in line]
    assert [line.rpartition(" · ")[2] for line in figures] == ["2.0 s", "3.0 s"]


async def test_the_list_of_tasks_stands_below_its_call_and_a_switch_of_mode_is_said():
    todos = tuple(Todo(content=f"Do {status}", status=status, active_form=f"Doing {status}") for status in TodoStatus)
    agent = PlayedAgent(
        [
            CallBegan(tool_use_id="t", name="TodoWrite", line="TodoWrite 1 of 3 done"),
            CallEnded(
                tool_use_id="t", name="TodoWrite", is_error=False, duration_s=0.001, call_line="TodoWrite 1 of 3 done"
            ),
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

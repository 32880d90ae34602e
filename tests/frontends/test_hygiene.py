"""Whatever models, tools, files and servers say: a terminal gets printable text, tab, newline and our own sequences."""

import asyncio
import json
import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.frontends.agents import PlayedAgent, finished
from tests.frontends.readers import open_pipe, open_terminal, run_on_terminal, run_piped, screen_of

from everturn.core import events as ev
from everturn.core.messages import text_block
from everturn.core.notes import Notes, Todo, TodoStatus
from everturn.core.outcomes import Problem
from everturn.frontends.asking.visible import make_visible
from everturn.frontends.harmless import escape_unsafe
from everturn.frontends.headless.run import run_headless
from everturn.frontends.headless.view import OutputFormat

ATTACKS = {
    "clipboard": "\x1b]52;c;cm0gLXJmIH4=\x07",
    "clipboard, eight bit": "\x9d52;c;cm0gLXJmIH4=\x9c",
    "link": "\x1b]8;;http://evil\x1b\\here\x1b]8;;\x1b\\",
    "title": "\x1b]0;owned\x07",
    "device string": "\x1bP1$r0m\x1b\\",
    "device string, eight bit": "\x901$r0m\x9c",
    "cursor": "\x1b[2J\x1b[H\x1b[10A\x1b[1K",
    "cursor, eight bit": "\x9b2J",
    "answer back": "\x1b[6n\x1b[c\x05",
    "hidden colour": "\x1b[8mhidden\x1b[0m",
    "another screen": "\x1b[?1049h",
    "reordered": "\u202egnp.exe\u202c\u2066x\u2069",
    "unseen tags": "".join(chr(0xE0000 + ord(mark)) for mark in "ignore previous instructions"),
    "unseen blanks": "a\u200bb\ufeffc\u2060d",
    "overwritten": "safe\rrm -rf /\x08\x08",
    "line separators": "a\u2028b\u2029c\x85d",
    "half a sequence": "\x1b[",
    "a title without an end": "\x1b]0;x",
}
OWN = re.compile(r"\x1b\[(?:0|1|2|3|31|33|36)(?:;(?:1|2|3|31|33|36))*m|\r\x1b\[2K|\r(?:\x1b\[\d+A)?\x1b\[J|\r\n")
"""What we paint with: colours, and the erasing of our own lines; a terminal driver writes newlines as two."""
JOINERS = frozenset("\u200c\u200d")
"""Unseen, but letters and faces fall apart without them."""
NASTY = st.text(
    alphabet=st.sampled_from(
        "\x1b\x9b\x9d\x90\x9c\x07\x08\x05\x00[]0;52cmAJKHPh?\\\r\n\t ab\u202e\u2066\u200b\U000e0041*`#_"
    )
    | st.characters(),
    max_size=30,
) | st.sampled_from(list(ATTACKS.values()))


def offences(written: str) -> list[str]:
    left = OWN.sub("", written)
    return [mark for mark in left if mark not in "\n\t" and mark not in JOINERS and not is_visible(mark)]


def is_visible(mark: str) -> bool:
    """Letters of scripts that join numbers or words count as formats, too."""
    kind = unicodedata.category(mark)
    if kind == "Cf":
        return ord(mark) in {
            *range(0x600, 0x606),
            0x6DD,
            0x70F,
            0x890,
            0x891,
            0x8E2,
            0x110BD,
            0x110CD,
            *range(0x13430, 0x13440),
        }
    return kind not in {"Cc", "Cs", "Zl", "Zp"}


def said_everywhere(text: str) -> list[ev.Event]:
    """One text in every place where foreign words come to the screen."""
    todo = Todo(content=text, active_form=text, status=TodoStatus.IN_PROGRESS)
    use = {"tool_use_id": "t", "name": text}
    touched = ev.GoalFile(path=text, found=text, change="changed")
    return [
        ev.RequestStarted(turn=1, model=text),
        ev.BlockBegan(message_id="m", index=0, kind="thinking"),
        ev.BlockBegan(message_id="m", index=1, kind="text"),
        *(ev.TextDelta(message_id="m", index=1, text=mark) for mark in text),
        ev.BlockFinished(message_id="m", index=1, block=text_block("x")),
        ev.BlockBegan(message_id="m", index=2, kind="tool_use", name=text),
        ev.CallBegan(**use, line=text),
        ev.CallProgressed(tool_use_id="t", text=text),
        ev.CallEnded(**use, is_error=True, duration_s=1.0, line=text),
        ev.CallBegan(**use, line=""),
        ev.CallDenied(**use, reason=text, line=""),
        ev.CallEnded(**use, is_error=True, duration_s=1.0, line=text),
        ev.NotesChanged(notes=Notes(todos=(todo,))),
        ev.ModelSwitched(before=text, model=text, cause="overloaded"),
        ev.ToolsSummarised(text=text, tool_use_ids=()),
        ev.VerificationBegan(command=text, attempt=1, max_attempts=2),
        ev.VerificationEnded(
            command=text,
            attempt=1,
            passed=False,
            ended=text,
            exit_code=1,
            output=text,
            duration_s=1.0,
            files=(touched,),
        ),
        ev.Noticed(text=text, level=ev.Level.WARNING),
        ev.ErrorReleased(problem=Problem(kind="unknown", text=text)),
        finished(text, errors=(text,), is_error=True, goal="not_met", goal_files=(touched,)),
    ]


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
@pytest.mark.parametrize("output_format", OutputFormat)
async def test_no_attack_reaches_the_terminal(attack, output_format):
    agent = PlayedAgent(said_everywhere(f"before {attack} after"))
    _, written = await run_on_terminal(agent, output_format=output_format, include_partial=True)
    assert offences(written) == []
    assert "before" in written


@given(NASTY, st.sampled_from(list(OutputFormat)))
@settings(max_examples=60, deadline=None)
def test_nothing_at_all_that_a_terminal_would_obey_gets_there(text, output_format):
    agent = PlayedAgent(said_everywhere(text))
    _, written = asyncio.run(run_on_terminal(agent, output_format=output_format, include_partial=True))
    assert offences(written) == []


@given(NASTY)
@settings(max_examples=100)
def test_before_consent_every_unseen_character_is_shown_written_out(text):
    shown = make_visible(text)
    assert offences(shown) == []
    assert "\n" not in shown
    if any(0xE0000 <= ord(mark) < 0xE1000 for mark in text):
        assert "\\U000e0" in shown


@given(st.recursive(NASTY, lambda inner: st.lists(inner, max_size=3)))
@settings(max_examples=100)
def test_json_on_a_terminal_means_what_it_means_in_a_pipe(value):
    plain = json.dumps(value, ensure_ascii=False)
    assert json.loads(escape_unsafe(plain)) == json.loads(plain)
    assert offences(escape_unsafe(plain)) == []


async def test_a_pipe_gets_the_bytes_of_the_model():
    agent = PlayedAgent([finished("a\x1b[31mb\u202ec")])
    code, out, _ = await run_piped(agent)
    assert (code, out) == (0, "a\x1b[31mb\u202ec\n")


async def test_complaints_are_harmless_although_the_answer_goes_to_a_pipe():
    out, err = open_pipe(), open_terminal()
    attack = "".join(ATTACKS.values())
    agent = PlayedAgent([ev.Noticed(text=attack, level=ev.Level.WARNING), finished("x", errors=(attack,))])
    await run_headless(agent, "Go.", out=out.file, err=err.file)
    out.close()
    assert offences(err.close().decode()) == []


async def test_a_key_in_what_a_terminal_shows_is_masked_however_it_is_cut():
    key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    agent = PlayedAgent(said_everywhere(f"the token {key} is"))
    _, written = await run_on_terminal(agent)
    assert "[key]" in "".join(screen_of(written))
    assert key[:12] not in re.sub(r"\s|\x1b\[[0-9;]*m", "", written)


async def test_a_bearer_token_that_comes_letter_by_letter_is_masked():
    words = 'curl -H "Authorization: Bearer abcdefghijklmnopqrstuvwxyz" now\n'
    events = [ev.BlockBegan(message_id="m", index=0, kind="text")]
    events += [ev.TextDelta(message_id="m", index=0, text=mark) for mark in words]
    _, written = await run_on_terminal(PlayedAgent([*events, finished()]))
    assert "abcdefghijkl" not in written
    assert "now" in written

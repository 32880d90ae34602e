"""What we send to a terminal beside text: each in its form, harmless whatever it carries, and only where it is known."""

import re
from base64 import b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.frontends.terminal.sequences import find_unknown, parse_sequences

from everturn.frontends.terminal import reports
from everturn.frontends.terminal.inputs import AnswerKind, TerminalAnswer
from everturn.frontends.terminal.reports import (
    NotificationKind,
    ProgressState,
    TerminalChoices,
    TerminalFeatures,
    ask_terminal,
    begin_session,
    choose_features,
    copy,
    end_session,
    frame,
    is_light,
    link,
    name_terminal,
    notify,
    set_title,
    show_progress,
)

ALL = TerminalFeatures(
    control=True, synchronized=True, keyboard=True, links=True, clipboard=True, notifications=NotificationKind.OSC_9, progress=True, title=True
)  # fmt: skip
NONE = TerminalFeatures()
AUTO = TerminalChoices()
FRAMES = TerminalAnswer(AnswerKind.MODE, (2026, 2))
NO_FRAMES = TerminalAnswer(AnswerKind.MODE, (2026, 0))
KEYBOARD = TerminalAnswer(AnswerKind.KEYBOARD, (0,))
DEVICE = TerminalAnswer(AnswerKind.ATTRIBUTES, (62,))


@pytest.mark.parametrize(
    ("env", "name"),
    [
        ({"TERM": "xterm-ghostty"}, "ghostty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "iterm.app"),
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, "vte"),
        ({"TERM": "xterm-256color", "WT_SESSION": "x"}, "windows terminal"),
        ({"TERM": "xterm-256color", "XTERM_VERSION": "XTerm(390)"}, "xterm"),
        ({"TERM": "screen-256color", "TERM_PROGRAM": "iTerm.app"}, "screen"),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/x"}, "tmux"),
        ({"TERM": "linux"}, "linux"),
        ({"TERM": "xterm-256color"}, ""),
    ],
)
def test_a_terminal_is_named_by_its_environment(env, name):
    assert name_terminal(env) == name


def test_everything_is_asked_in_one_write_that_ends_with_what_every_terminal_answers():
    asked = ask_terminal({"TERM": "xterm-256color"})

    assert asked == "\x1b[?2026$p\x1b[?u\x1b]11;?\x1b\\\x1b[c"
    assert ask_terminal({"TERM": "linux"}) == "\x1b[c"
    assert ask_terminal({"TERM": "dumb"}) == ""
    assert ask_terminal({}) == ""


def test_what_a_terminal_answers_decides():
    env = {"TERM": "xterm-256color"}
    modern = choose_features(env, [FRAMES, KEYBOARD, DEVICE], AUTO)
    silent = choose_features(env, [], AUTO)

    assert (modern.synchronized, modern.keyboard, modern.links) == (True, True, True)
    assert (silent.synchronized, silent.keyboard, silent.links) == (False, False, False)
    assert not choose_features(env, (answer for answer in [NO_FRAMES, DEVICE]), AUTO).synchronized


def test_a_name_decides_where_nothing_can_be_asked():
    ghostty = choose_features({"TERM": "xterm-ghostty"}, [], AUTO)
    tmux = choose_features({"TERM": "tmux-256color"}, [FRAMES, KEYBOARD], AUTO)
    xterm = choose_features({"TERM": "xterm", "XTERM_VERSION": "XTerm(390)"}, [], AUTO)

    assert (ghostty.links, ghostty.progress, ghostty.notifications) == (True, True, NotificationKind.OSC_9)
    assert (tmux.links, tmux.progress, tmux.notifications) == (False, False, NotificationKind.BELL)
    assert xterm.modified_keys
    assert begin_session(xterm).endswith("\x1b[>4;1m")
    assert end_session(xterm).startswith("\x1b[>4m")


def test_settings_switch_off_and_on():
    off = TerminalChoices(
        title=False, notifications=False, progress=False, links=False, clipboard=False, keyboard=False
    )

    assert choose_features({"TERM": "xterm-ghostty"}, [KEYBOARD], off) == TerminalFeatures(control=True)
    assert choose_features({"TERM": "xterm"}, [], TerminalChoices(links=True)).links


def test_a_dumb_terminal_gets_nothing():
    dumb = choose_features({"TERM": "dumb"}, [FRAMES, KEYBOARD], TerminalChoices(links=True))

    assert dumb == NONE
    sent = [
        begin_session(dumb),
        end_session(dumb),
        copy(dumb, "x"),
        notify(dumb, "a", "b"),
        show_progress(dumb, ProgressState.RUNNING, 5),
        set_title(dumb, "a"),
    ]
    assert sent == [""] * len(sent)
    assert frame(dumb, "x") == link(dumb, "x", "https://a.b") == "x"


@pytest.mark.parametrize(
    ("answers", "env", "theme", "light"),
    [
        ([TerminalAnswer(AnswerKind.BACKGROUND, (255, 255, 255))], {}, "", True),
        ([TerminalAnswer(AnswerKind.BACKGROUND, (30, 30, 46))], {"COLORFGBG": "0;15"}, "", False),
        ([DEVICE], {"COLORFGBG": "0;15"}, "", True),
        ([], {"COLORFGBG": "15;0"}, "", False),
        ([], {}, "", False),
        ([], {}, "light", True),
        ([TerminalAnswer(AnswerKind.BACKGROUND, (255, 255, 255))], {}, "dark", False),
    ],
)
def test_light_or_dark(answers, env, theme, light):
    assert is_light(env, answers, TerminalChoices(theme=theme)) is light


def test_links_lead_to_the_web_and_to_files_only():
    assert link(ALL, "here", "https://a.b/c?d=e") == "\x1b]8;;https://a.b/c?d=e\x1b\\here\x1b]8;;\x1b\\"
    assert link(ALL, "f", "file:///a b/ü") == "\x1b]8;;file:///a%20b/%C3%BC\x1b\\f\x1b]8;;\x1b\\"
    for address in (
        "javascript:alert(1)",
        "ssh://a",
        "x-man-page://ls",
        "",
        "/etc/passwd",
        "https//a",
        f"https://{'a' * 3_000}",
    ):
        assert link(ALL, "here", address) == "here"
    assert link(ALL, "", "https://a.b") == ""


def test_a_notification_is_never_an_order_of_another_kind():
    assert notify(ALL, "Everturn", "A question waits") == "\x1b]9;Everturn: A question waits\x1b\\"
    assert notify(ALL, "4;1;50", "") == "\x1b]9;4,1,50\x1b\\"
    assert notify(ALL, "4", "") == "\x1b]9; 4\x1b\\"
    other = TerminalFeatures(control=True, notifications=NotificationKind.OSC_777)
    assert notify(other, "a;b", "c;d") == "\x1b]777;notify;a,b;c;d\x1b\\"
    assert notify(TerminalFeatures(notifications=NotificationKind.BELL), "a", "b") == "\x07"


def test_the_clipboard_takes_a_text_whole_or_not_at_all():
    (found,) = re.fullmatch("\x1b\\]52;c;([A-Za-z0-9+/=]*)\x1b\\\\", copy(ALL, "naïve\x1b]\n漢")).groups()
    assert b64decode(found).decode() == "naïve\x1b]\n漢"
    assert copy(ALL, "x" * reports.MAX_CLIPBOARD) != ""
    assert copy(ALL, "x" * (reports.MAX_CLIPBOARD + 1)) == ""


def test_progress_and_title():
    assert show_progress(ALL, ProgressState.RUNNING, 42) == "\x1b]9;4;1;42\x1b\\"
    assert show_progress(ALL, ProgressState.RUNNING, 420) == "\x1b]9;4;1;100\x1b\\"
    assert show_progress(ALL, ProgressState.NONE) == "\x1b]9;4;0;0\x1b\\"
    assert set_title(ALL, "a\x07\x1b]0;b\nc") == "\x1b]2;a]0;b c\x1b\\"


def test_what_is_begun_is_ended_the_other_way_round():
    assert begin_session(ALL) == "\x1b[22;2t\x1b[?2004h\x1b[?1004h\x1b[>5u"
    assert end_session(ALL) == "\x1b[<u\x1b[?1004l\x1b[?2004l\x1b[?25h\x1b]9;4;0;0\x1b\\\x1b[23;2t"
    assert frame(ALL, "x") == "\x1b[?2026hx\x1b[?2026l"
    assert frame(ALL, "") == ""


TEXT = st.text(st.sampled_from("a;4\x1b\x07\x9c\x9d\\]8\n ") | st.characters(), max_size=40)


@given(TEXT, TEXT)
def test_whatever_they_carry_they_are_one_known_sequence(text, more):
    for sent in (
        link(ALL, "x", f"https://{text}"),
        copy(ALL, text),
        notify(ALL, text, more),
        notify(TerminalFeatures(notifications=NotificationKind.OSC_777), text, more),
        set_title(ALL, text),
    ):
        raw = sent.encode("utf-8")
        assert find_unknown(parse_sequences(raw)) == []
        assert [each.kind for each in parse_sequences(raw)] in (["osc"], ["osc", "text", "osc"])


def test_all_that_is_sent_at_the_start_and_the_end_is_known():
    sent = ask_terminal({"TERM": "xterm"}) + begin_session(ALL) + frame(ALL, "x") + end_session(ALL)

    assert find_unknown(parse_sequences(sent.encode())) == []

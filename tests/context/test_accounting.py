"""How full the window is."""

from tests.context.transcripts import answer, note, prompt, situation

from everturn.context.accounting import estimate_messages, estimate_request, usable_window
from everturn.core.messages import Kind
from everturn.core.tokens import MEDIA_TOKENS

VIEW = (prompt("p", "x" * 300), answer("a", "y" * 300), prompt("q", "z" * 300))


def tokens(*messages):
    return sum(message.tokens for message in messages)


def test_without_a_meter_everything_is_estimated():
    assert estimate_request(VIEW, situation(fixed=1_000)) == 1_000 + tokens(*VIEW)


def test_with_a_meter_only_what_came_after_it_is_estimated():
    assert estimate_request(VIEW, situation(fixed=1_000, meter=(70_000, 2))) == 70_000 + tokens(VIEW[2])


def test_a_meter_that_shows_more_than_two_windows_is_ignored():
    assert estimate_request(VIEW, situation(window=1_000, meter=(2_000, 3))) == 2_000
    assert estimate_request(VIEW, situation(window=1_000, meter=(2_001, 3))) == tokens(*VIEW)


def test_a_meter_of_a_longer_view_is_ignored():
    assert estimate_request(VIEW, situation(meter=(70_000, 4))) == tokens(*VIEW)


def test_what_is_not_sent_costs_nothing_and_refused_media_next_to_nothing():
    shown = prompt("p", "look", picture=True)
    notice = note("n", Kind.NOTICE, "a long notice " * 100, blames=("p",))
    assert estimate_messages((shown,)) > MEDIA_TOKENS
    assert estimate_messages((shown, notice)) == shown.tokens - MEDIA_TOKENS


def test_reserved_output_is_never_more_than_the_model_gives():
    assert usable_window(situation(window=200_000, output_cap=8_192)) == 191_808
    assert usable_window(situation(window=200_000, output_cap=100_000)) == 136_000
    assert usable_window(situation(window=10, output_cap=100)) == 1

"""The cache's story as people read it: a line for each call, each break with its reason, and the sums by cause."""

from everturn.core.budget import Usage
from everturn.core.cache_ledger import CacheStory, ChargedCall
from everturn.core.records import CacheBroken
from everturn.frontends.ansi import Style
from everturn.frontends.cache_report import render_break, render_story

PLAIN = Style(colour=False)
COMPACT = CacheBroken(segment="messages", cause="compact", kept=13, tokens=14_200, usd=0.0489)
LOST = CacheBroken(segment="nothing", cause="unexplained", tokens=900, usd=0.0031)
PAGE = """\
Session s1: in 3 calls the cache gave 53.7 % of what was sent. 2 breaks made 15k tokens be paid for again, $0.0520 more than reading them.

round  for   read  written  uncached   share
1.1    main     -      20k         7   0.0 %
1.2    main   20k     1.2k         7  94.3 %
2.1    main  8.1k     3.0k         7  72.9 %  messages from no. 14 on: compact, 14k again, $0.0489
                                              unexplained, 900 again, $0.0031
total         28k      24k        21  53.7 %

cause        breaks  tokens     USD
compact           1     14k  0.0489
unexplained       1     900  0.0031
"""


def asked(query, turn, *breaks, **counters) -> ChargedCall:
    return ChargedCall(
        query=query, turn=turn, purpose="main", model="m", usage=Usage(input=7, **counters), breaks=breaks
    )


STORY = CacheStory(
    calls=(
        asked(1, 1, cache_write=20_000),
        asked(1, 2, cache_read=20_000, cache_write=1_200),
        asked(2, 1, COMPACT, LOST, cache_read=8_100, cache_write=3_000),
    )
)


def test_the_page():
    assert render_story("s1", STORY, width=120, style=PLAIN) == PAGE


def test_a_break_of_what_stands_before_the_messages_names_it():
    assert render_break(CacheBroken(segment="tools", cause="tools")) == "tools: tools"


def test_a_session_without_calls_says_so():
    assert render_story("s1", CacheStory(), width=80, style=PLAIN) == "Session s1 has sent nothing to a model yet.\n"


def test_a_narrow_terminal_cuts_the_reasons():
    lines = render_story("s1", STORY, width=70, style=PLAIN).splitlines()[1:]

    assert max(map(len, lines)) <= 70


def test_what_a_cause_says_cannot_paint_the_terminal():
    broken = CacheBroken(segment="messages", cause="\x1b[31mred")

    assert "\x1b" not in render_break(broken)

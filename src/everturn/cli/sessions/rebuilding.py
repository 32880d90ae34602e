"""`everturn sessions rebuild`: the index anew, from the files alone."""

import os

from everturn.cli.console import complain
from everturn.cli.sessions.display import say
from everturn.cli.sessions.words import SEE
from everturn.cli.usage import UsageError
from everturn.cli.words import Words
from everturn.compose.cli import program_home
from everturn.core.state import Exit
from everturn.frontends.figures import render_count
from everturn.sessions.index.index import SessionIndex


def run_rebuild(words: Words) -> int:
    if words.names:
        raise UsageError("rebuild takes no names", see=SEE)
    with SessionIndex(program_home(os.environ), tell=complain) as index:
        count = index.rebuild()
        for notice in index.notices:
            complain(notice)
    say(f"The index was made anew from {render_count(count, 'session')}.\n")
    return Exit.OK

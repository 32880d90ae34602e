"""The page of events is the code's own, and its example runs."""

import re
from pathlib import Path

from development.events_page import list_names, render_page
from tests.docs.blocks import take

import everturn
from everturn import Event
from everturn.modelserver import text

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "events.md"
BLOCKS = take(lambda block: block.page == "docs/reference/events.md")


def test_the_page_is_not_stale():
    assert PAGE.read_text("utf-8") == render_page(), "run: make pages"


def test_the_page_has_every_event_that_the_library_serves():
    served = {
        name
        for name in everturn.__all__
        if isinstance(value := getattr(everturn, name), type) and issubclass(value, Event)
    }
    assert {*list_names(), "Event", "ResultEvent"} == served


async def test_its_example_shows_an_answer(bench, capsys):
    [source] = re.findall(r"```python\n(.*?)```", render_page(), re.DOTALL)
    names = {}
    exec(compile(source, str(PAGE), "exec"), names)  # noqa: S102  the page is ours
    bench.model(text("Teal."))

    result = await names["show"](bench.engine(), "Which colour?")

    assert (result.text, capsys.readouterr().out) == ("Teal.", "Teal.")

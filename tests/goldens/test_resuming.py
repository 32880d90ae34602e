"""Recorded journals load and are gone on with: those with an open end take up their query, and send what was recorded."""

import re
from pathlib import Path

import pytest
from tests.goldens.catalogue import SCENARIOS
from tests.goldens.normalise import TOKEN, VERSION
from tests.goldens.recording import RECORDED, RESUMED, settle
from tests.goldens.stage import Stage
from tests.goldens.stories import ALL  # noqa: F401 (its modules add the scenarios)
from tests.goldens.stories.turns import OWN

from everturn import __version__
from everturn.core.events import ResultEvent
from everturn.core.state import Reason
from everturn.modelserver import ModelServer, text
from everturn.sessions.places import session_file
from everturn.sessions.session_files import load_session
from everturn.settings.setup import WrittenSettings

_ID = re.compile(rb'"type":"session","format":\d+,"session_id":"([^"]+)"')


def list_journals(scenario: str) -> list[Path]:
    return sorted((RECORDED / scenario).glob("journal*.jsonl"))


def place(stage: Stage, recorded: Path) -> Path:
    """The journal as if it had been written in this folder."""
    content = recorded.read_bytes().replace(TOKEN.encode(), stage.token.encode())
    content = content.replace(b'"version":"%b"' % VERSION.encode(), b'"version":"%b"' % __version__.encode())
    found = _ID.findall(content)
    file = session_file(stage.home, found[-1].decode(), stage.folder)
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return file


def name(path: Path) -> str:
    return path.parent.name if path.stem == "journal" else f"{path.parent.name}-{path.stem}"


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_every_journal_loads_whole_and_goes_on(scenario):
    for recorded in list_journals(scenario):
        async with ModelServer(clock=lambda: 0.0) as server:
            stage = Stage(server)
            try:
                await go_on(stage, recorded)
            finally:
                await stage.close()
                stage.remove()


UNASKED = WrittenSettings(defaults=("model", "permission_mode"))
"""The session keeps its own model and mode."""


async def go_on(stage: Stage, recorded: Path) -> None:
    file = place(stage, recorded)
    replay, warnings = load_session(file)
    assert warnings == ()
    stage.plays(text("Went on."), stage.summary())
    engine = stage.engine(resume=file.stem, written=UNASKED, **OWN)
    # Where a goal was not met, its command still fails.
    engine.clear_goal()
    told, is_open = engine.transcript, engine.is_unfinished
    assert told[: len(replay.messages)] == replay.messages
    *_, result = await (stage.go_on(engine) if is_open else stage.ask(engine, "And now?"))
    assert isinstance(result, ResultEvent)
    assert result.reason is Reason.COMPLETED
    assert result.text.endswith("Went on.")
    assert engine.transcript[: len(told)] == told
    await stage.close()
    if is_open:
        settle(RESUMED / name(recorded), stage.collect())
    else:
        assert not (RESUMED / name(recorded)).exists(), "it was recorded with an open end"


def test_every_recorded_open_end_has_its_journal():
    names = {path.name for path in RESUMED.iterdir()}
    assert len(names) >= 4
    assert names <= {name(recorded) for scenario in SCENARIOS for recorded in list_journals(scenario)}

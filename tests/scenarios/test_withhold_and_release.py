"""An error that recovery may mend is recorded and not shown; if nothing helps, it is shown once, right before the end."""

import pytest

from everturn.core.state import Reason
from everturn.modelserver import error, text, too_long, truncated

IMAGE_REFUSED = error(400, message="messages.0.content.0.image.source.base64: image exceeds 5 MB maximum")
IMAGE = {
    "type": "image",
    "source": {
        "type": "base64",
        "media_type": "image/png",
        "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    },
}
TROUBLES = {
    "too_long": (too_long(), "too_long"),
    "media": (IMAGE_REFUSED, "media_too_large"),
    "truncated": (truncated("Half of "), "max_output_tokens"),
}


def withheld(bench, engine):
    return [record["kind"] for record in bench.records(engine.session_id) if record["type"] == "withheld"]


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_what_was_mended_is_in_the_journal_and_in_no_event(bench, trouble):
    answer, kind = TROUBLES[trouble]
    bench.model(answer, text("it."), bench.summary())
    engine = bench.engine()

    run = await bench.go_on(engine, [{"type": "text", "text": "Look."}, IMAGE])

    assert run.reason is Reason.COMPLETED
    assert withheld(bench, engine) == [kind]
    assert run.of("error", "notice") == []
    assert (run.result.is_error, run.result.errors) == (False, ())


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_what_was_not_is_shown_once_directly_before_the_terminal(bench, trouble):
    answer, kind = TROUBLES[trouble]
    bench.model(answer, bench.summary())
    engine = bench.engine()

    run = await bench.go_on(engine, [{"type": "text", "text": "Look."}, IMAGE])

    [released] = run.of("error")
    assert released.problem.kind == kind
    assert run.kinds[-3:] == ["error", "terminal", "result"]
    assert run.of("terminal")[0].problem == released.problem
    assert run.result.errors == (released.problem.text,)
    assert set(withheld(bench, engine)) == {kind}

"""An approver that answers with something else than a verdict: a mistake in the caller's code, told to the caller."""

import pytest

from everturn.core.errors import ApproverError
from everturn.modelserver import calls, text
from everturn.sessions.session_files import load_session


class Wrong:
    def __init__(self, answer):
        self._answer = answer

    async def approve(self, call, reason):
        return self._answer


@pytest.mark.parametrize("answer", [True, False, None, "allow"])
async def test_it_fails_where_the_query_was_started_and_not_at_the_model(bench, answer):
    bench.model(calls(("Bash", {"command": "touch a"}), ("Bash", {"command": "touch b"})), text("Then not."))
    engine = bench.engine(approver=Wrong(answer))
    kinds = []

    async def consume():
        async for event in engine.submit("Go."):
            kinds.append(event.__struct_config__.tag)  # noqa: PERF401 (those before the exception stay)

    with pytest.raises(ApproverError) as caught:
        await consume()

    said = str(caught.value)
    assert said.startswith(f"approver: approve() returned {answer!r} for Bash; it must return a Verdict")
    assert len(bench.sent) == 1
    assert kinds.count("permission_request") == 1
    assert kinds[-2:] == ["terminal", "result"]
    assert list(bench.folder.iterdir()) == []
    await engine.aclose()
    replay, warnings = load_session(bench.session_file(engine.session_id))
    assert warnings == ()
    assert [block.view.is_error for block in replay.messages[-1].blocks] == [True, True]

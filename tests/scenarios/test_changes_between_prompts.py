"""What a program changes between two prompts: the model, its effort, and words that were queued and not read."""

import pytest

from everturn import BusyError
from everturn.modelserver import text


async def test_another_model_answers_from_the_next_prompt_on_and_after_a_resume(bench):
    bench.model(text("One."), text("Two."), text("Three."))
    engine = bench.engine()
    await bench.go_on(engine, "First.")

    engine.switch_model("claude-opus-5")
    await bench.go_on(engine, "Second.")
    await engine.aclose()
    await bench.go_on(bench.engine(resume=engine.session_id, model=None), "Third.")

    assert [request.body["model"] for request in bench.requests] == [
        "claude-sonnet-5",
        "claude-opus-5",
        "claude-opus-5",
    ]
    [switch] = [record for record in bench.records(engine.session_id) if record["type"] == "model"]
    assert (switch["before"], switch["model"], switch["cause"]) == ("claude-sonnet-5", "claude-opus-5", "person")


async def test_the_effort_is_that_of_the_next_prompt(bench):
    bench.model(text("One."), text("Two."))
    engine = bench.engine()
    await bench.go_on(engine, "First.")

    engine.effort = "low"
    await bench.go_on(engine, "Second.")

    assert [request.body.get("output_config", {}).get("effort") for request in bench.requests] == [None, "low"]


async def test_queued_words_that_were_not_read_are_taken_back_for_good(bench):
    bench.model(text("One."))
    engine = bench.engine()
    await bench.go_on(engine, "First.")
    kept, taken = engine.enqueue("Keep this."), engine.enqueue("Not this.")

    assert engine.withdraw(taken) == "Not this."
    assert engine.withdraw(taken) == ""
    assert [command.id for command in engine.queued] == [kept]
    await engine.aclose()
    assert [command.text for command in bench.engine(resume=engine.session_id).queued] == ["Keep this."]


async def test_nothing_of_it_is_changed_while_a_prompt_runs(bench):
    bench.model(text("One."))
    engine = bench.engine()
    refused = []

    def listen(event):
        if event.__struct_config__.tag == "request_start":
            for change in (lambda: engine.switch_model("claude-opus-5"), lambda: setattr(engine, "effort", "low")):
                with pytest.raises(BusyError):
                    change()
                refused.append(True)

    await bench.go_on(engine, "First.", on_event=listen)

    assert refused == [True, True]

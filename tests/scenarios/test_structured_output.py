"""The final answer must fit a schema: it is asked for again while it does not, a few times."""

import json

from everturn.core.state import Reason
from everturn.modelserver import call, text

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}},
    "required": ["answer"],
    "additionalProperties": False,
}


async def test_an_answer_that_fits_is_in_the_result(bench):
    bench.model(text('{"answer": 42}'))

    run = await bench.run(output_schema=SCHEMA)

    assert run.reason is Reason.COMPLETED
    assert run.result.structured_output == {"answer": 42}
    assert bench.bodies[0]["output_config"]["format"] == {"type": "json_schema", "schema": SCHEMA}


async def test_an_answer_that_does_not_fit_is_sent_back_with_what_is_wrong(bench):
    bench.model(text('{"answer": "many"}'), text('{"answer": 42}'))

    run = await bench.run(output_schema=SCHEMA)

    assert run.transitions == ["stop_hook_blocking"]
    assert run.result.structured_output == {"answer": 42}
    assert [event.step for event in run.of("stop_phase")] == ["structured_output"]
    [asked] = [block["text"] for block in bench.sent[-1][-1]["content"]]
    assert asked == (
        "<system-reminder>\nThe answer does not fit the required output schema: at answer: 'many' is not of type 'integer'\n"
        f"The schema is:\n{json.dumps(SCHEMA)}\nAnswer again with nothing but a JSON value that fits it.\n</system-reminder>"
    )


async def test_tool_rounds_need_not_fit(bench):
    bench.model(call("Glob", {"pattern": "*"}), text('{"answer": 42}'))

    run = await bench.run(output_schema=SCHEMA)

    assert run.transitions == ["next_turn"]


async def test_structured_output_retries_end_it(bench):
    bench.model(text("Forty-two."))

    run = await bench.run(output_schema=SCHEMA, limits={"structured_retries": 2})

    assert run.transitions == ["stop_hook_blocking"] * 2
    assert run.reason is Reason.STRUCTURED_OUTPUT_RETRIES
    assert run.result.subtype == "error_max_structured_output_retries"
    assert run.result.terminal_reason == "structured_output_retries"
    assert run.result.structured_output is None


async def test_each_prompt_has_all_retries(bench):
    bench.model(text("No."), text('{"answer": 1}'), text("No."), text('{"answer": 2}'))
    engine = bench.engine(output_schema=SCHEMA, limits={"structured_retries": 1})

    runs = [await bench.go_on(engine), await bench.go_on(engine)]

    assert [run.result.structured_output for run in runs] == [{"answer": 1}, {"answer": 2}]


async def test_an_answer_that_never_fits_is_no_success_however_often_it_was_sent_back(bench):
    bench.model(text("Forty-two."))

    run = await bench.run(output_schema=SCHEMA, limits={"structured_retries": 20, "stop_hook_blocks": 2})

    assert run.transitions == ["stop_hook_blocking"] * 2
    assert run.reason is Reason.STRUCTURED_OUTPUT_RETRIES
    assert run.result.is_error
    assert run.of("notice") == []


async def test_an_ordinary_schema_is_sent_as_the_api_takes_it_and_the_answer_is_judged_by_all_of_it(bench):
    counted = {"type": "object", "properties": {"answer": {"type": "integer", "minimum": 0}}, "required": ["answer"]}
    bench.model(text('{"answer": -1}'), text('{"answer": 42}'))

    run = await bench.run(output_schema=counted)

    assert run.result.structured_output == {"answer": 42}
    assert run.transitions == ["stop_hook_blocking"]
    assert bench.bodies[0]["output_config"]["format"]["schema"] == {
        "type": "object",
        "properties": {"answer": {"type": "integer", "description": "minimum: 0"}},
        "required": ["answer"],
        "additionalProperties": False,
    }


async def test_a_schema_that_the_api_has_no_terms_for_is_judged_here_alone(bench):
    ages = {"type": "object", "additionalProperties": {"type": "integer"}}
    bench.model(text('{"Ann": "three"}'), text('{"Ann": 3}'))

    run = await bench.run(output_schema=ages)

    assert run.result.structured_output == {"Ann": 3}
    assert "output_config" not in bench.bodies[0]

"""The model asks for tools, they run, the loop goes on."""

from everturn.core.state import Reason
from everturn.modelserver import calls, text


async def test_a_tool_round_goes_on_with_next_turn_and_its_result_reaches_the_model(bench):
    (bench.folder / "a.txt").write_text("alpha\n")
    bench.model(calls(("Read", {"file_path": str(bench.folder / "a.txt")})), text("It says alpha."))

    run = await bench.run("What does a.txt say?")

    assert run.transitions == ["next_turn"]
    assert run.reason is Reason.COMPLETED
    assert run.result.text == "It says alpha."
    assert run.result.num_turns == 2
    assert run.of("request_start")[-1].turn == 2
    [result] = bench.bodies[1]["messages"][-1]["content"]
    assert result["type"] == "tool_result"
    assert "alpha" in result["content"]

"""A thousand calls in one response: each has its result, in order, and the turn is not slow for it."""

import pytest
from tests.pace import measured

from everturn import tool
from everturn.core.state import Reason
from everturn.modelserver import calls, text

MANY = 1_000


@pytest.mark.parametrize("kinds", [("look",), ("change",), ("look", "look", "change", "missing")])
async def test_each_of_a_thousand_calls_has_its_result_in_order(bench, kinds):
    began = []

    @tool(reads_only=True)
    async def look(number: int) -> str:
        """Looks."""
        began.append(number)
        return f"saw {number}"

    @tool
    async def change(number: int) -> str:
        """Changes."""
        began.append(number)
        return f"changed {number}"

    names = [kinds[number % len(kinds)] for number in range(MANY)]
    bench.model(calls(*((name, {"number": number}) for number, name in enumerate(names))), text("Done."))

    with measured() as spent:
        run = await bench.run(
            tools=[look, change], allowed_tools=["look", "change"], limits={"max_repeated_calls": 0}, persist=False
        )

    said = {"look": "saw {}", "change": "changed {}", "missing": "There is no tool named missing."}
    results = [block["content"] for block in bench.sent[1][-1]["content"]]
    assert run.reason is Reason.COMPLETED
    assert len(results) == MANY
    assert all(
        said[name].format(number) in result for number, (name, result) in enumerate(zip(names, results, strict=True))
    )
    assert began == [number for number, name in enumerate(names) if name != "missing"]
    assert spent.seconds < 20

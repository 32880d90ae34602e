"""Two engines, one budget tree: a tool of the first runs the second, whose ledger is a child of the first's."""

import asyncio
from contextlib import aclosing

import pytest

from everturn import Engine, tool
from everturn.core.events import ResultEvent
from everturn.core.state import AbortCause, Reason
from everturn.modelserver import call, calls, hold, say, stall, text, when
from everturn.ports.ledger import Allowance
from everturn.ports.tool import ToolContext

PARENT, CHILD = "claude-sonnet-5", "claude-haiku-4-5"
PRICED = [{"id": PARENT, "prices": {"output": 10}}, {"id": CHILD, "prices": {"output": 10}}]
CENT = 1_000
"""Output tokens for one cent."""


def costs(answer, tokens):
    return say(answer, usage={"output_tokens": tokens, "input_tokens": 0})


def below(*answers, **settings):
    """What the second engine's model says."""
    return when(*answers, model=CHILD, **settings)


class Agents:
    """The tool `Delegate`, and every event of the engines that it ran."""

    def __init__(self, bench, allowance=None, **options):
        self.bench = bench
        self.allowance = allowance or Allowance()
        self.options = options
        self.parent: Engine | None = None
        self.children: list[Engine] = []
        self.events: list[list] = []
        self.tool = tool(name="Delegate", reads_only=True, concurrent=True)(self.delegate)

    async def delegate(self, task: str, context: ToolContext) -> str:
        """Lets somebody else do it."""
        ledger = self.parent.ledger.child(f"agent:{task}", self.allowance)
        options = self.bench.options(model=CHILD, models=PRICED, **self.options)
        events = []
        self.events.append(events)
        async with Engine(options, env=self.bench.env, ledger=ledger) as child:
            self.children.append(child)
            watch = asyncio.create_task(self.pass_on(context.abort, child))
            try:
                async with aclosing(child.submit(task)) as stream:
                    events += [event async for event in stream]
            finally:
                watch.cancel()
        return f"{task}: {events[-1].text or events[-1].reason}"

    @staticmethod
    async def pass_on(signal, child):
        await signal.wait()
        child.abort(AbortCause.PARENT)

    @property
    def results(self):
        """Exactly one of each child, its last event."""
        found = [[event for event in events if isinstance(event, ResultEvent)] for events in self.events]
        assert [len(results) for results in found] == [1] * len(found)
        assert all(events[-1] is results[0] for events, results in zip(self.events, found, strict=True))
        return [results[0] for results in found]

    async def run(self, **options):
        self.parent = self.bench.engine(
            models=PRICED, tools=[self.tool], permission_mode="bypassPermissions", **options
        )
        run = await self.bench.go_on(self.parent)
        assert run.kinds.count("result") == 1
        self.bench.assert_settled(self.parent)
        for child in self.children:
            self.bench.assert_settled(child)
        return run


async def test_what_the_child_spends_is_part_of_what_the_parent_spends(bench):
    bench.model(
        costs(call("Delegate", {"task": "look"}), CENT),
        costs(text("Done."), CENT),
        below(costs(call("Glob", {"pattern": "*"}), 2 * CENT), costs(text("Found."), 3 * CENT)),
    )
    agents = Agents(bench)

    run = await agents.run()

    assert run.reason is Reason.COMPLETED
    assert [result.total_usd for result in agents.results] == [0.05]
    assert run.result.total_usd == 0.07
    assert {model: spent.usd for model, spent in run.result.models.items()} == {PARENT: 0.02, CHILD: 0.05}
    assert [(usage.purpose, usage.usd, usage.turn) for usage in run.of("usage")] == [
        ("main", 0.01, 1),
        ("agent:look", 0.02, 1),
        ("agent:look", 0.03, 1),
        ("main", 0.01, 2),
    ]
    assert run.result.usage.output == 2 * CENT


async def test_the_cost_of_a_child_is_there_after_a_resume(bench):
    bench.model(costs(call("Delegate", {"task": "look"}), CENT), text("Done."), below(costs(text("Found."), 3 * CENT)))
    agents = Agents(bench)
    before = await agents.run()
    await agents.parent.aclose()

    resumed = bench.engine(models=PRICED, resume=agents.parent.session_id)

    assert resumed.total_usd == pytest.approx(before.result.total_usd, abs=1e-12)
    assert resumed.usage_by_model[CHILD].usd == pytest.approx(0.03)


async def test_a_limit_of_the_child_ends_the_child_and_the_parent_goes_on(bench):
    bench.model(
        call("Delegate", {"task": "look"}),
        text("Then without."),
        below(costs(call("Glob", {"pattern": "*"}), 2 * CENT)),
    )
    agents = Agents(bench, Allowance(usd=0.05))

    run = await agents.run(max_budget_usd=1)

    assert [result.reason for result in agents.results] == [Reason.MAX_BUDGET_USD]
    assert agents.results[0].total_usd == 0.06
    assert "0.05 USD" in agents.results[0].errors[0]
    assert run.reason is Reason.COMPLETED
    assert run.result.text == "Then without."


async def test_a_limit_of_the_parent_ends_both_each_with_one_result(bench):
    bench.model(call("Delegate", {"task": "look"}), below(costs(call("Glob", {"pattern": "*"}), 2 * CENT)))
    agents = Agents(bench)

    run = await agents.run(max_budget_usd=0.05)

    assert [result.reason for result in agents.results] == [Reason.MAX_BUDGET_USD]
    assert "the query that started agent:look" in agents.results[0].errors[0]
    assert run.reason is Reason.MAX_BUDGET_USD
    assert 0.06 <= run.result.total_usd < 0.07
    assert len([request for request in bench.requests if request.body["model"] == PARENT]) == 1


async def test_a_limit_of_the_parent_ends_an_answer_of_the_child_in_mid_stream(bench):
    endless = stall(say("word " * 24_000, usage={"input_tokens": 0}, chunk=500, verbatim=True), after=243)
    bench.model(call("Delegate", {"task": "look"}), below(endless))
    agents = Agents(bench)

    run = await agents.run(max_budget_usd=0.05)

    assert [result.reason for result in agents.results] == [Reason.MAX_BUDGET_USD]
    assert run.reason is Reason.MAX_BUDGET_USD
    assert run.result.total_usd == pytest.approx(sum(spent.usd for spent in run.result.models.values()))
    assert run.result.models[CHILD].usage.estimated_output > 5 * CENT


async def test_a_sibling_that_waits_for_its_model_is_ended_when_the_other_spends_the_last(bench):
    bench.model(
        calls(("Delegate", {"task": "wait"}), ("Delegate", {"task": "spend"})),
        when(hold(text("Too slow.")), model=CHILD, last_user_contains="wait"),
        when(costs(text("Dear."), 10 * CENT), model=CHILD, last_user_contains="spend"),
    )
    agents = Agents(bench)

    run = await agents.run(max_budget_usd=0.05)

    assert [result.reason for result in agents.results] == [Reason.MAX_BUDGET_USD] * 2
    assert run.reason is Reason.MAX_BUDGET_USD


async def test_two_children_share_what_the_parent_has_left(bench):
    bench.model(
        calls(("Delegate", {"task": "one"}), ("Delegate", {"task": "two"})),
        text("Done."),
        below(costs(call("Glob", {"pattern": "*"}), CENT)),
    )
    agents = Agents(bench, Allowance(usd=0.06))

    run = await agents.run(max_budget_usd=0.10)

    assert [result.reason for result in agents.results] == [Reason.MAX_BUDGET_USD] * 2
    assert sorted(result.total_usd for result in agents.results) == [0.04, 0.06]
    assert run.reason is Reason.MAX_BUDGET_USD


async def test_what_a_child_gave_back_is_there_for_the_next(bench):
    bench.model(
        call("Delegate", {"task": "one"}),
        call("Delegate", {"task": "two"}),
        text("Done."),
        below(costs(text("Cheap."), CENT)),
    )
    agents = Agents(bench, Allowance(usd=0.09))

    run = await agents.run(max_budget_usd=0.10)

    assert [result.reason for result in agents.results] == [Reason.COMPLETED] * 2
    assert run.reason is Reason.COMPLETED


@pytest.mark.parametrize(
    ("allowance", "reason"),
    [
        (Allowance(tokens=1_500), Reason.MAX_TOKENS_TOTAL),
        (Allowance(tool_calls=2), Reason.MAX_TOOL_CALLS),
        (Allowance(turns=2), Reason.MAX_TURNS),
    ],
)
async def test_each_kind_of_allowance_ends_the_child_with_its_own_reason(bench, allowance, reason):
    bench.model(call("Delegate", {"task": "look"}), text("Done."), below(costs(call("Glob", {"pattern": "*"}), CENT)))
    agents = Agents(bench, allowance)

    run = await agents.run()

    assert [result.reason for result in agents.results] == [reason]
    assert agents.results[0].errors != ()
    assert run.reason is Reason.COMPLETED


@pytest.mark.parametrize(
    ("allowance", "limits", "ended"),
    [
        (Allowance(wall_s=0.05), {}, Reason.COMPLETED),
        (Allowance(), {"max_wall_s": 0.3}, Reason.MAX_WALL_TIME),
    ],
)
async def test_a_child_that_hangs_is_ended_by_its_own_time_or_by_the_parents(bench, allowance, limits, ended):
    bench.model(call("Delegate", {"task": "look"}), text("Done."), below(hold(text("Too slow."))))
    agents = Agents(bench, allowance)

    run = await agents.run(**limits)

    assert [result.reason for result in agents.results] == [Reason.MAX_WALL_TIME]
    assert run.reason is ended


async def test_a_limit_of_the_whole_session_ends_a_later_prompt_before_it_costs_anything(bench):
    bench.model(costs(text("Dear."), 10 * CENT))
    engine = bench.engine(models=PRICED, limits={"max_session_usd": 0.1})
    first = await bench.go_on(engine)
    await engine.aclose()

    resumed = bench.engine(models=PRICED, limits={"max_session_usd": 0.1}, resume=engine.session_id)
    second = await bench.go_on(resumed)

    assert [first.reason, second.reason] == [Reason.MAX_BUDGET_USD, Reason.MAX_BUDGET_USD]
    assert len(bench.requests) == 1
    assert second.result.errors == ("Reached the limit of 0.1 USD: the session cost 0.1000 USD.",)

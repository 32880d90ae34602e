"""How long a call took: its own work, not the time in which a person was asked."""

from everturn import Engine
from everturn.core.events import CallEnded
from everturn.modelserver import calls, text
from everturn.ports.policy import Ruling, Verdict
from everturn.testing import FakeClock


class Slow:
    """Needs ten minutes for each answer, one after the other."""

    one_at_a_time = True

    def __init__(self, clock):
        self._clock = clock

    async def approve(self, call, reason):
        await self._clock.sleep(600)
        return Verdict(ruling=Ruling.ALLOW, reason="the person said yes")


async def test_a_call_takes_no_longer_because_somebody_thinks_about_it(bench):
    clock = FakeClock()
    bench.model(calls(*(("Bash", {"command": f"touch {name}"}) for name in "ab")), text("Done."))
    engine = Engine(bench.options(approver=Slow(clock)), env=bench.env, clock=clock)
    bench.engines.append(engine)

    run = await bench.go_on(engine)

    assert [event.duration_s for event in run.events if isinstance(event, CallEnded)] == [0.0, 0.0]
    assert run.events[-1].duration_s >= 1200

"""An engine that a person interrupts."""

from everturn.core.events import TextDelta
from everturn.core.state import AbortCause


class InterruptingEngine:
    """Interrupts at the first word."""

    def __init__(self, engine):
        self._engine = engine

    def __getattr__(self, name):
        return getattr(self._engine, name)

    async def submit(self, prompt):
        async for event in self._engine.submit(prompt):
            if isinstance(event, TextDelta):
                self._engine.abort(AbortCause.USER)
            yield event

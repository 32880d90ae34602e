"""All golden scenarios by name: a module in `stories` adds its scenarios when it is imported."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from tests.goldens.stage import Stage

Story = Callable[[Stage], Awaitable[None]]


class Scenario(NamedTuple):
    name: str
    story: Story
    needs: tuple[str, ...]
    """Programs that a machine may lack."""


SCENARIOS: dict[str, Scenario] = {}


def scenario(*needs: str) -> Callable[[Story], Story]:
    def add(story: Story) -> Story:
        name = story.__name__
        assert name not in SCENARIOS, f"two scenarios are named {name}"
        SCENARIOS[name] = Scenario(name, story, needs)
        return story

    return add

"""The values that the system prompt depends on besides the permission mode. None of them changes during a session."""

import msgspec

ASKING, PLANNING, LISTING = "AskUserQuestion", "ExitPlanMode", "TodoWrite"
"""Tools that the prompt names, where they are offered."""


class Briefing(msgspec.Struct, frozen=True, kw_only=True):
    person: bool
    """Somebody can approve calls and answer questions."""
    tools: frozenset[str]
    """Names of the tools that are offered."""
    rules: tuple[str, ...] = ()
    """What the user's settings allow at the start, as they wrote it."""

    @property
    def can_ask(self) -> bool:
        return self.person and ASKING in self.tools

    @property
    def can_submit_plan(self) -> bool:
        return self.person and PLANNING in self.tools

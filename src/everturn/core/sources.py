"""The source of a query (main loop, agent, summary, …), and what depends on it. Pure."""

from enum import StrEnum

import msgspec

from everturn.core.commands import MAIN


class SourceKind(StrEnum):
    MAIN = "main"
    """The program's own conversation."""
    SDK = "sdk"
    """A conversation of a program that embeds the engine."""
    AGENT = "agent"
    COMPACT = "compact"
    ASIDE = "aside"
    HOOK = "hook"


_MAIN = frozenset({SourceKind.MAIN, SourceKind.SDK})


class QuerySource(msgspec.Struct, frozen=True):
    kind: SourceKind = SourceKind.MAIN
    agent: str = ""
    """Name of the agent, for the kind `agent`."""

    def __str__(self) -> str:
        return f"{self.kind}:{self.agent}" if self.agent else str(self.kind)

    @property
    def is_main(self) -> bool:
        """A conversation with a person: side questions may continue it, a work budget sends it on, memory is made of it."""
        return self.kind in _MAIN

    @property
    def is_compaction(self) -> bool:
        """The query is a compaction: it is not compacted itself, nor stopped at the blocking limit."""
        return self.kind is SourceKind.COMPACT

    @property
    def writes_cache(self) -> bool:
        """Whether a request adds to the prompt cache. A side question only reads what the conversation left there."""
        return self.kind is not SourceKind.ASIDE

    @property
    def address(self) -> str:
        """Address for queued messages."""
        return MAIN if self.is_main else str(self)

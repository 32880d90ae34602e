"""The journal that needs no disk, under the roof where a test looks for it."""

from everturn.sessions.memory import MemoryJournal

__all__ = ["MemoryJournal"]

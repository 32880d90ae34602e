"""A simulated day: 1,000 turns of work against the model server's cache, under three ways to keep a window from filling."""

from bench.day.run import measure

__all__ = ["measure"]

"""Read: a file as the model can see it, and the memory of what it has seen."""

from everturn.tools.read.tool import read_tool

__all__ = ["read_tool"]

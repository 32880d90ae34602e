"""Edit: one exact replacement in a file that the model has seen."""

from everturn.tools.edit.tool import edit_tool

__all__ = ["edit_tool"]

"""Bash: one command in its own process group, its output bounded whatever it prints."""

from everturn.tools.bash.tool import bash_tool

__all__ = ["bash_tool"]

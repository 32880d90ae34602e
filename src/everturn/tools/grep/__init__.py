"""Grep: text in files, found by ripgrep where it is installed and by Python where it is not."""

from everturn.tools.grep.tool import grep_tool

__all__ = ["grep_tool"]

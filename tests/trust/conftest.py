"""The program in a folder that somebody else wrote."""

from tests.cli.conftest import program

__all__ = ["program"]

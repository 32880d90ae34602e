"""Everturn: an agentic coding loop to embed, to use and to run by the thousand."""

__version__ = "0.1.0"

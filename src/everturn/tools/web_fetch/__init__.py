"""WebFetch: a public page, as text, and what a small model finds in it."""

from everturn.tools.web_fetch.tool import web_fetch_tool

__all__ = ["web_fetch_tool"]

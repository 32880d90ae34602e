"""WebSearch: pages about something, found by a search engine that the user has chosen."""

from everturn.tools.web_search.tool import web_search_tool

__all__ = ["web_search_tool"]

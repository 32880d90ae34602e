"""The ToolSearch tool: `tool` is the tool itself, `ranking` says which tools fit a query."""

from everturn.tools.tool_search.tool import tool_search_tool as tool_search_tool

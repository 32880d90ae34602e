"""`everturn mcp`: which MCP servers are defined, and whether they work."""

"""The transit tools of the MCP server, one per file: they validate input, query networks and serialize answers."""

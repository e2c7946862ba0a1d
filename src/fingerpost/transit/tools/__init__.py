"""Transit tools of the MCP server, one file each: they validate input, query networks and serialize answers."""

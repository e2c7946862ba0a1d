"""Where things meet: settings, wiring, the MCP server, the command line, the library."""

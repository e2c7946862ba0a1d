"""The interfaces: MCP, the command line, Python."""

"""The faces: MCP, the command line, Python."""

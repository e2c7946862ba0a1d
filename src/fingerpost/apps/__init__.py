"""The application: its settings, wiring and interfaces (MCP server, command line, Python library)."""

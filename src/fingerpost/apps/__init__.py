"""The application: settings, composition, and its interfaces (MCP server, command line, Python library)."""

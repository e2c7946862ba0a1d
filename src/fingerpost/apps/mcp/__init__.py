"""The MCP face: the only place that knows the protocol."""

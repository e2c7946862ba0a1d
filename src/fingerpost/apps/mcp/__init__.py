"""The MCP interface; no other package imports the protocol."""

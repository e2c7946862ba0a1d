"""The MCP interface; no other package imports the MCP SDK."""

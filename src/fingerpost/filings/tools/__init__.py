"""MCP tools for SEC filings."""

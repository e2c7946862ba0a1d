"""Tests of the views that MCP Apps hosts show."""

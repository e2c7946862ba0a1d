"""Tests of the views that hosts of MCP Apps show."""

"""Shared code of the networks behind HTTP servers."""

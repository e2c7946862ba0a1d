"""Shared code of the networks that query HTTP servers."""

"""Compiled loops over the graph of streets."""

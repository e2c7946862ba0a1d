"""Resolve saved variables, stop ids, coordinates and names to places across all networks (rules B10, A13)."""

"""Resolve saved variables, stop ids, coordinates and names to places, over all networks (rules B10, A13)."""

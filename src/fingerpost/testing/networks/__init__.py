"""Conformance suite for public transport data sources; see ``suite.py``."""

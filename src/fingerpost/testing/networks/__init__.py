"""Conformance suite for sources of public transport; see ``suite.py``."""

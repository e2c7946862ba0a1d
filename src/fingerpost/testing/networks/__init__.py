"""Conformance suite for sources of public transport; begin at ``suite.py``."""

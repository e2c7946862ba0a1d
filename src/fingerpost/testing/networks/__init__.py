"""The conformance suite for networks: what every source of public transport is held to; begin at ``suite.py``."""

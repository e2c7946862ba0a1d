"""Conformance suite for engines (journals of plan runs), ``kill -9`` included."""

"""Conformance tests of engines (journals of plan runs), ``kill -9`` included."""

"""Checks that apply to every remote source, each with a row per source."""

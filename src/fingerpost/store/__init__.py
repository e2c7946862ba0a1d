"""Persistence: SQLite files, network records and atomic files."""

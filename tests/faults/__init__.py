"""Faults of the disk and of the process, at every step of every command that writes data."""

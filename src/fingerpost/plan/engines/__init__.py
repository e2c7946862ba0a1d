"""Engines for plan runs: journals, and the locks that let only one process execute a run."""

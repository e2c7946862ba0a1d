"""Engines for plan runs: journals, and the locks that let one process execute a run."""

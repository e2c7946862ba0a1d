"""Engines: journals of plan runs, and the locks on running them."""

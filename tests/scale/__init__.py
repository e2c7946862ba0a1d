"""A real PostgreSQL on this machine, for ``make test-scale``: installed, started, shared, cut off and restarted."""

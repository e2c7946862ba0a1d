"""A real local PostgreSQL for ``make test-scale``: installed, started, shared, disconnected and restarted."""

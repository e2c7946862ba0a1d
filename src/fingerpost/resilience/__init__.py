"""Retry policy and circuit breaker, shared by the HTTP client and by plans."""

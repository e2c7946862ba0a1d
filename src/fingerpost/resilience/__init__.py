"""Retry policy, circuit breaker, and fair shares of a process: what every layer above may need."""

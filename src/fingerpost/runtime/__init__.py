"""Threads, retries, circuit breakers and telemetry."""

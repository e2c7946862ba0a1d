"""Threads, retries and telemetry."""

"""Outgoing HTTP: one client with limits, rate limiting, retries and redaction; no other package sends requests."""

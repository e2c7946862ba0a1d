"""Traces and metrics of fingerpost through the OpenTelemetry API, which does nothing until an SDK is configured.

Names and attributes hold hosts, tools, networks and codes; never a key, a URL, a text, a position or a saved place.
"""
